import Logging
public import RunCore
import RunWire

/// Asks the hub of a bus, or sends it commands, without joining the bus: for a shell, a script, an app extension.
///
/// A requester has no store, no streams and no presence. Each call connects, sends its request again until the hub
/// answers, and disconnects when it returns or its task is cancelled. There is no time limit: the caller cancels.
///
/// ```swift
/// let requester = Requester(at: BusLocation(bus: BusName("default")), loop: try Loop())
/// print(try await requester.state().phase)
/// print(try await requester.send(Command(.pause, source: .liveActivity), as: DeviceID("widget")).message)
/// ```
public struct Requester: Sendable, Answerer {
  private let connector: any PeerConnector
  private let loop: Loop

  /// Makes a requester.
  ///
  /// - Parameters:
  ///   - connector: Connects to the hub.
  ///   - loop: The thread on which the requests run; nodes and requesters may share it.
  public init(connector: any PeerConnector, loop: Loop) {
    self.connector = connector
    self.loop = loop
  }

  /// What happens to commands that a requester sends.
  package enum Progress: Hashable, Sendable {
    /// The hub has answered for the first time, so it has read the commands.
    case reached
    /// A command has reached a stage: pending, then its verdict, with the phase of the run.
    case receipt(Receipt)
  }

  /// Sends a command and waits for its verdict. Nothing is stored on this device: when the task is cancelled or the
  /// process ends first, the command may have reached the hub or not. Send the same command again to learn its verdict;
  /// it counts once, by its id.
  ///
  /// - Parameters:
  ///   - command: What was pressed, now.
  ///   - device: The device on whose behalf it is sent.
  /// - Throws: `CancellationError` when the task is cancelled, ``RunBusError/Code/wireMismatch`` when the hub speaks
  ///   another version, ``RunBusError/Code/badInput`` when it cannot read the command, refuses it for good, or the
  ///   address is invalid, ``RunBusError/Code/transport`` when no connection can be opened.
  public func send(_ command: Command, as device: DeviceID) async throws -> Verdict {
    for try await step in send([ForwardedCommand(command, on: device)]) {
      if case .receipt(let receipt) = step, case .verdict(let verdict) = receipt.stage { return verdict }
    }
    throw CancellationError()
  }

  /// The devices that the hub knows, by name.
  ///
  /// - Throws: As ``send(_:as:)``.
  public func peers() async throws -> [PeerReport] {
    try await ask(.peers)
  }

  /// The numbers of the present run with their splits, laps and parts; `nil` before the first run.
  ///
  /// - Throws: As ``send(_:as:)``.
  public func report() async throws -> RunReport? {
    try await ask(.report)
  }

  /// Sends commands, in order, until each has its verdict. A command may be sent again in another call: it counts once,
  /// by its id. Nothing is stored here; ``SpoolDirectory`` keeps commands over a loss of the hub or of this process.
  ///
  /// - Returns: The progress, which ends after the last verdict. It fails with ``RunBusError/Code/wireMismatch`` when
  ///   the hub speaks another version, with ``RunBusError/Code/badInput`` when it cannot read a command or the address
  ///   is invalid, and with ``RunBusError/Code/transport`` when no connection can be opened.
  package func send(_ commands: [ForwardedCommand]) -> AsyncThrowingStream<Progress, any Error> {
    RequestExchange.begin(.commands(commands), connector, loop) { action in
      switch action {
      case .reached: .reached
      case .receipt(let receipt): .receipt(receipt)
      case .send, .state, .answer, .fail, .finished: nil
      }
    }
  }

  /// The newest snapshot.
  ///
  /// - Throws: As ``send(_:as:)``.
  public func state() async throws -> Snapshot { try await stateMessage().snapshot }

  /// The newest snapshot, with its age when the hub sent it.
  ///
  /// - Throws: As ``send(_:as:)``.
  package func stateMessage() async throws -> StateMessage {
    try await first(of: .state) { if case .state(let message) = $0 { message } else { nil } }
  }

  /// Asks what the hub holds. The hub answers those who ask over the bus and changes nothing for them.
  ///
  /// - Throws: As ``send(_:as:)``.
  package func ask<Answer>(_ question: Question<Answer>) async throws -> Answer {
    let answer = try await first(of: .inquiry(question.inquiry)) { action -> InquiryAnswer? in
      if case .answer(let answer) = action { answer } else { nil }
    }
    do throws(InquiryFailure) { return try question.content(of: answer) } catch { throw RunBusError(error) }
  }

