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
    /// The way that is tried, or used; `nil` without keys.
    private var route: CurveRoute?
    /// How many ways were tried.
    private var tries = 0
    /// Turns to the next way when this one has led nowhere.
    private var turning: LoopTimer?

    init(
      _ connector: ZeroMQConnector, on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void
    ) throws(ZMQFailure) {
      log = Logger(label: "runbus.zeromq")
      self.loop = loop
      self.deliver = deliver
      self.connector = connector
      context = connector.ways == nil ? try Self.sharedContext() : try CurveContext.get().context
      route = connector.ways?.routes.first
      try open()
      guard case .known = connector.ways else { return }
      turning = loop.makeTimer { [weak self] in self?.turn() }
      turning?.deadline = loop.now + Self.patience
    }

    /// Long enough for an attempt to connect (``ZMQOptions``) and a handshake.
    private static let patience = BusDuration.milliseconds(3500)
    /// How soon the next way is tried after one was refused.
    private static let pause = BusDuration.milliseconds(250)

    /// Tries the next way to the hub.
    private func turn() {
      turning?.deadline = loop.now + Self.patience
      guard !parts.isUp, let routes = connector.ways?.routes, !routes.isEmpty else { return }
      tries += 1
      let next = routes[tries % routes.count]
      guard next.control != route?.control || next.hub != route?.hub || next.own.publicKey != route?.own.publicKey
      else {
        return
      }
      parts.close()
      route = next
      do { try open() } catch { log.error("cannot connect to \(next.control): \(error)") }
    }

    /// A way was refused: the next one is tried soon. libzmq tries the refused one again and again meanwhile.
    private func turnSoon() {
      guard let turning else { return }
      let soon = loop.now + Self.pause
      turning.deadline = min(turning.deadline ?? soon, soon)
    }

    /// A connection is made: what it has proved is kept.
    private func noteConnected() {
      turning?.deadline = nil
      guard case .known(let keyring) = connector.ways, let route else { return }
      do { try keyring.noteConnected(by: route) } catch { log.error("\(error)") }
    }

    private func open() throws(ZMQFailure) {
      guard let context else { return }
      let (log, deliver, parts) = (log, deliver, parts)
      let fail: (ZMQFailure) -> Void = { log.error("a socket failed: \($0)") }
      let hasKeys = route != nil
      let socket = try ZMQSocket(context, type: ZMQ_DEALER)
      try ZMQOptions.applyControl(to: socket)
      try ZMQOptions.applyConnecting(to: socket)
      if let route { try ZMQOptions.applyClient(route.own, server: route.hub, to: socket) }
      try ZMQOptions.applyFamily(of: route?.control ?? connector.control, to: socket)
      try ZMQOptions.applyLocalHeartbeats(of: route?.control ?? connector.control, to: socket)
      // Without ZMQ_IMMEDIATE: with it libzmq drops received messages that were not read when the connection ends, such
      // as the hub's goodbye. `isUp` keeps frames out of a socket without a connection. Frames that a lost connection
      // leaves in the queue belong to a session that is over.
      var garbage = MalformedFrameCounter(log: log)
      parts.control = try ReconnectingSocket(
        socket, to: route?.control ?? connector.control, in: context, on: loop, partsMax: 1,
        observe: { [weak self] event in
          switch event {
          case .accepted: break
          case .connected:
            parts.isUp = true
            self?.noteConnected()
            deliver(.linkUp)
          case .disconnected:
            // This also follows a failed handshake, which has been reported already.
            guard parts.isUp else { return }
            parts.isUp = false
            self?.turnLater()
            deliver(.linkDown(reason: "the hub closed the connection"))
          case .handshakeFailed:
            parts.isUp = false
            self?.turnSoon()
            deliver(.linkDown(reason: hasKeys ? ZeroMQCheck.otherKey : "what listens there is no hub"))
          case .keyRefused:
            parts.isUp = false
            self?.turnSoon()
            deliver(.linkDown(reason: ZeroMQCheck.keyRefused))
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

    /// A connection was lost: the same way has its time to lead to the hub again.
    private func turnLater() {
      if let turning { turning.deadline = loop.now + Self.patience }
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
      guard let endpoint = connector.eventsEndpoint(named: named, at: route?.control ?? connector.control) else {
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
        if let route { try ZMQOptions.applyClient(route.own, server: route.hub, to: socket) }
        try ZMQOptions.applyFamily(of: endpoint, to: socket)
        try ZMQOptions.applyLocalHeartbeats(of: endpoint, to: socket)
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
      turning = nil
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
