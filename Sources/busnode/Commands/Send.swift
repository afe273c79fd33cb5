import ArgumentParser
import RunBus
import Synchronization

struct Send: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Press a button: start, pause, resume, stop or lap.",
    discussion: """
      Waits for the verdict and says what became of the press. Any number of them can run side by side.

        busnode send start
        busnode send pause --source watch
        busnode send lap --wait received     do not wait for the half second in which presses settle
        busnode send stop --json | jq -r .receipt
        busnode send resume || echo "not resumed: $?"

      The press is durable on this machine before it is sent, and stays so until its verdict is known. When the hub is
      away or does not answer, it waits (exit status 5), counts from the moment it was pressed, and is delivered by the
      hub when it starts, by any other node of the bus on this machine, or by busnode outbox flush. busnode outbox shows
      what waits. With --no-queue it is now or never. A bus that this machine has never met keeps nothing either: its
      name may be a slip of the pen.

      --wait none ends when the press is on its way to the hub, without waiting for a word about it; the copy on this
      machine stays until the hub has judged it.

      --json writes one object: commandId, command, source, receipt (queued, pending, applied, coalesced, superseded,
      rejected), runId, term, revision, coalescedInto, supersededBy, effectiveAgeSeconds, reason, message.

      EXIT STATUS:
        0   applied or coalesced (--wait received: the hub has it; --wait none: handed over)
        3   rejected
        4   superseded: undone by a later press within the same half second
        5   queued, will be delivered when the hub is back
        6   the hub has it, no verdict in time (--no-queue: or it was handed over, and the hub does not say that it has it)
        69  no such bus, or (--no-queue) its hub does not answer: nothing is kept
        74  the disk does not take it: nothing was sent
        75  1,024 presses wait already: nothing was sent
      The status tells what became of the press also when standard output cannot be written.
      """)

  /// How long to wait for what.
  enum Wait: String, ExpressibleByArgument, CaseIterable { case verdict, received, none }

  @Argument(help: ArgumentHelp("start, pause, resume, stop or lap.", valueName: "command"))
  var kind: CommandKind

  @OptionGroup var bus: BusOptions

  @Option(
    help: ArgumentHelp("Who presses: phone, watch, live-activity (or widget), shell.", valueName: "source"),
    transform: { text in
      guard let source = ControlSource(argument: text) else {
        throw ValidationError("'\(text)' is none of phone, watch, live-activity, shell")
      }
      return source
    })
  var source: ControlSource = .shell

  @Option(help: ArgumentHelp("The device it is pressed on (default: shell).", valueName: "name"))
  var device: DeviceID?

  @Option(help: "What to wait for.")
  var wait: Wait = .verdict

  @Option(help: ArgumentHelp("How long to wait, in real time: 5, 500ms (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  @Flag(help: "Now or never: keep nothing for a hub that is away.")
  var noQueue = false

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let device = device ?? DeviceID.role(.shell)
    let command = Command(kind, source: source)
    let kept = noQueue ? nil : KeptPress(command, on: device, at: location)
    guard !location.isWithoutHub else {
      guard let kept else { throw Failure.noBus(location) }
      try kept.keep(tries: 0)
      sayQueued(command)
      throw QuietExit(exitStatus: ExitStatus.queued)
    }
    // It may be sent from here on.
    try kept?.keep(tries: 1)
    try await send(command, on: device, to: location, kept)
  }

  /// How far a press came, and what was seen then.
  private struct Result {
    let last: Receipt?
    let seen: Snapshot
    /// The hub was in reach.
    let isMet: Bool
  }

  /// Hands the press to the hub, and says how far it came.
  private func send(
    _ command: Command, on device: DeviceID, to location: BusLocation, _ kept: KeptPress?
  ) async throws {
    let patience = timeout?.span ?? .seconds(5)
    let wait = wait
    let result: Result
    do {
      let visit = try BusClient(location, device: device)
      result = try await visit.run { peer in
        let last = try await Self.press(command, on: peer, wait: wait, patience: patience)
        return Result(
          last: last, seen: await peer.authoritative, isMet: await peer.reachability.lastHeardAge != nil)
      }
    } catch {
      guard let kept else { throw error }
      // Waiting does not help a wire that differs: one of the two is to be updated.
      if let error = error as? RunBusError, error.code == .wireMismatch {
        kept.letGo()
        throw error
      }
      if let error = error as? RunBusError { Output.complain("busnode: \(error)") }
      result = Result(last: nil, seen: .none, isMet: false)
    }
    if result.isMet { location.noteMet() }
    guard let last = result.last else {
      guard let kept else {
        guard result.isMet else { throw Failure.noAnswer(location, within: patience) }
        sayUnconfirmed(command)
        throw QuietExit(exitStatus: ExitStatus.noVerdict)
      }
      if !result.isMet { kept.noteUnsent() }
      sayQueued(command)
      throw QuietExit(exitStatus: ExitStatus.queued)
    }
    // Said first: the disk is not to keep anybody waiting who reads this.
    defer { if case .verdict = last.stage { kept?.letGo() } }
    say(last, seen: result.seen)
    let status = status(last)
    if status != ExitStatus.success { throw QuietExit(exitStatus: status) }
  }

  /// Presses and returns the last stage that came in time; `nil` when the hub was not reached.
  private static func press(
    _ command: Command, on peer: Peer, wait: Wait, patience: BusDuration
  ) async throws -> Receipt? {
    let receipts = await peer.receipts(for: command.id)
    let reachability = await peer.reachabilities()
    let last = LastReceipt()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try? await Task.sleep(for: .nanoseconds(patience.nanoseconds))
        return true
      }
      group.addTask {
        // Handing over takes somebody to hand it to.
        if wait == .none { for await state in reachability where state.isReachable { break } }
        let verdict = try await peer.send(command)
        last.finish(verdict)
        return false
      }
      group.addTask {
        for await receipt in receipts {
          last.receive(receipt)
          switch (receipt.stage, wait) {
          case (.verdict, _), (.pending, .received), (_, .none): return true
          case (.queued, _), (.pending, _): continue
          }
        }
        return true
      }
      while let isOver = try await group.next(), !isOver {}
      group.cancelAll()
      // Cancelling stops the waiting; the press itself is the hub's now.
      while await group.nextResult() != nil {}
    }
    let receipt = last.value
    // What was not heard of may not have arrived.
    if case .queued = receipt?.stage, wait != .none { return nil }
    return receipt
  }

  private func sayQueued(_ command: Command) {
    tell(unjudged(command), "\(command.kind.rawValue) is queued, will be delivered when the hub is back")
  }

  /// It was sent to a hub that answers, and nothing came back: a hub whose disk is full, say.
  private func sayUnconfirmed(_ command: Command) {
    tell(
      unjudged(command),
      "\(command.kind.rawValue) was handed over; the hub does not say in time that it has it: it may count")
  }

  private func unjudged(_ command: Command) -> Receipt {
    Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .queued)
  }

  private func say(_ receipt: Receipt, seen: Snapshot) {
    switch receipt.stage {
    case .queued: tell(receipt, "\(kind.rawValue) was handed over; what becomes of it is not waited for")
    case .verdict where json, .pending where json: Output.tell(json: ReceiptJSON(receipt))
    case .verdict(let verdict): Output.tell(Sentence.verdict(verdict, seen: seen))
    case .pending where wait == .verdict: Output.tell("\(Sentence.receipt(receipt)); no verdict in time")
    case .pending: Output.tell(Sentence.receipt(receipt))
    }
  }

  /// Says a stage in words of its own.
  private func tell(_ receipt: Receipt, _ message: String) {
    guard json else { return Output.tell(message) }
    var receipt = ReceiptJSON(receipt)
    receipt.message = message
    Output.tell(json: receipt)
  }

  private func status(_ receipt: Receipt) -> Int32 {
    switch receipt.stage {
    case .queued: ExitStatus.success
    case .pending: wait == .verdict ? ExitStatus.noVerdict : ExitStatus.success
    case .verdict(let verdict):
      switch verdict.outcome {
      case .applied, .coalesced: ExitStatus.success
      case .superseded: ExitStatus.superseded
      case .rejected: ExitStatus.rejected
      }
    }
  }
}

extension ControlSource {
  /// A source as a person writes it.
  init?(argument: String) {
    switch argument {
    case "phone": self = .phone
    case "watch": self = .watch
    case "live-activity", "liveActivity", "widget": self = .liveActivity
    case "shell": self = .shell
    default: return nil
    }
  }
}

/// The furthest stage that a press has come to.
private final class LastReceipt: Sendable {
  private let receipt = Mutex<Receipt?>(nil)

  var value: Receipt? { receipt.withLock { $0 } }

  func receive(_ next: Receipt) { receipt.withLock { $0 = next } }

  /// The verdict came, but not (yet) as a receipt, which would say how long ago it took effect.
  func finish(_ verdict: Verdict) {
    receipt.withLock { receipt in
      if case .verdict = receipt?.stage { return }
      receipt = Receipt(
        commandID: verdict.commandID, kind: verdict.kind, source: verdict.source, stage: .verdict(verdict))
    }
  }
}
