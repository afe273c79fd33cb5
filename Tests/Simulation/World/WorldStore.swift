import RunCore

/// The disk of a simulated hub: what the next incarnation reads, and checks of everything that is written.
struct WorldStore {
  let storeID: StoreID
  private var disk: WorldDisk
  private var account: WorldAccount
  private var conditions = WorldConditions()
  private var ownFaults: [String] = []

  // What the checks remember, whatever the store forgets.

  /// Commands that were judged late or as part of a chain.
  private(set) var late: Set<CommandID> = []
  private(set) var verdicts: [CommandID: Verdict] = [:]
  /// Every alias that a run ever had, also of runs that were removed.
  private(set) var namesEver: [RunID: RunID] = [:]
  /// Commands that made a transition or a mark.
  private(set) var effects: Set<CommandID> = []
  /// Transitions that made revisions, in order. The others amended runs that were over, or belong to whole runs.
  private(set) var made: [PastTransition] = []
  private var positions: Set<UInt64> = []
  private var phase = RunPhase.idle
  private var runs: Set<RunID> = []
  private var stoppers: [RunID: DeviceID] = [:]
  /// Presses that the commit applies.
  private var judgedNow: [(verdict: Verdict, press: AcceptedCommand)] = []
  /// Records of the commit that is being written.
  private var keptNow: [RunRecord] = []

  private let windowMax: BusDuration
  /// Whether this world loses a store: then commands come again by other streams.
  private let isLosing: Bool
  private let lateAfter: BusDuration

  /// A session number contains the term, in 31 bits.
  private static let termMax: UInt64 = 1 << 31
  private static let claimsMax = 8

  init(storeID: StoreID, isLosing: Bool, lateAfter: BusDuration, window: BusDuration, hasLog: Bool) {
    disk = WorldDisk(hasLog: hasLog)
    (self.storeID, self.isLosing, self.lateAfter) = (storeID, isLosing, lateAfter)
    windowMax = max(.seconds(2), window)
    account = WorldAccount(clockMargin: max(window, lateAfter))
  }

  var hasFaults: Bool {
    !ownFaults.isEmpty || !account.faults.isEmpty || !conditions.faults.isEmpty || !disk.faults.isEmpty
  }
  var faults: [String] { ownFaults + account.faults + conditions.faults + disk.faults }

  var history: HubHistory { disk.state.hubHistory }
  var term: UInt64 { disk.state.term }
  var clock: ClockMark? { disk.state.clock }
  var accepted: [CommandID: StoredCommands.Accepted] { disk.state.commands.accepted }
  var aliases: [RunID: RunID] { disk.state.runs.aliases }
  var discarded: Set<RunID> { disk.state.runs.discarded }
  /// All entries of each run.
  var journals: [RunID: [LedgerEntry]] { disk.state.runs.journals }
  var records: StoredRecords { disk.state.records }
  var delivery: StoredDelivery { disk.state.delivery }
  var devices: [DeviceID: KnownDevice] { disk.state.devices }
  var owners: [StoreID: ConnectionIdentity] { disk.state.storeOwners }
  var members: MemberHistory { disk.state.members }
  var lastRecordChange: UInt64 { records.lastChange }
  var revision: UInt64 { made.last?.revision ?? 0 }

  func journal(of run: RunID) -> [LedgerEntry] { disk.state.runs.journal(of: run) }

  /// How many stores besides the first wait for the verdict of a command.
  func claimCount(of id: CommandID) -> Int { disk.state.commands.claims[id]?.count ?? 0 }

  /// The owner pairs the devices of a list, and no others.
  mutating func pair(_ devices: [PairedDevice]) {
    let operations = members.devices.map { StoreOperation.unpair($0.key) } + devices.map(StoreOperation.pair)
    write(operations)
  }

  mutating func setMemberVersion(_ version: UInt64) { write([.setMemberVersion(version, heard: 0)]) }

  /// Writes what the owner does while the hub does not run.
  private mutating func write(_ operations: [StoreOperation]) {
    for operation in operations { disk.apply(operation) }
    disk.note(operations, bootID: "boot", wallSeconds: 0)
  }

  mutating func commit(_ operations: [StoreOperation], bootID: String, wallSeconds: Double) {
    account.begin(present: made.last?.runID)
    for operation in operations {
      check(operation)
      disk.apply(operation, bootID: bootID, wallSeconds: wallSeconds)
    }
    disk.note(operations, bootID: bootID, wallSeconds: wallSeconds)
    endCommit()
  }

