/// The run that a hub shows: its ledger and route, the readings that come in, the snapshots that go out, and what becomes
/// of it after the hub has died.
///
/// `present`, `intake`, `marks` and `display` are its private parts: no file outside this folder names them
/// (`scripts/check-imports`).
struct HubRun: Sendable {
  /// What it has of the hub's settings.
  struct Rules: Sendable {
    /// The name of the hub's device.
    let deviceID: DeviceID
    /// The bus clock.
    let clock: BusClock
    /// How the metrics are computed.
    let metrics: MetricsSettings
    /// Once a run's ledger holds this many entries, further readings are dropped.
    let ledgerEntriesMax: Int
    /// The most readings that one incarnation accepts of a run that is over.
    let pastReadingsMax: Int
    /// Whether the time without a hub counts as active in a run that goes on.
    let downtime: Downtime
  }

  let rules: Rules
  /// The ledger of the present run, and which parts of its route are published.
  var present: PresentRun
  /// The readings that wait for their commit.
  var intake = SampleIntake()
  /// How far each stream of readings was received.
  var marks: StreamMarks
  /// What is published, and when.
  var display: Display
  /// A run that was on when the hub died, until its recovery is decided.
  private(set) var unfinished: UnfinishedRun?

  typealias Turn = HubCore.Turn
  typealias Durable = HubCore.Durable

  /// The run from what the store kept.
  ///
  /// - Parameter control: what is known of the runs.
  init(_ history: HubHistory, rules: Rules, live: LivePolicy, control: ControlState, now: BusTime) {
    self.rules = rules
    display = Display(live)
    marks = StreamMarks(history.delivery.watermarks.filter { $0.key.kind == .samples })
    present = PresentRun(
      metrics: rules.metrics.unchosen, entries: history.journal, lastPosition: history.lastPosition)
    guard let diedAt = UnfinishedRun.death(of: history, control: control, ledger: present.ledger, now: now) else {
      return
    }
    let judgedFirst = history.accepted.filter { $0.class == .window || $0.class == .next }
    unfinished = UnfinishedRun(
      diedAt: diedAt, backAt: now, stage: .settling(Set(judgedFirst.map(\.press.command.id))))
    if control.runOn != nil { present.stopClock(at: diedAt) }
  }

  /// Everything that happened in the present run, or else in the last one.
  var ledger: RunLedger { _read { yield present.ledger } }
  /// The last published snapshot.
  var published: Snapshot? { display.published }
  /// What a lock screen of the hub itself shows; `nil` before the first push.
  var lockScreen: LivePush? { display.lockScreen }
  /// Whether a snapshot is captured whose commit is not durable yet.
  var isPublishing: Bool { display.isPublishing }
  /// The tick of the last snapshot that was captured.
  var lastTick: UInt64 { display.lastTick }
  /// When the next snapshot on schedule is due; `nil` while there is no schedule.
  var nextTick: BusTime? { display.nextTick }
  /// When gathered readings are to be committed.
  var intakeDeadline: BusTime? { intake.deadline }
  /// When there is something to do.
  var deadline: BusTime? { BusTime.earliest(display.deadline, intake.deadline) }
  /// Whether readings wait for the next commit.
  var hasReadings: Bool { intake.isPending }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] { marks.check() }

  // MARK: Commands

  /// A command waits for its verdict, and lock screens show that.
  mutating func show(waiting id: CommandID, _ kind: CommandKind) { display.accept(id, kind) }

  /// A command has its verdict.
  mutating func show(judged id: CommandID) { display.judge(id) }

  /// What a settlement made of the run.
  struct Change {
    /// The writes of the entries.
    var operations: [StoreOperation] = []
    /// Whether the run that is shown has new entries.
    var isVisible = false
    /// Whether a transition is among them.
    var hasTransition = false
  }

  /// Enters what a settlement decided into the ledgers.
  ///
  /// - Parameter shown: the run that is shown after the settlement.
  mutating func enter(_ settlement: Settlement, shown: RunID?) -> Change {
    var change = Change()
    for line in settlement.lines {
      let entry = present.entry(at: line.time, line.event)
      change.operations.append(.append(line.runID, entry))
      if case .transition(let transition) = line.event, transition.kind == .start, line.runID == shown {
        present.begin()
        if let setup = setupEntry(at: line.time) {
          change.operations.append(.append(line.runID, setup))
          present.insert(setup)
        }
        // The start was accepted in the last incarnation: the time without a hub does not count for the run.
        if let unfinished, case .settling = unfinished.stage { present.stopClock(at: unfinished.diedAt) }
      }
      if line.runID == shown {
        present.insert(entry)
        change.isVisible = true
        if case .transition = line.event { change.hasTransition = true }
      }
    }
    return change
  }

  /// The ledger entry with the setup that the runner chose for a new run; `nil` for the default setup.
  private mutating func setupEntry(at time: BusTime) -> LedgerEntry? {
    guard rules.metrics.setup != RunSetup() else { return nil }
    return present.entry(at: time, .setup(rules.metrics.setup))
  }

  // MARK: Questions

  /// A report on the run.
  mutating func report(at now: BusTime) -> RunReport {
    present.foldAll()
    return ledger.report(at: now)
  }

  /// How a run stands between two moments, for a room; `nil` when the runner was in no run then that is known here.
  ///
  /// A run that was started by hand before the room's start counts from the room's start on.
  ///
  /// - Parameters:
  ///   - isShown: Whether the run is the present one.
  ///   - from: When the room's run started.
  ///   - end: When it ends at the latest.
  mutating func standing(
    of run: RunID, isShown: Bool, from began: BusTime, to end: BusTime, at now: BusTime
  ) -> RunStanding? {
    present.foldAll()
    guard let started = ledger.startedAt, isShown || started <= began else { return nil }
    let ended = min(end, ledger.stoppedAt ?? now)
    guard ended > began else { return nil }
    let (first, last) = (ledger.report(asOf: max(began, started)), ledger.report(asOf: ended))
    func metres(_ report: RunReport) -> Double { report.metrics.distanceMeters ?? 0 }
    let distance = last.metrics.distanceMeters.map { max(0, $0 - metres(first)) }
    var parts: [RoomRecord.Part] = []
    for source in DistanceSource.allCases {
      func metres(_ report: RunReport) -> Double {
        report.stretches.filter { $0.source == source }.reduce(0) { $0 + $1.meters }
      }
      let metres = metres(last) - metres(first)
      if metres >= 1 { parts.append(RoomRecord.Part(source: source, metres: Int(metres.rounded()))) }
    }
    return RunStanding(
      run: run, phase: ledger.phase(at: ended), elapsed: max(.zero, ended - began),
      decimetres: distance.map { Int(($0 * 10).rounded()) },
      paceSecondsPerKilometre: last.metrics.currentPaceSecondsPerKilometer.flatMap { Int(exactly: $0.rounded()) }
        .flatMap { RoomLive.paceBounds.contains($0) ? $0 : nil }, parts: parts)
  }

  /// A part of its route, from a point on.
  mutating func routePart(of run: RunID, term: UInt64, from: Int) -> RoutePart {
    present.foldAll()
    return present.routePart(of: run, term: term, from: max(0, from))
  }

  /// Its numbers over time.
  mutating func series(of run: RunID, at now: BusTime) -> RunSeries {
    present.foldAll()
    return present.series(of: run, at: now)
  }

  /// Removes everything that was measured in the run. The time line stays.
  mutating func erase() { present.erase() }
}

