#if ZeroMQ
  import CZMQ
  import Logging
  import RunCore
  import Synchronization

  /// Reaches a hub over ZeroMQ: DEALER for control, SUB for events.
  public struct ZeroMQConnector: PeerConnector {
    /// Where the hub listens for control: `ipc://PATH` or `tcp://HOST:PORT`.
    public var control: String

    /// A connector to an endpoint.
    public init(control: String) { self.control = control }

    /// Starts connecting.
    public func connect(
      on loop: Loop, deliver: @escaping (PeerTransportEvent) -> Void
    ) throws(RunBusError) -> any PeerTransport {
      do {
        return try ZeroMQPeer(self, on: loop, deliver: deliver)
      } catch {
        throw RunBusError(.transport, "cannot connect to \(control) (\(error)); is the address right?", cause: error)
      }
    }
  }

  final class ZeroMQPeer: PeerTransport {
    private struct WeakContext { weak var context: ZMQContext? }
    /// Peers of one process share a context, so that a thousand of them need no thousand threads; the last one ends it.
    private static let shared = Mutex(WeakContext())

    private var context: ZMQContext?
    private var dealer: ZMQSource?
    private var monitor: ZMQMonitor?
    private var subscriber: ZMQSource?
    private var subscription: (endpoint: String, topics: [Topic])?
    private unowned let loop: Loop
    private let deliver: (PeerTransportEvent) -> Void
    private let fail: (ZMQFailure) -> Void
    private let log = Logger(label: "runbus.zeromq")

    init(
      _ connector: ZeroMQConnector, on loop: Loop, deliver: @escaping (PeerTransportEvent) -> Void
    ) throws(ZMQFailure) {
      let context = try Self.sharedContext()
      let log = log
      let fail: (ZMQFailure) -> Void = { log.error("a socket failed: \($0)") }
      self.loop = loop
      self.deliver = deliver
      self.fail = fail
      let socket = try ZMQSocket(context, type: ZMQ_DEALER)
      try ZMQOptions.applyConnecting(to: socket)
      // Only a connection that stands takes frames: what waits for one belongs to the outbox, not to a socket.
      try socket.set(ZMQ_IMMEDIATE, CInt(1))
      let monitor = try ZMQMonitor(
        socket, in: context, on: loop,
        receive: { event in
          switch event {
          case .connected: deliver(.linkUp)
          case .disconnected: deliver(.linkDown(reason: "the hub closed the connection"))
          case .handshakeFailed: deliver(.linkDown(reason: "what listens there is no hub"))
          case .retried: break
          }
        }, fail: fail)
      do {
        try socket.connect(connector.control)
        dealer = try ZMQSource(
          socket, on: loop, partsMax: 1,
          receive: { parts in
            if parts.count == 1 { deliver(.frame(parts[0])) }
          }, fail: fail)
      } catch {
        monitor.close()
        throw error
      }
      self.monitor = monitor
      self.context = context
    }

    func send(_ bytes: [UInt8]) -> SendOutcome {
      switch dealer?.send([bytes]) {
      case .done: .sent
      case .notNow: .full
      case .unreachable, nil: .gone
      }
    }

    func subscribe(to endpoint: String, topics: [Topic]) {
      if let subscription, subscription.endpoint == endpoint, subscription.topics == topics { return }
      subscriber?.close()
      subscriber = nil
      subscription = nil
      guard let context else { return }
      do {
        let socket = try ZMQSocket(context, type: ZMQ_SUB)
        try ZMQOptions.applyConnecting(to: socket)
        for topic in topics { try socket.set(ZMQ_SUBSCRIBE, topic.rawValue) }
        try socket.connect(endpoint)
        let deliver = deliver
        subscriber = try ZMQSource(
          socket, on: loop, partsMax: 2,
          receive: { parts in
            guard parts.count == 2, let topic = Topic(rawValue: String(decoding: parts[0], as: UTF8.self)) else {
              return
            }
            deliver(.event(topic, parts[1]))
          }, fail: fail)
        subscription = (endpoint, topics)
      } catch {
        log.error("cannot subscribe at \(endpoint): \(error)")
      }
    }

    func close() {
      monitor?.close()
      dealer?.close()
      subscriber?.close()
      monitor = nil
      dealer = nil
      subscriber = nil
      subscription = nil
      context = nil
    }

    deinit { close() }

    private static func sharedContext() throws(ZMQFailure) -> ZMQContext {
      try shared.withLock { shared throws(ZMQFailure) in
        if let context = shared.context { return context }
        let context = try ZMQContext()
        shared.context = context
        return context
      }
    }
  }
#endif
