#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import Logging
  import RunCore
  import Synchronization

  final class ZeroMQPeer: PeerTransport {
    private struct WeakContext { weak var context: ZMQContext? }
    /// All peers of a process share a context, so that a thousand of them need one I/O thread. The last peer ends it.
    private static let shared = Mutex(WeakContext())

    /// The open sockets; used on the loop's thread only.
    private final class Parts {
      var control: ReconnectingSocket?
      var events: ReconnectingSocket?
      var subscription: (endpoint: String, topics: [Topic])?
      /// Whether the control connection is established.
      var isUp = false

      func close() {
        isUp = false
        events?.close()
        control?.close()
        events = nil
        control = nil
        subscription = nil
      }
    }

    private let loop: Loop
    private let connector: ZeroMQConnector
    private let parts = Parts()
    private var context: ZMQContext?
    private let deliver: @Sendable (PeerTransportEvent) -> Void
    private let log: Logger

    init(
      _ connector: ZeroMQConnector, on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void
    ) throws(ZMQFailure) {
      let log = Logger(label: "runbus.zeromq")
      self.log = log
      self.loop = loop
      self.deliver = deliver
      let fail: (ZMQFailure) -> Void = { log.error("a socket failed: \($0)") }
      let context = connector.keys == nil ? try Self.sharedContext() : try CurveContext.get().context
      self.context = context
      self.connector = connector
      let parts = parts
      let socket = try ZMQSocket(context, type: ZMQ_DEALER)
      try ZMQOptions.applyControl(to: socket)
      try ZMQOptions.applyConnecting(to: socket)
      if let keys = connector.keys { try ZMQOptions.applyClient(keys.own, server: keys.hub, to: socket) }
      // Without ZMQ_IMMEDIATE: with it libzmq drops received messages that were not read when the connection ends, such
      // as the hub's goodbye. `isUp` keeps frames out of a socket without a connection. Frames that a lost connection
      // leaves in the queue belong to a session that is over.
      var garbage = MalformedFrameCounter(log: log)
      parts.control = try ReconnectingSocket(
        socket, to: connector.control, in: context, on: loop, partsMax: 1,
        observe: { event in
          switch event {
          case .accepted: break
          case .connected:
            parts.isUp = true
            deliver(.linkUp)
          case .disconnected:
            // This also follows a failed handshake, which has been reported already.
            guard parts.isUp else { return }
            parts.isUp = false
            deliver(.linkDown(reason: "the hub closed the connection"))
          case .handshakeFailed:
            parts.isUp = false
            deliver(
              .linkDown(reason: "what listens there is no hub\(connector.keys == nil ? "" : " with the expected key")"))
          case .keyRefused:
            parts.isUp = false
            deliver(.linkDown(reason: "the hub does not let this key in"))
          }
        },
        receive: { message in
          if message.count == 1, !message[0].isEmpty {
            deliver(.frame(message[0]))
          } else {
            garbage.count(from: [], "a message of a shape that no hub sends")
          }
        }, fail: fail)
    }

    func send(_ bytes: [UInt8]) -> SendOutcome {
      guard parts.isUp, let control = parts.control else { return .gone }
      guard bytes.count <= ZMQOptions.frameBytesMax else {
        log.error("a frame of \(bytes.count) bytes is too long to send")
        return .gone
      }
      return switch control.send([bytes]) {
      case .done: .sent
      case .notNow: .full
      case .unreachable: .gone
      }
    }

    func subscribe(to named: String, topics: [Topic]) {
      guard let endpoint = connector.eventsEndpoint(named: named) else {
        return log.error("the hub names a place for events that this node does not connect to: \(named)")
      }
      if let present = parts.subscription, present.endpoint == endpoint, present.topics == topics { return }
      parts.events?.close()
      parts.events = nil
      parts.subscription = nil
      guard let context, parts.control != nil else { return }
      let (log, deliver) = (log, deliver)
      do {
        let socket = try ZMQSocket(context, type: ZMQ_SUB)
        try ZMQOptions.applyEvents(to: socket)
        try ZMQOptions.applyConnecting(to: socket)
        if let keys = connector.keys { try ZMQOptions.applyClient(keys.own, server: keys.hub, to: socket) }
        for topic in topics { try socket.set(ZMQ_SUBSCRIBE, topic.rawValue) }
        var garbage = MalformedFrameCounter(log: log)
        parts.events = try ReconnectingSocket(
          socket, to: endpoint, in: context, on: loop, partsMax: 2,
          receive: { message in
            if message.count == 2, let topic = Topic(rawValue: String(decoding: message[0], as: UTF8.self)) {
              deliver(.event(topic, message[1]))
            } else {
              garbage.count(from: [], "an event of a shape that no hub sends")
            }
          }, fail: { log.error("a socket failed: \($0)") })
        parts.subscription = (endpoint, topics)
      } catch {
        log.error("cannot subscribe at \(endpoint): \(error)")
      }
    }

    func close() {
      parts.close()
      context = nil
    }

    deinit {
      if loop.isCurrent { return parts.close() }
      // Safe: nothing else refers to the parts any more.
      nonisolated(unsafe) let last = parts
      loop.submit { last.close() }
    }

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
