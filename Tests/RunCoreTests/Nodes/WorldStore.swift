import RunCore

/// What the disk of a simulated hub holds: commits folded to the history that the next life reads.
struct WorldStore {
  private(set) var term: UInt64 = 0
  private(set) var accepted: [CommandID: (press: Press, class: PressClass, place: Int)] = [:]
  private(set) var verdicts: [CommandID: Verdict] = [:]
  private(set) var watermarks: [StreamID: UInt64] = [:]
  private(set) var transitions: [PastTransition] = []
  private(set) var entries: [(run: RunID, entry: LedgerEntry)] = []
  private(set) var faults: [String] = []
  private var judged: [(verdict: Verdict, press: Press, judgedAt: BusTime)] = []
  private var windows: [SettledWindow] = []
  private var aliases: [RunID: RunID] = [:]
  private var clock: ClockMark?
  private var commandsWithEffect: Set<CommandID> = []
  private var positions: Set<UInt64> = []
  private var place = 0

  var revision: UInt64 { transitions.map(\.revision).max() ?? 0 }

  mutating func commit(_ operations: [StoreOperation]) { for operation in operations { apply(operation) } }

  private mutating func apply(_ operation: StoreOperation) {
    switch operation {
    case .setTerm(let term):
      if term <= self.term { faults.append("term \(term) after \(self.term)") }
      self.term = term
    case .accept(let press, let pressClass):
      let id = press.command.id
      if accepted[id] != nil || verdicts[id] != nil { faults.append("\(id) was accepted twice") }
      place += 1
      accepted[id] = (press, pressClass, place)
    case .reclassify(let id, let pressClass): accepted[id]?.class = pressClass
    case .setWatermark(let stream, let sequence):
      let known = watermarks[stream] ?? 0
      if sequence < known || (stream.kind == .commands && sequence != known + 1) {
        faults.append("watermark \(sequence) after \(known)")
      }
      watermarks[stream] = sequence
    case .judge(let verdict, let press, let judgedAt):
      if verdicts[verdict.commandID] != nil { faults.append("\(verdict.commandID) was judged twice") }
      if accepted.removeValue(forKey: verdict.commandID) == nil {
        faults.append("\(verdict.commandID) was judged before it was accepted")
      }
      verdicts[verdict.commandID] = verdict
      judged.append((verdict, press, judgedAt))
    case .forgetVerdicts: faults.append("nothing is that old here")
    case .append(let run, let entry): append(entry, to: run)
    case .setAlias(let alias, let run): aliases[alias] = run
    case .settle(let window): windows.append(window)
    case .setClock(let real, let bus): clock = ClockMark(real: real, bus: bus, bootID: "boot", wallSeconds: 0)
    }
  }

  private mutating func append(_ entry: LedgerEntry, to run: RunID) {
    // Samples wait for their commit while a settlement passes them: positions are unique, not in order.
    if !positions.insert(entry.position).inserted { faults.append("position \(entry.position) was used twice") }
    entries.append((run, entry))
    switch entry.event {
    case .transition(let transition):
      if !commandsWithEffect.insert(transition.change.commandID).inserted {
        faults.append("\(transition.change.commandID) had two effects")
      }
      transitions.append(
        PastTransition(
          kind: transition.kind, revision: transition.revision, change: transition.change, runID: run,
          effectiveAt: entry.time))
    case .lap(let change):
      if !commandsWithEffect.insert(change.commandID).inserted { faults.append("\(change.commandID) had two effects") }
    case .sample, .gap: break
    }
  }

  var history: HubHistory {
    var history = HubHistory()
    history.term = term
    history.transitions = transitions
    history.windows = windows
    history.accepted = accepted.values.sorted { $0.place < $1.place }.map { ($0.press, $0.class) }
    history.verdicts = judged
    history.watermarks = watermarks
    history.aliases = aliases
    if let run = transitions.last?.runID {
      history.journal = entries.filter { $0.run == run }.map(\.entry).sorted { $0.position < $1.position }
    }
    history.lastPosition = positions.max() ?? 0
    history.clock = clock
    return history
  }
}
