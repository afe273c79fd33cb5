#if ZeroMQ
  import CZMQ
  import CoreMetrics
  import Logging
  import RunCore

  /// Opens a hub's sockets over ZeroMQ: ROUTER for control, XPUB for events.
  ///
  /// An ipc path is taken over from whoever holds it (libzmq does so silently): the caller holds the bus's lock.
  public struct ZeroMQListener: HubListener {
    /// Where to bind for control: `ipc://PATH`, `tcp://HOST:PORT`; port 0 or `*` takes any that is free.
    public var control: String
    /// Where to bind for events.
    public var events: String

    /// A listener on two endpoints.
    public init(control: String, events: String) {
      self.control = control
      self.events = events
    }

    /// Binds both sockets.
    public func listen(
      on loop: Loop, deliver: @escaping (HubTransportEvent) -> Void
    ) throws(RunBusError) -> any HubTransport {
      do {
        return try ZeroMQHub(self, on: loop, deliver: deliver)
      } catch {
        let isTaken = error.code == CZMQ.EADDRINUSE
        throw RunBusError(
          isTaken ? .busHeld : .transport,
          isTaken
            ? "\(control) is taken: another hub or program listens there"
            : "the hub cannot listen (\(error)); is the address right, and may you use it?", cause: error)
      }
    }
  }

  final class ZeroMQHub: HubTransport {
    /// Large enough for [route][empty][body]; anything longer is no frame.
    private static let partsMax = 3
    let controlEndpoint: String
    let eventsEndpoint: String
    // A context of its own: closing it waits until libzmq has removed its socket files, so that they can be bound anew.
    private var context: ZMQContext?
    private var router: ZMQSource?
    private var publisher: ZMQSource?
    private var monitor: ZMQMonitor?
    private let log = Logger(label: "runbus.zeromq")
    private static let garbage = Counter(label: "runbus.zeromq.garbage_messages")
    private static let drops = Counter(label: "runbus.zeromq.events_dropped")
    private static let failedHandshakes = Counter(label: "runbus.zeromq.failed_handshakes")

    init(
      _ listener: ZeroMQListener, on loop: Loop, deliver: @escaping (HubTransportEvent) -> Void
    ) throws(ZMQFailure) {
      let context = try ZMQContext()
      let log = log
      let fail: (ZMQFailure) -> Void = { log.error("a socket failed: \($0)") }

      let control = try ZMQSocket(context, type: ZMQ_ROUTER)
      try ZMQOptions.apply(to: control)
      // Without it an answer to somebody who is gone disappears in silence.
      try control.set(ZMQ_ROUTER_MANDATORY, CInt(1))
      let events = try ZMQSocket(context, type: ZMQ_XPUB)
      try ZMQOptions.apply(to: events)
      // Every subscription surfaces, so that whoever subscribes late is shown the state.
      try events.set(ZMQ_XPUB_VERBOSE, CInt(1))
      // Says when a subscriber's queue is full instead of dropping in silence; `publish` then drops, and counts.
      try events.set(ZMQ_XPUB_NODROP, CInt(1))

      let monitor = try ZMQMonitor(
        control, in: context, on: loop,
        receive: { event in
          switch event {
          case .handshakeFailed:
            Self.failedHandshakes.increment()
            log.debug("somebody connected who does not speak ZMTP")
          case .connected, .disconnected, .retried: break
          }
        }, fail: fail)
      do {
        try control.bind(listener.control)
        try events.bind(listener.events)
        controlEndpoint = try control.lastEndpoint()
        eventsEndpoint = try events.lastEndpoint()
        self.monitor = monitor
        self.context = context
        var complaints = 0
        router = try ZMQSource(
          control, on: loop, partsMax: Self.partsMax,
          receive: { parts in
            switch parts.count {
            case 2 where !parts[1].isEmpty:
              deliver(.frame(ConnectionID(route: parts[0], isRequest: false), parts[1]))
            case 3 where parts[1].isEmpty && !parts[2].isEmpty:
              deliver(.frame(ConnectionID(route: parts[0], isRequest: true), parts[2]))
            default:
              Self.garbage.increment()
              complaints += 1
              if complaints == 1 { log.warning("a peer sent \(parts.count - 1) parts; more of it is only counted") }
            }
          }, fail: fail)
        publisher = try ZMQSource(
          events, on: loop, partsMax: 1,
          receive: { parts in
            // 1 and the topic: a subscription.
            guard parts.count == 1, parts[0].first == 1 else { return }
            // An empty subscription is one to everything.
            let text = String(decoding: parts[0].dropFirst(), as: UTF8.self)
            for topic in Topic.allCases where topic.rawValue.hasPrefix(text) { deliver(.subscribed(topic)) }
          }, fail: fail)
      } catch {
        monitor.close()
        throw error
      }
    }

    func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome {
      guard let router else { return .gone }
      let parts = connection.isRequest ? [connection.route, [], bytes] : [connection.route, bytes]
      switch router.send(parts) {
      case .done: return .sent
      case .notNow: return .full
      case .unreachable: return .gone
      }
    }

    func publish(_ bytes: [UInt8], on topic: Topic) {
      guard let publisher else { return }
      let parts = [Array(topic.rawValue.utf8), bytes]
      guard case .notNow = publisher.send(parts) else { return }
      // Somebody does not read: the others get it, the full ones lose it, and a pong heals them.
      Self.drops.increment()
      publisher.set(ZMQ_XPUB_NODROP, 0)
      _ = publisher.send(parts)
      publisher.set(ZMQ_XPUB_NODROP, 1)
    }

    func close() {
      monitor?.close()
      router?.close()
      publisher?.close()
      monitor = nil
      router = nil
      publisher = nil
      context = nil
    }

    deinit { close() }
  }
#endif