  mutating func tear(at part: Double) -> Bool { disk.tear(at: part) }
  mutating func restart() { disk.restart() }

  private mutating func endCommit() {
    // The question about a run may have been answered in this commit, by a press that was behind it.
    for (verdict, press) in judgedNow {
      guard let run = verdict.runID, let since = disk.state.runs.unanswered[run], press.pressedAt > since else {
        continue
      }
      ownFaults.append("\(verdict.commandID) was judged before the question about its run was answered")
    }
    judgedNow = []
    account.end()
    conditions.end(made: made)
    // If entries arrived while the journal was read, a next version is expected; only a final record is checked.
    for record in keptNow where records.expected[record.runID] == nil && records.removed[record.runID] == nil {
      checkClock(of: record)
    }
    keptNow = []
  }

  /// Checks an operation before it is applied.
  private mutating func check(_ operation: StoreOperation) {
    switch operation {
    case .setTerm(let next):
      if next <= term { ownFaults.append("term \(next) after \(term)") }
      if next >= Self.termMax { ownFaults.append("term \(next) leaves no room") }
    case .accept(let press, let admission):
      let id = press.command.id
      let known = accepted[id]
      let isMoved = isLosing && known != nil && known?.press.origin != press.origin
      if !isMoved, known != nil || verdicts[id] != nil { ownFaults.append("\(id) was accepted twice") }
      if admission == .late || admission == .held { late.insert(id) }
    case .claim(let id, _):
      let count = claimCount(of: id) + 1
      if count > Self.claimsMax { ownFaults.append("\(count) stores wait for the verdict of \(id)") }
    case .judge(let verdict, let press, _):
      if verdicts[verdict.commandID] != nil { ownFaults.append("\(verdict.commandID) was judged twice") }
      if press.arrivedAt - press.pressedAt > lateAfter { late.insert(verdict.commandID) }
      verdicts[verdict.commandID] = verdict
      if verdict.outcome == .applied { judgedNow.append((verdict, press)) }
      account.judge(verdict, press)
      conditions.judge(verdict, press)
    case .forgetVerdicts: ownFaults.append("nothing is that old here")
    case .append(let run, let entry): check(entry, of: run)
    case .keepRecord(let record, _): checkKept(record)
    case .endJournal(let run, _):
      if disk.state.runs.ended[run] != nil { ownFaults.append("\(run) was over twice") }
    case .dateRun(let run, _):
      if disk.state.runs.dates[run] != nil { ownFaults.append("\(run) was dated twice") }
    case .dropJournal(let run):
      if records.removed[run] == nil { ownFaults.append("nothing is that old here") }
      account.forget(run)
    case .setAlias(let alias, let run):
      namesEver[alias] = run
      account.alias(alias, of: run)
    case .settle(let window):
      conditions.settle(window)
      if window.deadline - window.first > windowMax {
        ownFaults.append("a window of \((window.deadline - window.first).seconds) s")
      }
    case .own(let store, let identity):
      if let owner = owners[store], owner != identity, !isKeyOfSameDevice(owner, identity) {
        ownFaults.append("a store went from \(owner) to \(identity)")
      }
    case .setStoreID, .setHub, .setView, .setFailureMark, .setRecordsThrough:
      ownFaults.append("a hub wrote what a peer writes")
    default: break
    }
  }

  private mutating func checkKept(_ record: RunRecord) {
    let run = record.runID
    let present = records.kept[run]?.summary
    let known = max(present?.version ?? 0, records.removed[run] ?? 0)
    if record.summary.version != known + 1 {
      ownFaults.append("\(run): version \(record.summary.version) after \(known)")
    }
    if let date = disk.state.runs.dates[run], date != record.summary.startedAtUnixSeconds {
      ownFaults.append("the record of \(run) has another start than the run had")
    }
    // A version that another one replaces in the same commit is never on the disk.
    keptNow.removeAll { $0.runID == run }
    keptNow.append(record)
    if let present, present.elapsed != record.summary.elapsed {
      ownFaults.append("the record of \(run) is replaced by that of another run")
    }
    if discarded.contains(run) { ownFaults.append("\(run) was discarded and becomes a record") }
    if records.expected[run] == nil { ownFaults.append("\(run) is kept, which nothing expected") }
  }

