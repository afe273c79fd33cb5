#if ZeroMQ
  import CZMQ

  /// The options of every socket, each with the reason for its number (design section 11).
  enum ZMQOptions {
    /// What every connection gets.
    static func apply(to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      // Frames of a minute's burst; a peer that does not read loses frames, which resends and pongs heal.
      try socket.set(ZMQ_SNDHWM, CInt(1000))
      try socket.set(ZMQ_RCVHWM, CInt(1000))
      // A goodbye or the last verdict still goes out when a node ends; a dead peer holds nobody up for longer.
      try socket.set(ZMQ_LINGER, CInt(200))
      // The wire's own limit: a larger frame closes the connection before it is read into memory.
      try socket.set(ZMQ_MAXMSGSIZE, Int64(65_536))
      // A stranger that connects and says nothing is cut off.
      try socket.set(ZMQ_HANDSHAKE_IVL, CInt(5000))
      // Finds half-open connections, on libzmq's own thread: rarely enough to let a node rest.
      try socket.set(ZMQ_HEARTBEAT_IVL, CInt(10_000))
      try socket.set(ZMQ_HEARTBEAT_TIMEOUT, CInt(10_000))
      try socket.set(ZMQ_HEARTBEAT_TTL, CInt(30_000))
    }

    /// What every connecting side gets besides.
    static func applyConnecting(to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      try apply(to: socket)
      try socket.set(ZMQ_CONNECT_TIMEOUT, CInt(3000))
      // Soon after a hub is back, and no storm while it is away.
      try socket.set(ZMQ_RECONNECT_IVL, CInt(100))
      try socket.set(ZMQ_RECONNECT_IVL_MAX, CInt(2000))
    }
  }
#endif
