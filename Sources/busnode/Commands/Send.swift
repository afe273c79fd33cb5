import ArgumentParser
import RunBus
import Synchronization

struct Send: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Press a button: start, pause, resume, stop or lap.",
    discussion: """
      Waits for the hub's verdict on the press and prints it. Any number of these commands can run at once.

        busnode send start
        busnode send start --goal 30m     a run of half an hour, pauses included
        busnode send pause --source watch
        busnode send lap --wait received  does not wait for the verdict, which takes
                                          half a second
        busnode send stop --json | jq -r .receipt
        busnode send resume || echo "not resumed: $?"
        busnode send stop --if-revision 4

      The press is stored on this machine before it is sent, until its verdict is known. If the hub is away or does not \
      answer, the press waits (exit status 5) and counts from the time when it was pressed. The hub delivers it when it \
      starts, or another node of the bus on this machine, or busnode outbox flush. busnode outbox shows what waits. With \
      --no-queue the press is not stored. It is not stored either for a bus that this machine has never joined, because \
      the name may be a typing mistake.

      --goal is shown on every screen with what remains of it, and kept in the record. It stops nothing. A start that \
      repeats another one changes no goal.

      --if-revision N presses only if nothing has changed since: the press counts if the run was at revision N (busnode \
      state --field revision) before the window of the press, and is otherwise rejected (revisionChanged) with the \
      revision that stands. Of different presses with the same N one counts. A hub that does not know conditions \
      rejects the press (unsupported).

      A pause is undone by resume. A lap or a stop that the hub has cannot be taken back; a press that waits can: \
      busnode outbox cancel.

      --wait none ends when the press has been handed to the hub, without waiting for an answer; the stored copy stays \
      until the hub has judged the press.

      --json writes one object: commandId, command, source, receipt (queued, pending, applied, coalesced, superseded, \
      rejected, unknown), runId, term, revision, coalescedInto, supersededBy, reason, illegalPhase, \
      expectedRevision (with the reason revisionChanged), effectiveAtBusNanoseconds, effectiveAgeSeconds, phase, message. docs/json.md describes every key. \
      A live activity is live-activity in options and liveActivity in JSON; options take both.

      EXIT STATUS:
        0   applied or coalesced (--wait received: the hub has it; --wait none:
            handed over)
        3   rejected
        4   superseded: undone by a later press within the same half second
        5   queued, will be delivered when the hub is back
        6   the hub has it, but no verdict came in time (--no-queue: or the hub did
            not confirm that it has it); a press made while the hub was dead waits
            for the answer about its run
        69  no such bus, or (--no-queue) its hub does not answer: nothing is kept
        74  the press could not be stored: nothing was sent
        75  1,024 presses wait already: nothing was sent
      The exit status tells the verdict also when standard output cannot be written.
      """)

  /// What to wait for after the press was handed over.
  enum Wait: String, ExpressibleByArgument, CaseIterable { case verdict, received, none }

  @Argument(help: ArgumentHelp("start, pause, resume, stop or lap.", valueName: "command"))
  var kind: CommandKind

  @OptionGroup var bus: BusOptions

  @Option(
    help: ArgumentHelp(
      "Who presses: phone, watch, live-activity (or widget), shell (default: shell).", valueName: "source"),
    completion: .list(ControlSource.optionWords),
    transform: ControlSource.init(option:))
  var source: ControlSource = .shell

  @Option(
    help: ArgumentHelp("The device it is pressed on (default: shell).", valueName: "name"),
    completion: Completions.devices)
  var device: DeviceID?

  @Option(
    help: ArgumentHelp("The time goal of the run that a start begins: 30m, 1h30m, 45:00.", valueName: "time"),
    transform: RunGoal.init(option:))
  var goal: RunGoal?

  @Option(help: ArgumentHelp("Press only if the run is still at this revision.", valueName: "revision"))
  var ifRevision: UInt64?

  @Option(help: "What to wait for.")
  var wait: Wait = .verdict

  @Option(help: ArgumentHelp("How long to wait, in real time: 5, 500ms (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  @Flag(help: "Do not keep the press for later when the hub is away.")
  var noQueue = false

  @Flag(help: "Write one JSON object.")
  var json = false

  /// The bound of counters on the wire.
  private static let revisionMax: UInt64 = 1 << 62

  func validate() throws {
    if goal != nil, kind != .start {
      throw ValidationError(Tongue.say(.goalIsForStart, ["command": kind.rawValue]))
    }
    if let ifRevision, ifRevision > Self.revisionMax {
      throw ValidationError(Tongue.say(.revisionTooHigh, ["revision": ifRevision]))
    }
  }

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let device = device ?? DeviceID.role(.shell)
    var command = goal.map { Command.start(goal: $0, source: source) } ?? Command(kind, source: source)
    command.ifRevision = ifRevision
    let kept = noQueue ? nil : KeptPress(command, on: device, at: location)
    guard !location.isWithoutHub else {
      guard let kept else { throw Failure.noBus(location) }
      try kept.keep(tries: 0)
      sayQueued(command)
      throw QuietExit(exitStatus: ExitStatus.queued)
    }
    // From here on the press may have been sent.
    try kept?.keep(tries: 1)
    try await send(command, on: device, to: location, kept)
  }

  /// How far a press has come.
  private struct Progress {
    /// Its last stage; `nil` when the hub did not confirm it.
    var last: Receipt?
    /// Whether the hub has answered.
    var isMet = false
  }

  /// Hands the press to the hub, and prints its last stage.
  private func send(
    _ command: Command, on device: DeviceID, to location: BusLocation, _ kept: KeptPress?
  ) async throws {
    let patience = timeout?.span ?? .seconds(5)
    let progress: Progress
    do {
      let press = kept?.forwarded ?? ForwardedCommand(command, on: device)
      progress = try await follow(press, by: location.requester(), within: patience)
    } catch {
      guard let kept else { throw error }
      // Keeping the press does not help when the hub cannot read it: one side must be updated first.
      if let error = error as? RunBusError, error.code == .wireMismatch || error.code == .badInput {
        kept.letGo()
        throw error
      }
      if let error = error as? RunBusError { Output.complain("busnode: \(error)") }
      progress = Progress()
    }
    if progress.isMet { location.noteMet() }
    guard let last = progress.last else {
      guard let kept else {
        guard progress.isMet else { throw Failure.noAnswer(location, within: patience) }
        sayUnconfirmed(command)
        throw QuietExit(exitStatus: ExitStatus.noVerdict)
      }
      if !progress.isMet { kept.noteUnsent() }
      sayQueued(command)
      throw QuietExit(exitStatus: ExitStatus.queued)
    }
    // Print the verdict before the file is removed, so that a slow disk does not delay it.
    defer { if case .verdict = last.stage { kept?.letGo() } }
    if case .pending = last.stage, wait == .verdict, await isAsking(location) {
      tell(last, Tongue.say(.sentWaitsRecovery, ["receipt": last.sentence]))
    } else {
      say(last)
    }
    let status = status(last)
    if status != ExitStatus.success { throw QuietExit(exitStatus: status) }
  }

  /// Sends the press until it has come as far as the caller waits for, or the time is over.
  private func follow(
    _ press: ForwardedCommand, by requester: Requester, within patience: BusDuration
  ) async throws -> Progress {
    let (wait, handedOver) = (wait, unjudged(press.command))
    let progress = Mutex(Progress())
    _ = try await within(Duration(patience)) {
      for try await step in requester.send([press]) {
        switch step {
        case .reached: progress.withLock { $0.isMet = true }
        case .receipt(let receipt): progress.withLock { $0.last = receipt }
        }
        switch (step, wait) {
        case (.reached, .none):
          progress.withLock { $0.last = handedOver }
          return
        case (.receipt, .none), (.receipt, .received): return
        case (.receipt, .verdict), (.reached, _): continue
        }
      }
    }
    return progress.withLock { $0 }
  }

  /// Whether the hub waits for a decision about a run that was on when it died, and judges no press made meanwhile.
  private func isAsking(_ location: BusLocation) async -> Bool {
    let state = try? await within(.seconds(1)) { try await location.requester().state() }
    return state?.isRecovering == true
  }

  private func sayQueued(_ command: Command) {
    tell(unjudged(command), Tongue.say(.sentQueued, ["command": command.kind.spoken]))
  }

  /// Reports a press that a reachable hub did not confirm, for example because its disk is full.
  private func sayUnconfirmed(_ command: Command) {
    tell(
      unjudged(command),
      Tongue.say(.sentUnconfirmed, ["command": command.kind.spoken]))
  }

  private func unjudged(_ command: Command) -> Receipt {
    Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .queued)
  }

  private func say(_ receipt: Receipt) {
    switch receipt.stage {
    case .queued: tell(receipt, Tongue.say(.sentHandedOver, ["command": kind.spoken]))
    case .verdict where json, .pending where json: Output.tell(json: receipt)
    case .verdict(let verdict): Output.tell(Sentence.verdict(verdict, phase: receipt.phase, age: receipt.effectiveAge))
    case .pending where wait == .verdict: Output.tell(Tongue.say(.sentNoVerdict, ["receipt": receipt.sentence]))
    case .pending: Output.tell(receipt.sentence)
    }
  }

  /// Prints a receipt with `message` instead of its usual sentence.
  private func tell(_ receipt: Receipt, _ message: String) {
    guard json else { return Output.tell(message) }
    Output.tell(json: ReceiptLineJSON(receipt: receipt, message: message))
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
      // What became of the press cannot be told.
      case .unknown: ExitStatus.noVerdict
      }
    }
  }
}

extension ControlSource {
  /// The words of `--source` that its help names.
  static let optionWords = ["phone", "watch", "live-activity", "widget", "shell"]

  /// Reads a source as it is written on the command line.
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
