import RunCore

/// The disk of a simulated hub: folds commits to the history that the next incarnation reads.
struct WorldStore {
  let storeID: StoreID
  private(set) var term: UInt64 = 0
  private(set) var accepted: [CommandID: (press: AcceptedCommand, class: Admission, place: Int)] = [:]
  private var claims: [CommandID: [StoreID]] = [:]
  /// Commands that were judged late or as part of a chain.
  private(set) var late: Set<CommandID> = []
  private(set) var records = WorldRecordDisk()
  private(set) var endedJournals: [RunID: BusTime] = [:]
  private(set) var runDates: [RunID: Double] = [:]
  private(set) var verdicts: [CommandID: Verdict] = [:]
  private(set) var transitions: [PastTransition] = []
  private(set) var entries: [(run: RunID, entry: LedgerEntry)] = []
  private(set) var delivery = WorldDelivery()
  private(set) var aliases: [RunID: RunID] = [:]
  private(set) var clock: ClockMark?
  /// Every alias that a run ever had, also of runs that were removed.
  private(set) var namesEver: [RunID: RunID] = [:]
  private var ownFaults: [String] = []
  private var judged: [(verdict: Verdict, press: AcceptedCommand, judgedAt: BusTime)] = []
  private var windows: [SettledWindow] = []
  private(set) var devices: [DeviceID: KnownDevice] = [:]
  private(set) var owners: [StoreID: ConnectionIdentity] = [:]
  /// The paired devices.
  package var members = MemberHistory()
  private var commandsWithEffect: Set<CommandID> = []
  private var positions: Set<UInt64> = []
  private var place = 0
  private let windowMax: BusDuration
  /// Whether this world loses a store: then commands come again by other streams.
  private let isLosing: Bool
  private let lateAfter: BusDuration

  /// A session number contains the term, in 31 bits.
  private static let termMax: UInt64 = 1 << 31
  private static let claimsMax = 8

  init(storeID: StoreID, isLosing: Bool, lateAfter: BusDuration, window: BusDuration) {
    (self.storeID, self.isLosing, self.lateAfter) = (storeID, isLosing, lateAfter)
    windowMax = max(.seconds(2), window)
    account = WorldAccount(clockMargin: max(window, lateAfter))
  }

  var hasFaults: Bool {
    !ownFaults.isEmpty || !account.faults.isEmpty || !delivery.faults.isEmpty || !records.faults.isEmpty
  }
  var faults: [String] { ownFaults + account.faults + delivery.faults + records.faults }
  /// How many stores besides the first wait for the verdict of a command.
  func claimCount(of id: CommandID) -> Int { claims[id]?.count ?? 0 }

  var lastRecordChange: UInt64 { records.lastChange }
  var revision: UInt64 { made.last?.revision ?? 0 }
  /// Transitions that made revisions, in order. The others amended runs that were over, or belong to whole runs.
  private(set) var made: [PastTransition] = []
  private(set) var discarded: Set<RunID> = []
  private var unanswered: [RunID: BusTime] = [:]
  private var phase = RunPhase.idle
  private var runs: Set<RunID> = []
  private var stoppers: [RunID: DeviceID] = [:]
  /// Laps that were marked.
  private(set) var laps: Set<CommandID> = []
  private var account: WorldAccount
  /// Presses that the commit applies.
  private var judgedNow: [(verdict: Verdict, press: AcceptedCommand)] = []
  /// Records of the commit that is being written.
  private var keptNow: [RunRecord] = []

  mutating func commit(_ operations: [StoreOperation], bootID: String, wallSeconds: Double) {
    account.begin(present: made.last?.runID)
    defer { endCommit() }
    for operation in operations {
      if case .setClock(let real, let bus) = operation {
        clock = ClockMark(real: real, bus: bus, bootID: bootID, wallSeconds: wallSeconds)
      } else {
        apply(operation)
      }
    }
  }