  private func first<Value: Sendable>(
    of work: RequestSender.Work, _ value: @escaping @Sendable (RequestSender.Action) -> Value?
  ) async throws -> Value {
    for try await value in RequestExchange.begin(work, connector, loop, value) { return value }
    throw CancellationError()
  }
}

extension ForwardedCommand {
  /// A command that is pressed now.
  package init(_ command: Command, on deviceID: DeviceID) {
    self.init(command: command, deviceID: deviceID, since: Loop.now, isUncertain: false)
  }
}

/// One connection of a requester. It passes events to its ``RunCore/RequestSender``, which makes all decisions.
private actor RequestExchange {
  nonisolated private let loop: Loop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private var sender: RequestSender
  private let connector: any PeerConnector
  private let tell: @Sendable (RequestSender.Action) -> Void
  private let finish: @Sendable (RunBusError?) -> Void
  private let log = Logger(label: "runbus.requester")
  private var transport: (any PeerTransport)?
  private var timer: LoopTimer?

  private init(
    _ sender: RequestSender, _ connector: any PeerConnector, _ loop: Loop,
    tell: @escaping @Sendable (RequestSender.Action) -> Void, finish: @escaping @Sendable (RunBusError?) -> Void
  ) {
    (self.sender, self.connector, self.loop) = (sender, connector, loop)
    (self.tell, self.finish) = (tell, finish)
  }

  /// Connects, and tells what comes of the work until it is done or its reader has gone.
  ///
  /// - Parameter element: What the reader gets of an action; `nil` for nothing.
  static func begin<Element: Sendable>(
    _ work: RequestSender.Work, _ connector: any PeerConnector, _ loop: Loop,
    _ element: @escaping @Sendable (RequestSender.Action) -> Element?
  ) -> AsyncThrowingStream<Element, any Error> {
    let (elements, reader) = AsyncThrowingStream.makeStream(of: Element.self, throwing: (any Error).self)
    let sender = RequestSender(work, bootID: MachineBoot.id, seed: loop.seed())
    let exchange = RequestExchange(
      sender, connector, loop, tell: { action in if let element = element(action) { reader.yield(element) } },
      finish: { reader.finish(throwing: $0) })
    // Both run on the loop in this order, so that nothing stays open.
    loop.submit { exchange.assumeIsolated { $0.connect() } }
    reader.onTermination = { _ in loop.submit { exchange.assumeIsolated { $0.close() } } }
    return elements
  }

  private func connect() {
    timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.feed(.deadline) } }
    do {
      transport = try connector.connect(on: loop) { [weak self] event in self?.assumeIsolated { $0.receive(event) } }
    } catch {
      finish(error)
    }
  }

  private func receive(_ event: PeerTransportEvent) {
    switch event {
    case .linkUp: feed(.linkUp)
    case .linkDown(let reason):
      log.debug("the link to the hub is down: \(reason)")
      feed(.linkDown)
    case .frame(let bytes):
      do { feed(.frame(try Codec.hubFrame(bytes))) } catch { log.warning("the hub sent what is no frame (\(error))") }
    case .event: break
    }
  }

  private func feed(_ event: RequestSender.Event) {
    guard let transport else { return }
    var isFull = false
    for action in sender.receive(event, at: loop.now) {
      switch action {
      case .send(let frame): if transport.send(Codec.encode(frame)) == .full { isFull = true }
      case .reached, .receipt, .state, .answer: tell(action)
      case .fail(let refusal): finish(RunBusError(refusal))
      case .finished: finish(nil)
      }
    }
    if isFull { _ = sender.receive(.sendFailed, at: loop.now) }
    timer?.deadline = sender.deadline
  }

  private func close() {
    transport?.close()
    transport = nil
    timer = nil
  }
}

extension RunBusError {
  /// The error for a sender that the hub refuses for good.
  fileprivate init(_ refusal: Refusal) {
    if refusal.code == .versionMismatch {
      self.init(.wireMismatch, refusal.message)
    } else if refusal.version != wireVersion {
      self.init(
        .wireMismatch,
        "the hub speaks wire version \(refusal.version), this program speaks \(wireVersion): update the older")
    } else {
      self.init(.badInput, "the hub cannot read this: \(refusal.message)")
    }
  }
}
