#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import CoreMetrics
  import Logging
  import RunCore
  import SystemC

  final class ZeroMQHub: KeyedTransport {
    /// The open sockets and files; used on the loop's thread only.
    private struct Parts {
      let control: SocketSource
      /// `nil` for a listener that publishes nothing.
      let events: SocketSource?
      let monitors: [ZMQMonitor]
      let files: [SocketFile]

      /// Drops what waits in the queues.
      func drop() {
        for socket in [control, events].compactMap({ $0 }) { socket.set(ZMQ_LINGER, 0) }
      }

      func close() {
        // A monitor's socket is closed after the socket that it monitors: see `ZMQSocket.close`.
        events?.close()
        control.close()
        // The last socket ends the context, which waits for lingering frames and closes the listeners.
        monitors.forEach { $0.close() }
        files.forEach { $0.remove() }
      }
    }

    private(set) var controlEndpoint = ""
    private(set) var eventsEndpoint = ""
    private let loop: Loop
    private let deliver: @Sendable (HubTransportEvent) -> Void
    private var listener: ZeroMQListener
    /// Names this listener's list of keys for the check of keys; `nil` without keys.
    private let domain: String?
    private var parts: Parts?
    /// Opens the sockets again after all connections were cut.
    private var reopening: LoopTimer?
    private var hasCutOff = false
    private var unfinished = UnfinishedMessages()
    /// Looks at unfinished messages, while there are connections over TCP.
    private var looking: LoopTimer?
    private let log = Logger(label: "runbus.zeromq")
    /// Enough for [route][empty][body]; a longer message is no frame.
    private static let partsMax = 3
    private static let overflows = Counter(.overflows)
    private static let failedHandshakes = Counter(.failedHandshakes)
    private static let cutOffs = Counter(.cutOffs)
    private static let unfinishedMessages = Counter(.unfinishedMessages)

    init(
      _ listener: ZeroMQListener, on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
    ) throws(ZMQFailure) {
      self.loop = loop
      self.deliver = deliver
      self.listener = listener
      domain = try listener.keys.map { keys throws(ZMQFailure) in try CurveContext.get().handler.open(keys.admitted) }
      do {
        try openPatiently(listener)
      } catch {
        closeDomain()
        throw error
      }
    }

    /// Opens the sockets. An address that a hub with keys, or of a group of loops, has just left is free a moment later,
    /// because the context goes on; the loop waits at most 0.2 s for it.
    private func openPatiently(_ listener: ZeroMQListener) throws(ZMQFailure) {
      for _ in 0..<100 where listener.keys != nil || loop.share != nil {
        do {
          return try open(listener)
        } catch  where error.code == EADDRINUSE {
          usleep(2000)
        }
      }
      try open(listener)
    }

    private func closeDomain() {
      guard let domain else { return }
      // The context exists: this transport has opened the domain in it.
      try? CurveContext.get().handler.close(domain)
    }

    /// What the transport knows of the sender of a message; `nil` when a message has no identity that it must have.
    private static func identification(_ listener: ZeroMQListener) -> (ZMQMessage) -> ConnectionIdentity? {
      // Read from each message: a key is what the connection of that message has proved.
      if listener.keys != nil {
        return { message in
          // A client can state metadata of its own, but no key.
          switch message.origin.userID.flatMap({ ConnectionIdentity($0) }) {
          case .key(let key): .key(key)
          case .candidate(let key): .candidate(key)
          case .localOwner, .link, .anyone, nil: nil
          }
        }
      }
      let identity: ConnectionIdentity = listener.control.hasPrefix("ipc://") ? .localOwner : .anyone
      return { _ in identity }
    }

    /// With a context of its own, the listeners are gone when the sockets are closed, and their addresses can be bound
    /// again. Sockets with keys share one, and so do the hubs of a group of loops; ``reopen()`` waits until their addresses
    /// are free.
    private func context(for listener: ZeroMQListener) throws(ZMQFailure) -> ZMQContext {
      if listener.keys != nil { return try CurveContext.get().context }
      guard let shared = loop.share?.groupThings else { return try ZMQContext() }
      return try shared.get { () throws(ZMQFailure) in try ZMQContext() }
    }

    private func open(_ listener: ZeroMQListener) throws(ZMQFailure) {
      let log = log
      let fail: (ZMQFailure) -> Void = { log.error("a socket failed: \($0)") }
      let context = try context(for: listener)
      let ceiling = FileDescriptorBudget.ceiling
      let identity = Self.identification(listener)
      let identify: (ZMQMessage) -> ConnectionIdentity? = { [weak self] message in
        let identity = identity(message)
        if let descriptor = message.origin.descriptor { self?.unfinished.finish(on: descriptor, by: identity) }
        return identity
      }
      var opened: [() -> Void] = []
      do {
        let control = try ZMQSocket(context, type: ZMQ_ROUTER)
        try ZMQOptions.applyControl(to: control)
        // Makes libzmq report a frame to a peer that is gone; otherwise it would drop it silently.
        try control.set(ZMQ_ROUTER_MANDATORY, CInt(1))
        if let keys = listener.keys, let domain {
          try ZMQOptions.applyServer(keys.own, domain: domain, to: control)
          // A pairing request is short.
          if keys.admitted.isOpen { try control.set(ZMQ_MAXMSGSIZE, Int64(4096)) }
        }

        var monitors: [ZMQMonitor] = []
        let watch: (ZMQConnectionEvent) -> Void = { [weak self] event in
          switch event {
          case .accepted(let descriptor):
            if descriptor >= ceiling { self?.cutOff() } else { self?.watch(descriptor) }
          case .handshakeFailed, .keyRefused:
            Self.failedHandshakes.increment()
            log.debug("a handshake failed: what connected does not speak ZMTP, or not with a key that is let in")
          case .connected, .disconnected: break
          }
        }
        monitors.append(try ZMQMonitor(control, in: context, on: loop, receive: watch, fail: fail))
        opened.append(monitors[0].close)
        try ZMQOptions.applyFamily(of: listener.control, to: control)
        try ZMQOptions.applyLocalHeartbeats(of: listener.control, to: control)
        try ZMQOptions.applyOwnUser(of: listener.control, to: control)
        try control.bind(listener.control)
        controlEndpoint = try control.lastEndpoint()
        var files = [SocketFile(boundTo: controlEndpoint)]
        opened.append { [files] in files.forEach { $0?.remove() } }
        var publisher: SocketSource?
        if listener.publishes {
          let events = try ZMQSocket(context, type: ZMQ_XPUB)
          try applyPublishing(to: events)
          monitors.append(try ZMQMonitor(events, in: context, on: loop, receive: watch, fail: fail))
          opened.append(monitors[1].close)
          try ZMQOptions.applyFamily(of: listener.events, to: events)
          try ZMQOptions.applyLocalHeartbeats(of: listener.events, to: events)
          try ZMQOptions.applyOwnUser(of: listener.events, to: events)
          try events.bind(listener.events)
          eventsEndpoint = try events.lastEndpoint()
          files.append(SocketFile(boundTo: eventsEndpoint))
          opened.append { [files] in files.forEach { $0?.remove() } }
          publisher = try SocketSource(
            events, on: loop, partsMax: 1,
            receiveMessage: Self.eventsReceiver(log, identify, deliver), fail: fail)
        }
        if let publisher { opened.append(publisher.close) }

        let router = try SocketSource(
          control, on: loop, partsMax: Self.partsMax,
          receiveMessage: Self.controlReceiver(log, identify, deliver), fail: fail)
        parts = Parts(control: router, events: publisher, monitors: monitors, files: files.compactMap { $0 })
      } catch {
        opened.reversed().forEach { $0() }
        throw error
      }
    }

    private func applyPublishing(to events: borrowing ZMQSocket) throws(ZMQFailure) {
      try ZMQOptions.applyEvents(to: events)
      // Only subscriptions arrive here, and libzmq stores each one. A topic has one letter, a handshake one line.
      try events.set(ZMQ_MAXMSGSIZE, Int64(512))
      if let keys = listener.keys, let domain { try ZMQOptions.applyServer(keys.own, domain: domain, to: events) }
      // Every subscription is reported, so that each new subscriber is sent the present state.
      try events.set(ZMQ_XPUB_VERBOSE, CInt(1))
      // A full subscriber makes the send fail instead of dropping silently; `publish` then drops and counts.
      try events.set(ZMQ_XPUB_NODROP, CInt(1))
    }

    /// Cuts all connections, because there are so many that libzmq would soon find no file descriptor and abort the
    /// process. Nodes connect again by themselves; a program that only held connections does not.
    private func cutOff() {
      guard parts != nil else { return }
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
      closeAndReopen(after: Self.pause)
    }

    // MARK: Messages without an end

    private static let lookPause = BusDuration.seconds(1)
    private static let soonPause = BusDuration.milliseconds(50)

    /// Watches a connection that was accepted; one of this machine's user may do as it likes.
    private func watch(_ descriptor: Int) {
      guard let connection = TCPConnection(descriptor: CInt(descriptor)) else { return }
      unfinished.open(connection)
      guard looking == nil else { return }
      looking = loop.makeTimer { [weak self] in self?.look() }
      looking?.deadline = loop.now + Self.lookPause
    }

    private func look() {
      let (offences, soon) = unfinished.look(\.received)
      for offence in offences {
        offence.connection.cut()
        Self.unfinishedMessages.increment()
        log.debug(
          "a connection is cut: more than \(UnfinishedMessages.bytesMax) bytes came on it without a whole message")
        if let identity = offence.identity { deliver(.burden(.manyParts, by: identity)) }
      }
      if unfinished.isEmpty {
        looking = nil
      } else {
        looking?.deadline = loop.now + (soon ? Self.soonPause : Self.lookPause)
      }
    }

    /// Closes all connections and listens again, so that a key that is not let in any more hears nothing more. What
    /// waits in the queues of the connections is dropped. Nodes with other keys connect again by themselves.
    func cutConnections() {
      guard parts != nil else { return }
      parts?.drop()
      closeAndReopen(after: Self.retryPause)
    }

    /// Closes all connections and listens again with another key of the hub.
    func cutConnections(using own: KeyPair) {
      listener.keys?.own = own
      cutConnections()
    }

    private func closeAndReopen(after pause: BusDuration) {
      parts?.close()
      parts = nil
      unfinished = UnfinishedMessages()
      reopening = loop.makeTimer { [weak self] in self?.reopen() }
      reopening?.deadline = loop.now + pause
    }

    /// Long enough for the cut connections to be closed, short enough for waiting peers.
    private static let pause = BusDuration.milliseconds(500)
    /// How soon the hub tries again to listen at an address that is not free yet.
    private static let retryPause = BusDuration.milliseconds(20)

    private func reopen() {
      do {
        reopening?.deadline = nil
        var listener = listener
        (listener.control, listener.events) = (controlEndpoint, eventsEndpoint)
        try open(listener)
        reopening = nil
      } catch  where error.code == EADDRINUSE && (domain != nil || loop.share != nil) {
        reopening?.deadline = loop.now + Self.retryPause
      } catch {
        log.error("the hub cannot listen again, and tries on: \(error)")
        reopening?.deadline = loop.now + Self.pause
      }
    }

    private static func controlReceiver(
      _ log: Logger, _ identify: @escaping (ZMQMessage) -> ConnectionIdentity?,
      _ deliver: @escaping @Sendable (HubTransportEvent) -> Void
    ) -> (ZMQMessage) -> Void {
      var garbage = MalformedFrameCounter(log: log)
      return { message in
        let parts = message.parts
        guard let identity = identify(message) else {
          return garbage.count(from: parts[0], "a message of a sender without a key")
        }
        switch parts.count {
        case (partsMax + 1)...: deliver(.burden(.manyParts, by: identity))
        case 2 where !parts[1].isEmpty:
          deliver(.frame(ConnectionID(route: parts[0], isRequest: false), parts[1], by: identity))
        case 3 where parts[1].isEmpty && !parts[2].isEmpty:
          deliver(.frame(ConnectionID(route: parts[0], isRequest: true), parts[2], by: identity))
        default: garbage.count(from: parts[0], "a message of a shape that no node sends")
        }
      }
    }

    private static func eventsReceiver(
      _ log: Logger, _ identify: @escaping (ZMQMessage) -> ConnectionIdentity?,
      _ deliver: @escaping @Sendable (HubTransportEvent) -> Void
    ) -> (ZMQMessage) -> Void {
      var garbage = MalformedFrameCounter(log: log)
      return { message in
        let parts = message.parts
        let identity = identify(message)
        // A subscription is 1 and a topic, its end 0 and a topic. XPUB does not say on which connection.
        switch (parts.count, parts[0].first) {
        case (1, 1):
          // A subscription matches all topics that begin with it; an empty one matches all.
          let text = String(decoding: parts[0].dropFirst(), as: UTF8.self)
          let topics = Topic.allCases.filter { $0.rawValue.hasPrefix(text) }
          for topic in topics { deliver(.subscribed(topic)) }
          if topics.isEmpty, let identity { deliver(.burden(.unknownTopic, by: identity)) }
        case (1, 0): break
        case (2..., _): if let identity { deliver(.burden(.manyParts, by: identity)) }
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
      // At least one subscriber is full. The others get the message; the full ones lose it and what follows until they
      // read again, and a pong then tells them the present state. The counter counts these situations, not lost
      // messages.
      Self.overflows.increment()
      events.set(ZMQ_XPUB_NODROP, 0)
      _ = events.send(message)
      events.set(ZMQ_XPUB_NODROP, 1)
    }

    func close() {
      reopening = nil
      looking = nil
      parts?.close()
      parts = nil
      closeDomain()
    }

    deinit {
      closeDomain()
      guard let parts else { return }
      if loop.isCurrent { return parts.close() }
      // Safe: nothing else refers to the parts any more.
      nonisolated(unsafe) let last = parts
      loop.submit { last.close() }
    }
  }
#endif
