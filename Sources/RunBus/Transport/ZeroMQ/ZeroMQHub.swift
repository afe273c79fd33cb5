#if ZeroMQ
  import CZMQ
  import CoreMetrics
  import Logging
  import RunCore

  /// Opens a hub's sockets over ZeroMQ: ROUTER for control, XPUB for events.
  ///
  /// An ipc path that nobody answers at is taken over (libzmq does so silently): the caller holds the bus's lock.
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
    ///
    /// Throws ``RunBusError/Code/busHeld`` when somebody listens there, ``RunBusError/Code/transport`` otherwise.
    public func listen(
      on loop: Loop, deliver: @escaping (HubTransportEvent) -> Void
    ) throws(RunBusError) -> any HubTransport {
      for endpoint in [control, events] where SocketFile.isAlive(at: endpoint) {
        throw RunBusError(.busHeld, "\(endpoint) is taken: another hub or program listens there")
      }
      let limit = FileDescriptorBudget.limit
      guard limit >= FileDescriptorBudget.forHub else {
        throw RunBusError(
          .transport,
          "the hub cannot listen: this process may have \(limit) files open, \(FileDescriptorBudget.forHub) are the least for "
            + "a hub: raise the limit (ulimit -n)")
      }
      do {
        return try ZeroMQHub(self, on: loop, deliver: deliver)
      } catch {
        if error.code == EADDRINUSE {
          throw RunBusError(.busHeld, "\(error.endpoint ?? control) is taken: another hub or program listens there")
        }
        let why = error.shortage ?? "(\(error)): is the address right, and may you use it?"
        throw RunBusError(.transport, "the hub cannot listen: \(why)", cause: error)
      }
    }
  }

  final class ZeroMQHub: HubTransport {
    /// What is open; only used on the loop's thread.
    private struct Parts {
      let control: SocketSource
      let events: SocketSource
      let monitors: [ZMQMonitor]
      let files: [SocketFile]

      func close() {
        // A monitor closes after what it watches: see `ZMQSocket.close`.
        events.close()
        control.close()
        // The last socket ends the context, which waits for what lingers and for the listeners.
        monitors.forEach { $0.close() }
        files.forEach { $0.remove() }
      }
    }

    private(set) var controlEndpoint = ""
    private(set) var eventsEndpoint = ""
    private let loop: Loop
    private let deliver: (HubTransportEvent) -> Void
    private var parts: Parts?
    /// Opens again after everybody was cut off.
    private var reopening: LoopTimer?
    private var hasCutOff = false
    private let log = Logger(label: "runbus.zeromq")
    /// Large enough for [route][empty][body]; anything longer is no frame.
    private static let partsMax = 3
    private static let overflows = Counter(label: "runbus.zeromq.subscriber_overflows")
    private static let failedHandshakes = Counter(label: "runbus.zeromq.failed_handshakes")
    private static let cutOffs = Counter(label: "runbus.zeromq.cut_offs")

    init(
      _ listener: ZeroMQListener, on loop: Loop, deliver: @escaping (HubTransportEvent) -> Void
    ) throws(ZMQFailure) {
      self.loop = loop
      self.deliver = deliver
      try open(listener)
    }

    private func open(_ listener: ZeroMQListener) throws(ZMQFailure) {
      let log = log
      let fail: (ZMQFailure) -> Void = { log.error("a socket failed: \($0)") }
      // A context of its own: when it ends, the listeners are gone and their addresses can be bound anew.
      let context = try ZMQContext()
      let ceiling = FileDescriptorBudget.ceiling
      var opened: [() -> Void] = []
      do {
        let control = try ZMQSocket(context, type: ZMQ_ROUTER)
        try ZMQOptions.applyControl(to: control)
        // Without it an answer to somebody who is gone disappears in silence.
        try control.set(ZMQ_ROUTER_MANDATORY, CInt(1))
        let events = try ZMQSocket(context, type: ZMQ_XPUB)
        try ZMQOptions.applyEvents(to: events)
        // Only subscriptions come in here, and libzmq keeps each: topics are a letter, handshakes a line.
        try events.set(ZMQ_MAXMSGSIZE, Int64(512))
        // Every subscription surfaces, so that whoever subscribes late is shown the state.
        try events.set(ZMQ_XPUB_VERBOSE, CInt(1))
        // Says when a subscriber's queue is full instead of dropping in silence; `publish` then drops, and counts.
        try events.set(ZMQ_XPUB_NODROP, CInt(1))

        var monitors: [ZMQMonitor] = []
        let watch: (ZMQConnectionEvent) -> Void = { [weak self] event in
          switch event {
          case .accepted(let descriptor): if descriptor >= ceiling { self?.cutOff() }
          case .handshakeFailed:
            Self.failedHandshakes.increment()
            log.debug("somebody connected who does not speak ZMTP")
          case .connected, .disconnected: break
          }
        }
        monitors.append(try ZMQMonitor(control, in: context, on: loop, receive: watch, fail: fail))
        opened.append(monitors[0].close)
        monitors.append(try ZMQMonitor(events, in: context, on: loop, receive: watch, fail: fail))
        opened.append(monitors[1].close)

        try control.bind(listener.control)
        controlEndpoint = try control.lastEndpoint()
        var files = [SocketFile(boundTo: controlEndpoint)]
        opened.append { [files] in files.forEach { $0?.remove() } }
        try events.bind(listener.events)
        eventsEndpoint = try events.lastEndpoint()
        files.append(SocketFile(boundTo: eventsEndpoint))
        opened.append { [files] in files.forEach { $0?.remove() } }

        let router = try SocketSource(
          control, on: loop, partsMax: Self.partsMax, receive: Self.controlReceiver(log, deliver), fail: fail)
        opened.append(router.close)
        let publisher = try SocketSource(
          events, on: loop, partsMax: 1, receive: Self.eventsReceiver(log, deliver), fail: fail)
        parts = Parts(control: router, events: publisher, monitors: monitors, files: files.compactMap { $0 })
      } catch {
        opened.reversed().forEach { $0() }
        throw error
      }
    }

    /// So many connections that soon there would be no descriptor for the next, at which libzmq ends the process: all of
    /// them are cut. Nodes come back by themselves; whoever only held connections does not.
    private func cutOff() {
      guard let parts else { return }
      Self.cutOffs.increment()
      if !hasCutOff {
        log.error(
          """
          more than \(FileDescriptorBudget.ceiling) of the \(FileDescriptorBudget.limit) files that this process may have are open: \
          every connection is cut, and nodes come back by themselves; raise the limit (ulimit -n) for more of them. \
          Should it happen again, it is only counted
          """)
      }
      hasCutOff = true
      parts.close()
      self.parts = nil
      reopening = loop.makeTimer { [weak self] in self?.reopen() }
      reopening?.deadline = Loop.now + Self.pause
    }

    /// Long enough for what was cut to be closed, short for whoever waits.
    private static let pause = BusDuration.milliseconds(500)

    private func reopen() {
      do {
        reopening?.deadline = nil
        try open(ZeroMQListener(control: controlEndpoint, events: eventsEndpoint))
        reopening = nil
      } catch {
        log.error("the hub cannot listen again, and tries on: \(error)")
        reopening?.deadline = Loop.now + Self.pause
      }
    }

    private static func controlReceiver(
      _ log: Logger, _ deliver: @escaping (HubTransportEvent) -> Void
    ) -> ([[UInt8]]) -> Void {
      var garbage = MalformedFrameCounter(log: log)
      return { parts in
        switch parts.count {
        case 2 where !parts[1].isEmpty:
          deliver(.frame(ConnectionID(route: parts[0], isRequest: false), parts[1]))
        case 3 where parts[1].isEmpty && !parts[2].isEmpty:
          deliver(.frame(ConnectionID(route: parts[0], isRequest: true), parts[2]))
        default: garbage.count(from: parts[0], "a message of a shape that no node sends")
        }
      }
    }

    private static func eventsReceiver(
      _ log: Logger, _ deliver: @escaping (HubTransportEvent) -> Void
    ) -> ([[UInt8]]) -> Void {
      var garbage = MalformedFrameCounter(log: log)
      return { parts in
        // 1 and a topic: a subscription; 0 and a topic: the end of one. XPUB does not say whose.
        switch (parts.count, parts[0].first) {
        case (1, 1):
          // A subscription is to everything that begins with it; an empty one is to all.
          let text = String(decoding: parts[0].dropFirst(), as: UTF8.self)
          for topic in Topic.allCases where topic.rawValue.hasPrefix(text) { deliver(.subscribed(topic)) }
        case (1, 0): break
        default: garbage.count(from: [], "a message on the events socket that is no subscription")
        }
      }
    }

    func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome {
      guard let parts else { return .gone }
      guard bytes.count <= ZMQOptions.frameBytesMax else {
        log.error("a frame of \(bytes.count) bytes is too long to send")
        return .gone
      }
      return
        switch parts.control.send(
          connection.isRequest ? [connection.route, [], bytes] : [connection.route, bytes])
      {
      case .done: .sent
      case .notNow: .full
      case .unreachable: .gone
      }
    }

    func publish(_ bytes: [UInt8], on topic: Topic) {
      guard let events = parts?.events else { return }
      let message = [Array(topic.rawValue.utf8), bytes]
      guard case .notNow = events.send(message) else { return }
      // Somebody does not read: the others get it, the full ones lose it and what follows until they have read on, and a
      // pong heals them. So this counts how often a subscriber fell behind, not what it lost.
      Self.overflows.increment()
      events.set(ZMQ_XPUB_NODROP, 0)
      _ = events.send(message)
      events.set(ZMQ_XPUB_NODROP, 1)
    }

    func close() {
      reopening = nil
      parts?.close()
      parts = nil
    }

    deinit {
      guard let parts else { return }
      if loop.isCurrent { return parts.close() }
      // Unsafe only in name: this was the last one to know them.
      nonisolated(unsafe) let last = parts
      loop.submit { last.close() }
    }
  }
#endif
