import RunCore

/// The world's own account of runs and verdicts, derived only from what the hub writes: which run a command may
/// concern, where a lap may lie, and what a verdict may name.
struct WorldAccount {
  private static let aliasesOfDeviceMax = 16
  private static let aliasesMax = 1024

  private(set) var faults: [String] = []
  /// How much earlier than its run a lap may have been pressed.
  private let clockMargin: BusDuration
  private var starts: [RunID: BusTime] = [:]
  /// Press times of starts. A run begins after the transition before it, but its laps may be earlier than that.
  private var startPresses: [RunID: BusTime] = [:]
  /// When runs were stopped, known from the stop's verdict on.
  private var stops: [RunID: BusTime] = [:]
  private var aliases: [RunID: RunID] = [:]
  private var aliasCounts: [RunID: [DeviceID: Int]] = [:]
  private var effects: Set<CommandID> = []
  private var judged: Set<CommandID> = []

  /// The commit that is being written.
  private struct Commit {
    var present: RunID?
    var aliasesBefore: [RunID: RunID] = [:]
    /// Runs that this commit changes.
    var changed: Set<RunID> = []
    /// Aliases that this commit adds, until it judges the start that they come from.
    var named: [RunID: RunID] = [:]
    var pointers: [(from: CommandID, to: CommandID)] = []
    var isEmpty = true
  }
  private var commit = Commit()

  init(clockMargin: BusDuration) { self.clockMargin = clockMargin }

  /// - Parameter present: the run that is on, or was on last.
  mutating func begin(present: RunID?) { commit = Commit(present: present) }

  mutating func alias(_ alias: RunID, of run: RunID) {
    if commit.isEmpty { (commit.aliasesBefore, commit.isEmpty) = (aliases, false) }
    if starts[alias] != nil { faults.append("\(alias) is a run, and becomes a name of \(run)") }
    if let known = aliases[alias], known != run {
      faults.append("\(alias) was a name of \(known) and becomes one of \(run)")
    }
    aliases[alias] = run
    commit.named[alias] = run
  }

  /// The hub forgets a run's journal, and its aliases with it.
  mutating func forget(_ run: RunID) {
    aliases = aliases.filter { $0.value != run }
    aliasCounts[run] = nil
  }

  mutating func append(_ entry: LedgerEntry, to run: RunID) {
    switch entry.event {
    case .transition(let transition):
      commit.changed.insert(run)
      effects.insert(transition.change.commandID)
      if transition.kind == .start {
        starts[run] = starts[run] ?? entry.time
        if let known = aliases[run] { faults.append("\(run) is a name of \(known) and begins a run") }
      }
      // A stop by recovery has no command, and so no verdict.
      if transition.kind == .stop, transition.change.source == .recovery { stops[run] = entry.time }
    case .lap(let change): effects.insert(change.commandID)
    case .sample, .gap, .setup: break
    }
  }

  mutating func judge(_ verdict: Verdict, _ press: AcceptedCommand) {
    let id = verdict.commandID
    judged.insert(id)
    noteName(press)
    switch verdict.outcome {
    case .applied:
      if !effects.contains(id) { faults.append("\(id) was applied without an effect") }
      checkMeaning(verdict, press)
      if verdict.kind == .start, let run = verdict.runID { startPresses[run] = press.pressedAt }
      if verdict.kind == .stop, let run = verdict.runID { stops[run] = stops[run] ?? verdict.effectiveAt }
      if verdict.kind == .lap { checkLap(verdict, press) }
    case .coalesced(let maker): commit.pointers.append((id, maker))
    case .superseded(let undoer): if undoer == id { faults.append("\(id) superseded itself") }
    case .rejected(.illegal(.completed)): checkCompleted(verdict, press)
    case .rejected(.otherRun): checkOther(verdict, press)
    case .rejected: break
    case .unknown: faults.append("\(id) was judged in an unknown way")
    }
  }

  /// Ends the checks of a commit.
  mutating func end() {
    for (from, to) in commit.pointers where !effects.contains(to) {
      faults.append("\(from) counts as \(to), which has no effect")
    }
  }

  // MARK: Checks of a verdict

  private mutating func noteName(_ press: AcceptedCommand) {
    guard press.command.kind == .start, let name = press.command.runID, let run = commit.named.removeValue(forKey: name)
    else { return }
    aliasCounts[run, default: [:]][press.deviceID, default: 0] += 1
    let counts = aliasCounts[run] ?? [:]
    if counts[press.deviceID] ?? 0 > Self.aliasesOfDeviceMax || counts.values.reduce(0, +) > Self.aliasesMax {
      faults.append("\(run) has too many names, \(counts[press.deviceID] ?? 0) of them by \(press.deviceID)")
    }
  }

  /// A command that names a run never changes another run.
  private mutating func checkMeaning(_ verdict: Verdict, _ press: AcceptedCommand) {
    guard let meant = press.command.runID, let run = verdict.runID, run != resolve(meant) else { return }
    faults.append("\(verdict.commandID) was meant for \(meant) and changed \(run)")
  }

  /// A lap lies within its run, as far as the run was known when the lap was judged.
  private mutating func checkLap(_ verdict: Verdict, _ press: AcceptedCommand) {
    guard let run = verdict.runID, let time = verdict.effectiveAt, let start = starts[run] else {
      return faults.append("\(verdict.commandID) is a lap of nothing")
    }
    if let stop = stops[run], time > stop {
      faults.append("\(verdict.commandID) is a lap \((time - stop).seconds) s behind the stop of \(run)")
    }
    if time < start { faults.append("\(verdict.commandID) is a lap before the start of \(run)") }
    if press.pressedAt < min(start, startPresses[run] ?? start) - clockMargin {
      faults.append("\(verdict.commandID) is a lap, pressed \((start - press.pressedAt).seconds) s before \(run)")
    }
  }

  /// "Completed" refuses only commands for the present run, or for a run that this commit changed.
  private mutating func checkCompleted(_ verdict: Verdict, _ press: AcceptedCommand) {
    guard press.command.kind != .start, let named = press.command.runID else { return }
    let runs = Set([resolve(named), commit.aliasesBefore[named] ?? named])
    guard let present = commit.present, !runs.contains(present), runs.isDisjoint(with: commit.changed) else { return }
    faults.append("\(verdict.commandID) was meant for \(named) and is refused as if \(present) were meant")
  }

  /// "Other run" refuses only commands for a run that is not on.
  private mutating func checkOther(_ verdict: Verdict, _ press: AcceptedCommand) {
    guard let named = press.command.runID else { return }
    let run = commit.isEmpty ? resolve(named) : commit.aliasesBefore[named] ?? named
    guard run == commit.present, commit.changed.isSubset(of: [run]) else { return }
    faults.append("\(verdict.commandID) was meant for the run that is on, and refused as for another")
  }

  private func resolve(_ run: RunID) -> RunID { aliases[run] ?? run }
}
