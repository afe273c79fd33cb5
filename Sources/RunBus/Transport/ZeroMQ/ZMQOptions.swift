#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import RunCore
  import SystemC

  /// The options of all sockets, each with the reason for its value.
  enum ZMQOptions {
    /// The protocol's limit for a frame.
    static let frameBytesMax = TransportLimits.frameBytesMax
    /// The longest pause between two attempts to connect.
    static let reconnectMillisecondsMax: CInt = 2000

    /// Sets the options of a control socket.
    static func applyControl(to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      try applyCommon(to: socket)
      // Queued frames for each connection and direction: several windows of resends, and 16 MiB at most.
      try socket.set(ZMQ_SNDHWM, CInt(256))
      try socket.set(ZMQ_RCVHWM, CInt(256))
      // Long enough for a goodbye or a last verdict when a node ends, short enough not to delay the end when a peer is
      // dead.
      try socket.set(ZMQ_LINGER, CInt(200))
    }

    /// Sets the options of an events socket.
    static func applyEvents(to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      try applyCommon(to: socket)
      // Snapshots and events are small, and a burst of presses makes dozens of them. The bound is that of the node's
      // own streams of events.
      try socket.set(ZMQ_SNDHWM, CInt(1024))
      try socket.set(ZMQ_RCVHWM, CInt(1024))
      // The next snapshot or pong replaces an event that is lost at the end.
      try socket.set(ZMQ_LINGER, CInt(0))
    }

    /// Lets a socket use IPv6 where its endpoint needs it: an address in brackets, or `*`, which then is all addresses of
    /// both kinds. libzmq writes IPv4 addresses in another way while it uses IPv6.
    static func applyFamily(of endpoint: String, to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      guard endpoint.hasPrefix("tcp://[") || endpoint.hasPrefix("tcp://*") else { return }
      try socket.set(ZMQ_IPV6, CInt(1))
    }

    /// Makes libzmq's heartbeats rare on a socket of this machine. The system tells at once when the program at the other
    /// end is gone, so they only find one that was stopped. A hub with a thousand local peers would use more processor
    /// time for two thousand connections' heartbeats than for all its pings: libzmq searches all of a thread's timers
    /// whenever one is cancelled.
    static func applyLocalHeartbeats(of endpoint: String, to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      guard endpoint.hasPrefix("ipc://") else { return }
      try applyHeartbeats(every: 60_000, to: socket)
    }

    /// - Parameter interval: Milliseconds from one heartbeat to the next; an answer has as long.
    private static func applyHeartbeats(
      every interval: CInt, to socket: borrowing ZMQSocket
    ) throws(ZMQFailure) {
      try socket.set(ZMQ_HEARTBEAT_IVL, interval)
      try socket.set(ZMQ_HEARTBEAT_TIMEOUT, interval)
      // The other side closes the connection after three missed heartbeats, whatever its own settings are.
      try socket.set(ZMQ_HEARTBEAT_TTL, 3 * interval)
    }

    /// `ZMQ_IPC_FILTER_UID`: deprecated in zmq.h, and without a replacement that needs no round trip.
    private static let ipcFilterUID: CInt = 59

    /// Makes a local socket that binds take connections of this user only, in addition to the mode of its directory: the
    /// filter also holds when the mode of the directory is changed later. Does nothing for TCP, and where libzmq cannot
    /// ask the system for the user of a connection.
    static func applyOwnUser(of endpoint: String, to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      guard endpoint.hasPrefix("ipc://") else { return }
      do {
        try socket.set(ipcFilterUID, CInt(bitPattern: geteuid()))
      } catch {
        guard error.code == EINVAL else { throw error }
      }
    }

    /// Sets the further options of a socket that connects.
    static func applyConnecting(to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      // A reachable hub accepts a connection within this time; the system's own limit is minutes.
      try socket.set(ZMQ_CONNECT_TIMEOUT, CInt(3000))
      // A peer is back soon after its hub, and causes little traffic while the hub is away.
      try socket.set(ZMQ_RECONNECT_IVL, CInt(100))
      try socket.set(ZMQ_RECONNECT_IVL_MAX, reconnectMillisecondsMax)
    }

    /// `ZMQ_ZAP_ENFORCE_DOMAIN`. zmq.h declares it for draft builds only; 4.3.4 and 4.3.5 carry it out in all builds.
    private static let zapEnforceDomain: CInt = 93

    /// Makes a socket that binds take connections with CURVE only, from keys that the domain lets in.
    ///
    /// - Throws: A failure when this libzmq does not enforce the check of keys: the socket must not bind then.
    static func applyServer(_ pair: KeyPair, domain: String, to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      try socket.set(ZMQ_CURVE_SERVER, CInt(1))
      try socket.set(ZMQ_CURVE_SECRETKEY, pair.secretKey)
      try socket.set(ZMQ_ZAP_DOMAIN, domain)
      // Without a handler no client gets in. By default every one would.
      try socket.set(zapEnforceDomain, CInt(1))
      guard try socket.number(zapEnforceDomain) == 1, try socket.number(ZMQ_CURVE_SERVER) == 1 else {
        throw ZMQFailure(call: "ZMQ_ZAP_ENFORCE_DOMAIN", code: ENOTSUP)
      }
    }

    /// Makes a socket that connects prove its key, to the holder of another key only.
    static func applyClient(
      _ pair: KeyPair, server: KeyFingerprint, to socket: borrowing ZMQSocket
    ) throws(ZMQFailure) {
      try socket.set(ZMQ_CURVE_SERVERKEY, server.bytes)
      try socket.set(ZMQ_CURVE_PUBLICKEY, pair.publicKey.bytes)
      try socket.set(ZMQ_CURVE_SECRETKEY, pair.secretKey)
    }

    private static func applyCommon(to socket: borrowing ZMQSocket) throws(ZMQFailure) {
      // A larger frame closes the connection before it is read into memory.
      try socket.set(ZMQ_MAXMSGSIZE, Int64(frameBytesMax))
      // Cuts off a client that connects and sends no handshake, and leaves a slow machine enough time.
      try socket.set(ZMQ_HANDSHAKE_IVL, CInt(5000))
      // Finds half-open connections. Each heartbeat wakes libzmq's thread only, never a loop. Nodes have pings of their
      // own, so this only has to be faster than TCP keep-alive.
      try applyHeartbeats(every: 10_000, to: socket)
    }
  }
#endif
