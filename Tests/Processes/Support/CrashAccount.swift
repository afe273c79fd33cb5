import Foundation
import RunBus
import TestSupport

/// What a run lost by the deaths of its phone, compared with the same run without any.
struct CrashAccount {
  /// Transitions and laps that are missing or different.
  private(set) var lostMarks: [String] = []
  /// Readings that should be there and are missing.
  private(set) var missing: [String] = []
  /// Other differences that should not be.
  private(set) var differences: [String] = []

  init(_ run: CrashedRun, against whole: CrashedRun, _ plan: CrashCampaign.Plan) {
    compareMarks(run, whole)
    switch plan.measuring {
    case .watch: compareReadings(run, whole)
    default: checkReadings(run, whole, plan)
    }
    switch (plan.measuring, plan.downtime) {
    case (.watch, .running): compareAll(run, whole)
    case (_, .running), (_, .paused): compareWithGaps(run, whole, plan)
    }
  }

  private mutating func compareMarks(_ run: CrashedRun, _ whole: CrashedRun) {
    if run.marks != whole.marks { lostMarks.append("\(run.marks) instead of \(whole.marks)") }
    for verdict in run.verdicts where verdict["receipt"]?.string != "applied" {
      lostMarks.append("a press of the watch was not applied: \(verdict)")
    }
    if Set(run.verdicts.compactMap { $0["commandId"]?.string }).count != run.verdicts.count {
      lostMarks.append("a verdict was told twice")
    }
  }

  /// Checks that every reading is there once.
  private mutating func compareReadings(_ run: CrashedRun, _ whole: CrashedRun) {
    let difference = run.readings.difference(from: whole.readings)
    for change in difference {
      switch change {
      case .remove(_, let reading, _): missing.append("\(reading)")
      case .insert(_, let reading, _): differences.append("one too many: \(reading)")
      }
    }
  }

  /// Compares all numbers exactly.
  private mutating func compareAll(_ run: CrashedRun, _ whole: CrashedRun) {
    if !run.gaps.isEmpty { differences.append("gaps: \(run.gaps)") }
    let (told, expected) = (run.told, whole.told)
    for key in Set(told.keys).union(expected.keys).sorted() where told[key] != expected[key] {
      differences.append("\(key): \(told[key] ?? .null) instead of \(expected[key] ?? .null)")
    }
  }

  /// With gaps, elapsed time is the same and active time is shorter by the active part of the gaps. If a watch
  /// measured, every fix is in the route.
  private mutating func compareWithGaps(_ run: CrashedRun, _ whole: CrashedRun, _ plan: CrashCampaign.Plan) {
    let same = [
      "revision", "phase", "metrics.elapsedSeconds", "metrics.lapCount", "records", "record.summary.elapsedSeconds",
    ]
    for key in same where run.told[key] != whole.told[key] || run.told[key] == nil {
      differences.append("\(key): \(run.told[key] ?? .null) instead of \(whole.told[key] ?? .null)")
    }
    for key in ["metrics.activeSeconds", "record.summary.activeSeconds"] {
      let (active, undisturbed) = (run.told[key]?.number ?? .nan, whole.told[key]?.number ?? .nan)
      let expected = undisturbed - run.activeDowntime.seconds
      // Both are nanoseconds that were converted to seconds.
      if !(abs(active - expected) < 1e-6) { differences.append("\(key): \(active) instead of \(expected)") }
    }
    for (one, next) in zip(run.gaps, run.gaps.dropFirst()) where one.from + one.length > next.from {
      differences.append("the gap at \(one.from) reaches into the one at \(next.from)")
    }
    guard plan.measuring == .watch else { return }
    if run.record["route"]?.array?.count != run.route.count { differences.append("fixes are missing in the record") }
    func fixes(_ run: CrashedRun) -> [[JSONValue?]] {
      run.route.map { point in ["offsetSeconds", "latitude", "longitude"].map { point[$0] } }
    }
    if fixes(run) != fixes(whole) { differences.append("\(run.route.count) fixes of \(whole.route.count)") }
  }

  // MARK: A phone that measures

  /// Checks that all readings of a phone are there, except those of its last tick before a kill.
  private mutating func checkReadings(_ run: CrashedRun, _ whole: CrashedRun, _ plan: CrashCampaign.Plan) {
    // Under load ticks come late, but a reading that the phone has shown must be there in any case.
    let leeway = BusDuration.seconds(3) + BusDuration.seconds(plan.speed)
    var required: [Range<BusDuration>] = []
    for (index, life) in run.lives.enumerated() {
      var begin = BusDuration.zero
      if index > 0 {
        // A phone that joins a run plays its recording from there on.
        let spawned = run.runTime(at: life.spawnedAt)
        guard let first = run.readings.first(where: { $0.offset >= spawned })?.offset else { continue }
        begin = first
      }
      guard let killedAt = life.killedAt else {
        required.append(begin..<BusDuration(nanoseconds: .max))
        continue
      }
      let end = max(run.runTime(at: killedAt) - leeway, Self.shown(by: life.process) ?? .zero)
      if begin < end { required.append(begin..<end) }
    }
    var left = Dictionary(grouping: run.readings) { $0 }.mapValues(\.count)
    for reading in whole.readings {
      if let count = left[reading], count > 0 {
        left[reading] = count - 1
      } else if required.contains(where: { $0.contains(reading.offset) }) {
        missing.append("\(reading)")
      }
    }
    for (reading, count) in left where count > 0 { differences.append("one too many: \(reading)") }
  }

  /// The moment of the latest fix that a phone has shown, which is durable: a snapshot follows the commit of what it
  /// shows.
  private static func shown(by process: NodeProcess) -> BusDuration? {
    process.snapshots.compactMap { snapshot -> BusDuration? in
      guard let metrics = snapshot["metrics"], let elapsed = metrics["elapsedSeconds"]?.number,
        let age = metrics["ages"]?["positionSeconds"]?.number
      else { return nil }
      return BusDuration(seconds: elapsed - age)
    }.max()
  }
}
