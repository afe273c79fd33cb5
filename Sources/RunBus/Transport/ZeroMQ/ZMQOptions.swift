#if ZeroMQ
  import CZMQ

  /// The options of every socket, each with the reason for its number.
  enum ZMQOptions {
    /// The wire's own limit for a frame.
    static let frameBytesMax = TransportLimits.frameBytesMax
    /// The longest that a connecting side waits between two tries.
    static let reconnectMillisecondsMax: CInt = 2000

    /// What every control connection gets.
    static func applyControl(to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      try applyCommon(to: socket)
      // Frames of one connection that wait here, each way: several windows of resends, and 16 MiB at the very worst.
      try socket.set(ZMQ_SNDHWM, CInt(256))
      try socket.set(ZMQ_RCVHWM, CInt(256))
      // A goodbye or the last verdict still goes out when a node ends; a dead peer holds nobody up for longer.
      try socket.set(ZMQ_LINGER, CInt(200))
    }

    /// What every events connection gets.
    static func applyEvents(to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      try applyCommon(to: socket)
      // Snapshots and the feed are small, and a burst of presses makes dozens: as many as a node's own listeners may lag.
      try socket.set(ZMQ_SNDHWM, CInt(1024))
      try socket.set(ZMQ_RCVHWM, CInt(1024))
      // The next snapshot or pong makes up for one that is lost at the end.
      try socket.set(ZMQ_LINGER, CInt(0))
    }

    /// What every connecting side gets besides.
    static func applyConnecting(to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      // A route that answers at all answers within this; the system's own limit is minutes.
      try socket.set(ZMQ_CONNECT_TIMEOUT, CInt(3000))
      // Soon after a hub is back, and no storm while it is away.
      try socket.set(ZMQ_RECONNECT_IVL, CInt(100))
      try socket.set(ZMQ_RECONNECT_IVL_MAX, reconnectMillisecondsMax)
    }

    private static func applyCommon(to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      // A larger frame closes the connection before it is read into memory.
      try socket.set(ZMQ_MAXMSGSIZE, Int64(frameBytesMax))
      // A stranger that connects and says nothing is cut off; a slow machine still gets through.
      try socket.set(ZMQ_HANDSHAKE_IVL, CInt(5000))
      // Finds half-open connections. Each costs one wake-up of libzmq's thread and none of a loop's; nodes ping besides,
      // so this only has to be quicker than the system's hours.
      try socket.set(ZMQ_HEARTBEAT_IVL, CInt(10_000))
      try socket.set(ZMQ_HEARTBEAT_TIMEOUT, CInt(10_000))
      // The other side forgets this one after three missed heartbeats, whatever its own settings are.
      try socket.set(ZMQ_HEARTBEAT_TTL, CInt(30_000))
    }
  }
#endif