  private mutating func endCommit() {
    // The question about a run may have been answered in this commit, by a press that was behind it.
    for (verdict, press) in judgedNow {
      guard let run = verdict.runID, let since = unanswered[run], press.pressedAt > since else { continue }
      ownFaults.append("\(verdict.commandID) was judged before the question about its run was answered")
    }
    judgedNow = []
    account.end()
    // If entries arrived while the journal was read, a next version is expected; only a final record is checked.
    for record in keptNow where records.expected[record.runID] == nil && records.removed[record.runID] == nil {
      checkClock(of: record)
    }
    keptNow = []
  }

  private mutating func apply(_ operation: StoreOperation) {
    switch operation {
    case .setTerm(let term):
      if term <= self.term { ownFaults.append("term \(term) after \(self.term)") }
      if term >= Self.termMax { ownFaults.append("term \(term) leaves no room") }
      self.term = term
    case .accept(let press, let admission):
      let id = press.command.id
      let isMoved = isLosing && accepted[id] != nil && accepted[id]?.press.origin != press.origin
      if !isMoved, accepted[id] != nil || verdicts[id] != nil { ownFaults.append("\(id) was accepted twice") }
      place += 1
      accepted[id] = (press, admission, accepted[id]?.place ?? place)
      if admission == .late || admission == .held { late.insert(id) }
    case .claim(let id, let store):
      claims[id, default: []].append(store)
      let count = claims[id]?.count ?? 0
      if count > Self.claimsMax { ownFaults.append("\(count) stores wait for the verdict of \(id)") }
    case .reclassify(let id, let admission): accepted[id]?.class = admission
    case .judge(let verdict, let press, let judgedAt):
      if verdicts[verdict.commandID] != nil { ownFaults.append("\(verdict.commandID) was judged twice") }
      // A command that is accepted and judged in one commit has no row.
      accepted[verdict.commandID] = nil
      claims[verdict.commandID] = nil
      if press.arrivedAt - press.pressedAt > lateAfter { late.insert(verdict.commandID) }
      verdicts[verdict.commandID] = verdict
      judged.append((verdict, press, judgedAt))
      if verdict.outcome == .applied { judgedNow.append((verdict, press)) }
      account.judge(verdict, press)
    case .forgetVerdicts: ownFaults.append("nothing is that old here")
    case .append(let run, let entry): append(entry, to: run)
    case .keepRecord(let record, _):
      let known = max(records.records[record.runID]?.summary.version ?? 0, records.removed[record.runID] ?? 0)
      if record.summary.version != known + 1 {
        ownFaults.append("\(record.runID): version \(record.summary.version) after \(known)")
      }
      if let date = runDates[record.runID], date != record.summary.startedAtUnixSeconds {
        ownFaults.append("the record of \(record.runID) has another start than the run had")
      }
      // A version that another one replaces in the same commit is never on the disk.
      keptNow.removeAll { $0.runID == record.runID }
      keptNow.append(record)
      if let known = records.records[record.runID]?.summary, known.elapsed != record.summary.elapsed {
        ownFaults.append("the record of \(record.runID) is replaced by that of another run")
      }
      if discarded.contains(record.runID) { ownFaults.append("\(record.runID) was discarded and becomes a record") }
      if records.expected[record.runID] == nil { ownFaults.append("\(record.runID) is kept, which nothing expected") }
      _ = records.apply(operation)
    case .endJournal(let run, let moment):
      if endedJournals[run] != nil { ownFaults.append("\(run) was over twice") }
      endedJournals[run] = moment
    case .dateRun(let run, let wallSeconds):
      if runDates[run] != nil { ownFaults.append("\(run) was dated twice") }
      runDates[run] = wallSeconds
    case .dropJournal(let run):
      if records.removed[run] == nil { ownFaults.append("nothing is that old here") }
      endedJournals[run] = nil
      runDates[run] = nil
      aliases = aliases.filter { $0.value != run }
      account.forget(run)
      entries.removeAll { if case .transition = $0.entry.event { false } else { $0.run == run } }
    case .discard(let run): discarded.insert(run)
    case .setUnanswered(let run, let since): unanswered[run] = since
    case .setAlias(let alias, let run):
      aliases[alias] = run
      namesEver[alias] = run
      account.alias(alias, of: run)
    case .settle(let window):
      if window.deadline - window.first > windowMax {
        ownFaults.append("a window of \((window.deadline - window.first).seconds) s")
      }
      windows.append(window)
    case .meet(let device): devices[device.deviceID] = device
    case .own(let store, let identity):
      if let owner = owners[store], owner != identity, !isKeyOfSameDevice(owner, identity) {
        ownFaults.append("a store went from \(owner) to \(identity)")
      }
      owners[store] = identity
    case .disown(let store): owners[store] = nil
    case .pair(let device):
      members.devices.removeAll { $0.key == device.key }
      members.devices.append(device)
    case .unpair(let key): members.devices.removeAll { $0.key == key }
    case .setMemberVersion(let version, let heard): (members.version, members.versionHeard) = (version, heard)
    case .forgetDevice(let device):
      devices[device] = nil
      delivery.apply(operation)
    case .setStoreID, .setHub, .setView, .setFailureMark, .setRecordsThrough:
      ownFaults.append("a hub wrote what a peer writes")
    default: if !records.apply(operation) { delivery.apply(operation) }
    }
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

  private mutating func append(_ entry: LedgerEntry, to run: RunID) {
    // Positions are unique but not in order: a settlement may be written before samples that wait for their commit.
    if !positions.insert(entry.position).inserted { ownFaults.append("position \(entry.position) was used twice") }
    entries.append((run, entry))
    account.append(entry, to: run)
    switch entry.event {
    case .transition(let transition):
      if !commandsWithEffect.insert(transition.change.commandID).inserted {
        ownFaults.append("\(transition.change.commandID) had two effects")
      }
      let past = PastTransition(
        kind: transition.kind, revision: transition.revision, change: transition.change, runID: run,
        effectiveAt: entry.time)
      transitions.append(past)
      checkRun(past)
      if past.revision > revision { make(past) }
    case .lap(let change):
      if !commandsWithEffect.insert(change.commandID).inserted {
        ownFaults.append("\(change.commandID) had two effects")
      }
      laps.insert(change.commandID)
    case .sample, .gap, .setup: break
    }
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

  func journal(of run: RunID) -> [LedgerEntry] {
    entries.filter { $0.run == run }.map(\.entry).sorted { $0.position < $1.position }
  }

  var history: HubHistory {
    var history = HubHistory()
    history.term = term
    history.transitions = transitions
    history.windows = windows
    history.accepted = accepted.values.sorted { $0.place < $1.place }.map { ($0.press, $0.class) }
    history.claims = claims
    history.verdicts = judged
    history.delivery = delivery.history
    records.fill(&history)
    history.endedJournals = endedJournals
    history.runDates = runDates
    history.devices = devices.values.sorted { $0.deviceID < $1.deviceID }
    history.storeOwners = owners
    history.members = members
    history.aliases = aliases
    if let run = history.presentRun { history.journal = journal(of: run) }
    history.lastPosition = positions.max() ?? 0
    history.clock = clock
    history.discarded = discarded
    history.unanswered = unanswered
    return history
  }
}

extension WorldStore {
  /// Whether a device's key was replaced by another one.
  fileprivate func isKeyOfSameDevice(_ old: ConnectionIdentity, _ new: ConnectionIdentity) -> Bool {
    guard case .key(let old) = old, case .key(let new) = new else { return false }
    return !members.devices.contains { $0.key == old } && members.devices.contains { $0.key == new && !$0.isRevoked }
  }
}
