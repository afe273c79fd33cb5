#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import Synchronization

  /// An event of a socket's connections.
  enum ZMQConnectionEvent {
    /// A connection to the listener was accepted; `descriptor` is the number of its file descriptor.
    case accepted(descriptor: Int)
    /// The ZMTP handshake is done: frames can be sent.
    case connected
    case disconnected
    /// The other side does not speak ZMTP, or not with the same keys.
    case handshakeFailed
    /// The other side does not let this key in.
    case keyRefused
  }

  /// Reports the events of one socket's connections.
  final class ZMQMonitor {
    private static let count = Atomic<UInt64>(0)
    // Without CONNECT_RETRIED and similar events: they carry no news, and would wake a peer without a hub several times
    // a second.
    private static let events = CInt(
      ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
        | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
    private let source: SocketSource

    /// Monitors a socket of the same context. Call it before the socket binds or connects.
    init(
      _ socket: borrowing ZMQSocket, in context: ZMQContext, on loop: Loop,
      receive: @escaping (ZMQConnectionEvent) -> Void, fail: @escaping (ZMQFailure) -> Void
    ) throws(ZMQFailure) {
      let number = Self.count.add(1, ordering: .relaxed).newValue
      let endpoint = "inproc://runbus-monitor-\(number)"
      try socket.monitor(endpoint, events: Self.events)
      let pair = try ZMQSocket(context, type: ZMQ_PAIR)
      try pair.set(ZMQ_LINGER, CInt(0))
      try pair.connect(endpoint)
      source = try SocketSource(
        pair, on: loop, partsMax: 2,
        receive: { parts in
          if let event = Self.event(parts) { receive(event) }
        }, fail: fail)
    }

    func close() { source.close() }

    /// The first part contains the event's number in two bytes and its value in four, in native byte order.
    private static func event(_ parts: [[UInt8]]) -> ZMQConnectionEvent? {
      guard let head = parts.first, head.count >= 6 else { return nil }
      let number = head.withUnsafeBytes { CInt($0.loadUnaligned(as: UInt16.self)) }
      switch number {
      case CInt(ZMQ_EVENT_ACCEPTED):
        return .accepted(descriptor: head.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 2, as: Int32.self)) })
      case CInt(ZMQ_EVENT_HANDSHAKE_SUCCEEDED): return .connected
      case CInt(ZMQ_EVENT_DISCONNECTED): return .disconnected
      case CInt(ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL), CInt(ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL):
        return .handshakeFailed
      case CInt(ZMQ_EVENT_HANDSHAKE_FAILED_AUTH): return .keyRefused
      default: return nil
      }
    }
  }
#endif
