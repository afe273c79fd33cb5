#if ZeroMQ && canImport(CZMQ)
  import Logging
  public import RunCore
  import RunWire

  /// A step of pairing, as the person at the device sees it.
  public enum JoiningStep: Hashable, Sendable {
    /// The hub has the request and asks its person. Both sides show these six digits: if they differ, another machine is
    /// between the two, and the person at the hub must refuse.
    case compare(digits: String)
  }

  extension BusLocation {
    /// Pairs this machine with the hub that printed a line of `busnode pair`.
    ///
    /// ```swift
    /// let bus = try await BusLocation.join(
    ///   line, as: "watch-1", role: .watch, sources: [.watch, .shell], bus: "default", loop: loop
    /// ) { step in print(step) }
    /// let watch = try Peer(at: bus, configuration: PeerConfiguration(deviceID: "watch-1", role: .watch), loop: loop)
    /// ```
    ///
    /// The machine's key and the hub's are durable before anything is sent. After a crash, or when the answer was lost,
    /// a call with the same line succeeds if the hub has paired the key.
    ///
    /// A machine that is paired already may pair again with the same hub, also when the hub has another key. Its stores and
    /// what waits in them stay.
    ///
    /// - Parameters:
    ///   - line: The line, a secret: `runbus://HOST:PORT/?k=…&t=…`.
    ///   - device: The name that the machine wants. The person at the hub may choose another.
    ///   - role: What kind of node it is.
    ///   - sources: The sources whose commands it wants to send.
    ///   - bus: The name of the bus on this machine.
    ///   - control: Where the hub's control port is reached, `tcp://HOST:PORT`; `nil` for the host of the line and the
    ///     second port before that of the line.
    ///   - eventsPort: The port for events at that host; `nil` for the one that the hub names.
    ///   - keys: Where the machine's keys are kept.
    ///   - loop: The thread on which the request runs.
    ///   - show: Told what the person has to see.
    /// - Returns: The bus.
    /// - Throws: ``RunBusError/Code/badInput`` for a wrong line or name, when the machine is paired with another hub under that
    ///   name, and when the hub refuses; ``RunBusError/Code/store`` when the keys cannot be kept; `CancellationError`
    ///   when the task is cancelled. There is no time limit: the caller cancels.
    public static func join(
      _ line: String, as device: DeviceID, role: NodeRole, sources: Set<ControlSource>, bus: BusName,
      control: String? = nil, eventsPort: UInt16? = nil, keys: any KeyStore = KeyFiles(), loop: Loop,
      show: @escaping @Sendable (JoiningStep) -> Void
    ) async throws -> BusLocation {
      let line = try PairingLine(line)
      if let reason = device.reasonNotToPair { throw RunBusError(.badInput, reason) }
      guard (1...PairedDevice.sourcesMax).contains(sources.count) else {
        throw RunBusError(.badInput, "a device has 1 to \(PairedDevice.sourcesMax) sources")
      }
      let address = try control ?? line.usualControl
      guard RemoteListener.parts(of: address) != nil else {
        throw RunBusError(.badInput, "'\(address)' is no address: write tcp://HOST:PORT")
      }
      for obstacle in StartChecks.obstacles(toJoining: bus, keys: keys) { throw obstacle }
      let (keyring, former) = try keyrings(for: line, bus, device, role, address, eventsPort, keys)
      let own = keyring.value.own
      let request = PairingRequest(token: line.token, deviceID: device, role: role, sources: sources)
      let pairing = ZeroMQConnector(control: line.endpoint, keys: ConnectorKeys(own: own, hub: line.hubKey))
      // A hub that has paired the key already may have closed its pairing port: then its control port answers.
      let asking = PairingRequest(token: [], deviceID: device, role: role, sources: sources)
      let digits = PairingDigits(hub: line.hubKey, device: own.publicKey, token: line.token)?.description ?? ""
      let enrolment = try await first(
        of: [
          { try await PairingExchange.run(request, pairing, loop) { show(.compare(digits: digits)) } },
          {
            // The pairing port has its time first.
            try await Task.sleep(for: .seconds(3))
            return try await PairingExchange.run(asking, ZeroMQConnector(keyring), loop) {}
          },
        ])
      try keyring.note(enrolment, announced: nil)
      if let former { try replace(former, by: keyring, of: bus, in: keys) }
      guard let location = try BusLocation(pairedBus: bus, keys: keys) else {
        throw RunBusError(.store, "the keys of the bus \(bus) are gone")
      }
      return location
    }

    /// The keys of this machine for a hub: those of an earlier attempt, or new ones, which are durable.
    ///
    /// - Returns: The keys, and the pairing that they are to replace: a machine that is paired may pair again with the same
    ///   hub under another key. Whether it is the same is known when the hub has answered.
    private static func keyrings(
      for line: PairingLine, _ bus: BusName, _ device: DeviceID, _ role: NodeRole, _ address: String,
      _ eventsPort: UInt16?, _ keys: any KeyStore
    ) throws(RunBusError) -> (DeviceKeyring, former: DeviceKeyring?) {
      func makesReady(_ present: DeviceKeyring) throws(RunBusError) -> Bool {
        guard present.value.hubKey == line.hubKey || present.value.enrolment?.nextHubKey == line.hubKey else {
          return false
        }
        try present.change { kept in
          (kept.deviceID, kept.role, kept.hubKey, kept.eventsPort) = (device, role, line.hubKey, eventsPort)
          kept.addresses = [address]
        }
        return true
      }
      let present = try DeviceKeyring(bus, in: keys)
      if let present, try makesReady(present) { return (present, nil) }
      let former = present.flatMap { $0.value.enrolment == nil ? nil : $0 }
      let name = former == nil ? DeviceKeyring.name(of: bus) : DeviceKeyring.joiningName(of: bus)
      if former != nil, let attempt = try DeviceKeyring(named: name, in: keys), try makesReady(attempt) {
        return (attempt, former)
      }
      // A new pair: the hub may have taken the former one back.
      let made = DevicePairing(
        deviceID: device, role: role, own: try KeyPair(), hubKey: line.hubKey, addresses: [address],
        eventsPort: eventsPort)
      return (try DeviceKeyring(made, named: name, in: keys), former)
    }

    /// Keeps a new pairing instead of the former one, if it is with the same bus. The person at the hub has compared the
    /// digits, which no other hub can have, so what the hub says of itself is believed. The stores stay: they are named by
    /// the bus.
    private static func replace(
      _ former: DeviceKeyring, by made: DeviceKeyring, of bus: BusName, in keys: any KeyStore
    ) throws(RunBusError) {
      let name = DeviceKeyring.joiningName(of: bus)
      guard made.value.enrolment?.busID == former.value.enrolment?.busID else {
        try keys.remove(name)
        throw RunBusError(
          .badInput,
          "this machine is paired with another hub as bus \(bus), and stays so: give --bus ANOTHER, or busnode erase it"
        )
      }
      try former.change { $0 = made.value }
      try keys.remove(name)
    }

    /// The result of the first task that has one. A task that fails for a passing reason goes on by itself.
    private static func first(
      of tasks: [@concurrent @Sendable () async throws -> Enrolment]
    ) async throws -> Enrolment {
      try await withThrowingTaskGroup(of: Enrolment.self) { group in
        for task in tasks { group.addTask { try await task() } }
        guard let result = try await group.next() else { throw CancellationError() }
        group.cancelAll()
        while await group.nextResult() != nil {}
        return result
      }
    }
  }

  extension PairingLine {
    /// Where the control port is unless the hub's owner chose another: the second port before that of the line.
    fileprivate var usualControl: String {
      get throws(RunBusError) {
        guard let (host, port) = RemoteListener.parts(of: endpoint), port > 2 else {
          throw RunBusError(.badInput, "the line's port says nothing of the control port: give it (--control)")
        }
        return "tcp://\(host.contains(":") ? "[\(host)]" : host):\(port - 2)"
      }
    }
  }

  /// One pairing request on one connection. It passes events to its ``RunCore/PairingSender``, which makes all decisions.
  private actor PairingExchange {
    nonisolated private let loop: Loop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var sender: PairingSender
    private let connector: any PeerConnector
    private let wait: @Sendable () -> Void
    private var transport: (any PeerTransport)?
    private var timer: LoopTimer?
    private var continuation: CheckedContinuation<Enrolment, any Error>?
    private var isOver = false

    private init(
      _ request: PairingRequest, _ connector: any PeerConnector, _ loop: Loop, wait: @escaping @Sendable () -> Void
    ) {
      sender = PairingSender(request)
      (self.connector, self.loop, self.wait) = (connector, loop, wait)
    }

    /// Sends the request until the hub has decided.
    ///
    /// - Parameter wait: Called when the hub asks its person.
    static func run(
      _ request: PairingRequest, _ connector: any PeerConnector, _ loop: Loop, wait: @escaping @Sendable () -> Void
    ) async throws -> Enrolment {
      let exchange = PairingExchange(request, connector, loop, wait: wait)
      return try await withTaskCancellationHandler {
        try await exchange.begin()
      } onCancel: {
        Task { await exchange.end(.failure(CancellationError())) }
      }
    }

    private func begin() async throws -> Enrolment {
      try await withCheckedThrowingContinuation { continuation in
        guard !isOver else { return continuation.resume(throwing: CancellationError()) }
        self.continuation = continuation
        timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.feed(.deadline) } }
        do {
          transport = try connector.connect(on: loop) { [weak self] event in
            self?.assumeIsolated { $0.receive(event) }
          }
        } catch {
          end(.failure(error))
        }
      }
    }

    private func receive(_ event: PeerTransportEvent) {
      switch event {
      case .linkUp: feed(.linkUp)
      case .linkDown: feed(.linkDown)
      case .frame(let bytes): if let frame = try? Codec.hubFrame(bytes) { feed(.frame(frame)) }
      case .event: break
      }
    }

    private func feed(_ event: PairingSender.Event) {
      for action in sender.receive(event, at: loop.now) {
        switch action {
        case .send(let frame): _ = transport?.send(Codec.encode(frame))
        case .waiting: wait()
        case .paired(let enrolment): end(.success(enrolment))
        case .refused(let reason): end(.failure(RunBusError(.badInput, "the hub did not pair this device: \(reason)")))
        }
      }
      timer?.deadline = sender.deadline
    }

    private func end(_ result: Result<Enrolment, any Error>) {
      isOver = true
      transport?.close()
      (transport, timer) = (nil, nil)
      continuation?.resume(with: result)
      continuation = nil
    }
  }
#endif
