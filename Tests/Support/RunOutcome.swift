package import RunBus

/// The outcome of a ``JournalledRun``, and how it differs from that of a run whose hub never died.
package struct RunOutcome: Sendable {
  /// The lap that was pressed on the hub itself.
  package static let ownLap = CommandID(high: 5, low: 1)
  /// How often a hub commits its own readings.
  private static let tick = BusDuration.seconds(3)

  private struct Mark: Hashable {
    let kind: CommandKind
    let revision: UInt64?
    let command: CommandID
    let time: BusTime
  }
  private struct Reading: Hashable {
    let time: BusTime
    let value: SampleValue
    let device: DeviceID
  }
  private struct Told: Hashable {
    let kind: CommandKind
    let outcome: Outcome
    let revision: UInt64
    let effectiveAt: BusTime?
  }

  /// The watch's presses, in order.
  package internal(set) var pressed: [CommandID] = []
  /// When the hub died, in bus time.
  package internal(set) var deaths: [BusTime] = []
  /// When the hub was back, in bus time, in the order of ``deaths``.
  package internal(set) var backs: [BusTime] = []
  /// For each death, whether the run's start was durable by then.
  var knewOfRun: [Bool] = []
  /// Violations that no run may contain.
  package internal(set) var faults: [String] = []
  /// The metrics that the hub showed last.
  package private(set) var metrics = RunMetrics()
  /// The downtime that the ledger leaves out.
  package private(set) var gaps: [Range<BusTime>] = []
  var isOwnLapPromised = false
  private var marks: [Mark] = []
  private var readings: [Reading] = []
  private var verdicts: [CommandID: Told] = [:]
  private var shown: Snapshot?

  init() {}

  mutating func see(_ snapshot: Snapshot) {
    if let last = shown {
      if snapshot.order <= last.order { faults.append("\(snapshot.order) was shown after \(last.order)") }
      if snapshot.capturedAt < last.capturedAt { faults.append("run time went back at \(snapshot.order)") }
      if snapshot.phase.isOn, last.phase.isOn, snapshot.metrics.elapsed < last.metrics.elapsed {
        faults.append("elapsed time went back at \(snapshot.order)")
      }
    }
    let metrics = snapshot.metrics
    if metrics.active < .zero || metrics.active > metrics.elapsed {
      faults.append("\(metrics.active) of \(metrics.elapsed) are active at \(snapshot.order)")
    }
    shown = snapshot
  }

  mutating func hear(_ verdict: Verdict) {
    let told = Told(
      kind: verdict.kind, outcome: verdict.outcome, revision: verdict.revision, effectiveAt: verdict.effectiveAt)
    if let before = verdicts.updateValue(told, forKey: verdict.commandID), before != told {
      faults.append("\(verdict.kind): \(before), then \(told)")
    }
  }

  mutating func read(_ history: HubHistory, metrics: RunMetrics) {
    self.metrics = metrics
    if !history.accepted.isEmpty { faults.append("\(history.accepted.count) presses were not judged") }
    for entry in history.journal.sorted(by: LedgerEntry.precedes) {
      switch entry.event {
      case .transition(let transition):
        marks.append(
          Mark(
            kind: transition.kind, revision: transition.revision, command: transition.change.commandID,
            time: entry.time))
      case .lap(let change):
        marks.append(Mark(kind: .lap, revision: nil, command: change.commandID, time: entry.time))
      case .sample(let value, let device): readings.append(Reading(time: entry.time, value: value, device: device))
      case .gap(let length): gaps.append(entry.time..<entry.time + length)
      case .setup: break
      }
    }
    if Set(readings).count != readings.count { faults.append("a reading is there twice") }
    let kept = history.records.map { [$0.elapsed, $0.active] }
    if kept != [[metrics.elapsed, metrics.active]] {
      faults.append("the records \(kept) of a run of \(metrics.elapsed), \(metrics.active) active")
    }
    if !history.expectedRecords.isEmpty { faults.append("a record is still to come") }
    if metrics.active != expectedActive { faults.append("active \(metrics.active) instead of \(expectedActive)") }
  }

  /// The time during which the run was running and the hub alive.
  private var expectedActive: BusDuration {
    var (total, from) = (BusDuration.zero, BusTime?.none)
    for mark in marks where mark.revision != nil {
      if let start = from {
        var at = start
        for gap in gaps.sorted(by: { $0.lowerBound < $1.lowerBound }) where gap.upperBound > at {
          total += max(.zero, min(gap.lowerBound, mark.time) - at)
          at = max(at, min(gap.upperBound, mark.time))
        }
        total += max(.zero, mark.time - at)
      }
      from = mark.kind == .start || mark.kind == .resume ? mark.time : nil
    }
    return total
  }

  /// The verdicts of the watch's presses, in press order, without times.
  package var judgements: [String] {
    pressed.map { id in verdicts[id].map { "\($0.kind) \($0.outcome) \($0.revision)" } ?? "none" }
  }

  // MARK: Against a run without a death

  /// Violated promises besides ``faults``. A death may cost at most one tick of the hub's own readings, what the hub
  /// could not measure while it was dead, and the downtime.
  package func losses(against whole: RunOutcome, downtime: Downtime) -> [String] {
    var losses: [String] = []
    func peers(_ outcome: RunOutcome) -> [Mark] { outcome.marks.filter { $0.command != Self.ownLap } }
    if peers(self) != peers(whole) { losses.append("transitions \(peers(self)) instead of \(peers(whole))") }
    if verdicts != whole.verdicts { losses.append("verdicts \(verdicts) instead of \(whole.verdicts)") }
    // The hub's own lap: it must be there if the hub was told that it was kept.
    let ownLaps = marks.filter { $0.command == Self.ownLap }
    let expectedLaps = whole.marks.filter { $0.command == Self.ownLap }
    if isOwnLapPromised ? ownLaps != expectedLaps : ownLaps.count > 1 {
      losses.append("its own lap: \(ownLaps)")
    }
    let (there, expected) = (Set(readings), Set(whole.readings))
    if !there.isSubset(of: expected) { losses.append("readings that were not taken: \(there.subtracting(expected))") }
    let away = Array(zip(deaths, backs))
    for reading in expected.subtracting(there).sorted(by: { $0.time < $1.time }) {
      let isExcused =
        reading.device == DeviceID("phone")
        && away.contains { $0.0 - Self.tick < reading.time && reading.time <= $0.1 }
      if !isExcused { losses.append("\(reading) is missing") }
    }
    switch downtime {
    case .running:
      if !gaps.isEmpty { losses.append("gaps \(gaps)") }
      if metrics.active != whole.metrics.active { losses.append("active \(metrics.active)") }
    case .paused: losses += checkGaps(away)
    }
    if metrics.elapsed != whole.metrics.elapsed { losses.append("elapsed \(metrics.elapsed)") }
    return losses
  }

  /// Checks that each gap reaches from at most a tick before a death to the moment when the hub was back, that none
  /// is counted twice, and that none is missing while the run was on.
  private func checkGaps(_ away: [(BusTime, BusTime)]) -> [String] {
    var losses: [String] = []
    let gaps = gaps.sorted { $0.lowerBound < $1.lowerBound }
    for (one, next) in zip(gaps, gaps.dropFirst()) where one.upperBound > next.lowerBound {
      losses.append("the gap \(one) reaches into \(next)")
    }
    for gap in gaps {
      let fits = away.contains {
        $0.0 - Self.tick <= gap.lowerBound && gap.lowerBound <= $0.0 && $0.0 <= gap.upperBound
      }
      if !fits || !away.contains(where: { $0.1 == gap.upperBound }) { losses.append("the gap \(gap) of \(away)") }
    }
    guard let start = marks.first?.time, let stop = marks.last?.time else { return losses + ["no run"] }
    for ((death, back), knew) in zip(away, knewOfRun) where knew && start < death && back < stop && death < back {
      // Two consecutive deaths may share a gap or have one each.
      var at = death
      for gap in gaps where gap.lowerBound <= at && at < gap.upperBound { at = gap.upperBound }
      if at < back { losses.append("no gap from \(at) to \(back)") }
    }
    return losses
  }
}