  /// A record's elapsed time is stop minus start. Its active time is the sum of the stretches in which the run was
  /// running, without those in which the hub was dead.
  private mutating func checkClock(of record: RunRecord) {
    let entries = journal(of: record.runID).filter {
      if case .sample = $0.event { false } else { true }
    }
    var phase = RunPhase.idle
    var (start, stop): (BusTime?, BusTime?)
    var active = BusDuration.zero
    var since = BusTime.zero
    for entry in entries.sorted(by: { ($0.time, $0.position) < ($1.time, $1.position) }) {
      switch entry.event {
      case .transition(let transition):
        guard phase != .completed, let next = Self.step(from: phase, by: transition.kind) else { continue }
        if phase == .running { active += max(.zero, entry.time - since) }
        since = max(since, entry.time)
        if phase == .idle { (start, since) = (entry.time, entry.time) }
        if next == .completed { stop = entry.time }
        phase = next
      case .gap(let span):
        guard phase == .running || phase == .paused else { continue }
        if phase == .running { active += max(.zero, entry.time - since) }
        since = max(since, entry.time + span)
      case .lap, .sample, .setup: break
      }
    }
    guard let start, let stop else { return ownFaults.append("\(record.runID) is kept and was never stopped") }
    if record.summary.elapsed != stop - start {
      ownFaults.append("\(record.runID) lasted \((stop - start).seconds) s, not \(record.summary.elapsed.seconds)")
    }
    if record.summary.active != active, !record.summary.setup.isAutoPauseOn {
      ownFaults.append("\(record.runID) was active for \(active.seconds) s, not \(record.summary.active.seconds)")
    }
  }

  private mutating func check(_ entry: LedgerEntry, of run: RunID) {
    // Positions are unique but not in order: a settlement may be written before samples that wait for their commit.
    if !positions.insert(entry.position).inserted { ownFaults.append("position \(entry.position) was used twice") }
    account.append(entry, to: run)
    switch entry.event {
    case .transition(let transition):
      checkEffect(of: transition.change)
      let past = PastTransition(transition, runID: run, effectiveAt: entry.time)
      checkRun(past)
      if past.revision > revision { make(past) }
    case .lap(let change): checkEffect(of: change)
    case .sample, .gap, .setup: break
    }
  }

  private mutating func checkEffect(of change: Author) {
    if !effects.insert(change.commandID).inserted { ownFaults.append("\(change.commandID) had two effects") }
  }

  /// Checks that a run begins once, and that only the device that stopped it changes it afterwards.
  private mutating func checkRun(_ transition: PastTransition) {
    let run = transition.runID
    if transition.kind == .start, !runs.insert(run).inserted { ownFaults.append("\(run) was started twice") }
    if let stopper = stoppers[run], stopper != transition.change.deviceID {
      ownFaults.append("\(run) was stopped by \(stopper) and is changed by \(transition.change.deviceID)")
    }
    if transition.kind == .stop { stoppers[run] = transition.change.deviceID }
  }

  /// Checks that revisions follow each other without a gap, that each step is legal, and that one run is on at a
  /// time.
  private mutating func make(_ transition: PastTransition) {
    if transition.revision != revision + 1 { ownFaults.append("revision \(transition.revision) after \(revision)") }
    if transition.kind != .start, transition.runID != made.last?.runID {
      ownFaults.append("revision \(transition.revision) changes a run that is not on")
    }
    if let next = Self.step(from: phase, by: transition.kind) {
      phase = next
    } else {
      ownFaults.append("revision \(transition.revision) is no legal step")
    }
    made.append(transition)
  }

  /// The transition that made a revision.
  func made(_ revision: UInt64) -> PastTransition? { revision <= made.count ? made[Int(revision) - 1] : nil }

  static func target(of kind: CommandKind) -> RunPhase? {
    switch kind {
    case .start, .resume: .running
    case .pause: .paused
    case .stop: .completed
    case .lap: nil
    }
  }

  /// The phases of a run, written a second time and independently of RunCore.
  static func step(from phase: RunPhase, by kind: CommandKind) -> RunPhase? {
    switch (phase, kind) {
    case (.idle, .start), (.completed, .start), (.paused, .resume): .running
    case (.running, .pause): .paused
    case (.running, .stop), (.paused, .stop): .completed
    case (.idle, _), (.completed, _), (.paused, _), (.running, _), (.unknown, _): nil
    }
  }
}

extension WorldStore {
  /// Whether a device's key was replaced by another one.
  fileprivate func isKeyOfSameDevice(_ old: ConnectionIdentity, _ new: ConnectionIdentity) -> Bool {
    guard case .key(let old) = old, case .key(let new) = new else { return false }
    return !members.devices.contains { $0.key == old } && members.devices.contains { $0.key == new && !$0.isRevoked }
  }
}