// How the recovery goes on. The hub decides it (`HubRecovery`).
extension HubRun {
  /// Whether a decision about the run is awaited.
  var isAsking: Bool { if case .asking = unfinished?.stage { true } else { false } }

  /// Whether presses of the last incarnation are judged first.
  var isSettling: Bool { if case .settling = unfinished?.stage { true } else { false } }

  /// Whether the stop of the run is pressed.
  var isStopping: Bool { if case .stopping = unfinished?.stage { true } else { false } }

  /// A decision about the run is awaited.
  mutating func ask(about run: RunID, since now: BusTime) { unfinished?.stage = .asking(run, since: now) }

  /// The stop of the run is pressed.
  mutating func beginStop(of run: RunID) { unfinished?.stage = .stopping(run) }

  /// The recovery is over.
  mutating func endRecovery() {
    unfinished = nil
    present.releaseClock()
  }

  /// Lets the run go on from a moment, and returns the write for the gap before it in which the hub was dead.
  ///
  /// - Parameter run: the run that is on.
  mutating func goOn(_ run: RunID?, from moment: BusTime) -> [StoreOperation] {
    guard let diedAt = unfinished?.diedAt else { return [] }
    endRecovery()
    // A paused run gets the gap as well, because a resume that was pressed during it may still arrive.
    guard rules.downtime == .paused, diedAt < moment, let run else { return [] }
    let entry = present.entry(at: diedAt, .gap(moment - diedAt))
    present.insert(entry)
    return [.append(run, entry)]
  }

  /// Ends the recovery if the run is over or another one has begun.
  ///
  /// - Returns: the writes for that; `nil` if the recovery goes on.
  mutating func leaveRecovery(_ control: ControlState) -> [StoreOperation]? {
    let (run, wasAsked): (RunID, Bool)
    switch unfinished?.stage {
    case nil, .settling: return nil
    case .asking(let asked, _): (run, wasAsked) = (asked, true)
    case .stopping(let stopped): (run, wasAsked) = (stopped, false)
    }
    guard control.isOver(run) else { return nil }
    endRecovery()
    return wasAsked ? [.setUnanswered(run, since: nil)] : []
  }

  /// What was decided about the run.
  func report(_ outcome: RunRecovery.Outcome, of run: RunID, at now: BusTime) -> RunRecovery {
    RunRecovery(runID: run, outcome: outcome, downtime: now - (unfinished?.diedAt ?? now))
  }
}
