/// The commands of a hub: which are known, how each is judged, who is owed its verdict, and how far the streams that
/// bring them were received.
///
/// `arbiter`, `book`, `marks` and `verdicts` are its private parts: no file outside this folder names them
/// (`scripts/check-imports`).
struct HubCommands: Sendable {
  /// What it has of the hub's settings.
  struct Rules: Sendable {
    /// The bus clock.
    let clock: BusClock
    /// The length of a window, in bus time; zero switches windows off.
    let debounce: BusDuration
    /// Once all stores together are owed this many verdicts, each may be owed ``VerdictStreams/owedShare`` only.
    let owedVerdictsMax: Int
  }

  let rules: Rules
  /// The verdict of each command, the phase and revision of the run.
  var arbiter: Arbiter
  /// Which commands are known, who waits for a verdict, press times, slots.
  var book: CommandBook
  /// How far each stream of commands was received.
  var marks: StreamMarks
  /// The verdicts that each store is owed.
  var verdicts: VerdictStreams

  typealias Turn = HubCore.Turn
  typealias Durable = HubCore.Durable

  /// Commands from what the store kept.
  ///
  /// - Parameter shift: how far to move times, after a reboot.
  init(_ history: HubHistory, rules: Rules, term: UInt64, shift: BusDuration?) {
    self.rules = rules
    let control = ControlState(
      transitions: history.transitions, windows: history.windows, aliases: history.aliases,
      verdicts: history.verdicts.map { ($0.verdict, $0.press) })
    arbiter = Arbiter(
      control: control, accepted: history.accepted, window: rules.debounce,
      lateAfter: rules.clock.speed.bus(fromReal: .milliseconds(500)), term: term)
    book = CommandBook(history)
    marks = StreamMarks(history.delivery.watermarks.filter { $0.key.kind == .commands })
    verdicts = VerdictStreams(history.delivery, shift: shift)
    for (press, _) in history.accepted {
      book.accept(press, from: press.sender, isHeld: arbiter.isUnfinished(press.command.id))
    }
  }

  // MARK: What others may know

  /// The phase and revision of the run, its transitions, and what judging needs of earlier commands.
  var control: ControlState { _read { yield arbiter.control } }
  /// The accepted commands without a verdict.
  var unjudged: [CommandID: AcceptedCommand] { _read { yield book.unjudged } }
  /// When the open window settles; `nil` if none is open.
  var windowDeadline: BusTime? { arbiter.deadline }
  /// The stores that wait for a verdict.
  var waitingStores: Set<StoreID> { book.stores }

  /// The phase with the hub's own unjudged presses applied on top.
  var predicted: RunPhase {
    book.ownUnjudged.reduce(into: RunMachine(phase: control.phase)) { _ = $0.apply($1.command.kind) }.phase
  }

  /// The revision that a press of the hub itself has seen.
  var base: ObservedRevision {
    ObservedRevision(revision: control.revision, commandID: control.changedBy?.commandID)
  }

  /// How far a command has come; `nil` for an unknown one.
  func stage(of id: CommandID) -> CommandBook.Stage? { book.stage(of: id) }

  /// The verdict of a command; `nil` if it is unknown or not judged yet.
  func verdict(of id: CommandID) -> Verdict? { book.verdict(of: id) }

  /// Whether a command is known here.
  func knows(_ id: CommandID) -> Bool { book.knows(id) }

  /// Whether a command waits for the stop of its run.
  func isHeld(_ id: CommandID) -> Bool { arbiter.isUnfinished(id) }

  /// Whether a start of this run is accepted and not judged. A start that waits for its stop may wait forever, so it
  /// delays the readings of its own device only.
  func isAboutToStart(_ run: RunID, for device: DeviceID) -> Bool {
    let named = control.canonical(run)
    return named != control.runID && !control.knows(named)
      && book.unjudged.values.contains {
        $0.command.kind == .start && $0.runOfStart == run && (!$0.stopFollows || $0.deviceID == device)
      }
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] {
    var wrong = arbiter.check() + book.check() + marks.check() + verdicts.check()
    // The book knows what is accepted, and the arbiter where it waits.
    if book.unjudged.count != arbiter.unjudgedCount {
      wrong.append("\(book.unjudged.count) commands have no verdict, and \(arbiter.unjudgedCount) wait for one")
    }
    return wrong
  }

  /// The tables that members of the bus can fill, with their bounds.
  ///
  /// - Parameter storesMax: how many stores the hub may know.
  func holdings(storesMax: Int) -> [HubHolding] {
    [
      HubHolding(name: "streams of verdicts", count: verdicts.count, max: storesMax),
      HubHolding(
        name: "commands without a verdict, its own excepted",
        count: book.foreignCount, max: CommandQueue.commandsMax),
      HubHolding(
        name: "held commands of runs without a stop", count: arbiter.unfinishedCount, max: HeldRuns.totalMax),
      HubHolding(
        name: "claims of one verdict", count: book.claimsOfOneMax, max: CommandBook.claimsMax),
      HubHolding(
        name: "connections that wait for one verdict", count: book.waitersOfOneMax, max: CommandBook.waitersMax),
    ]
  }
}
