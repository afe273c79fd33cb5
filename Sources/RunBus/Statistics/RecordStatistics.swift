import Foundation
import RunCore

/// The runs of a period, added up; a line of `records stats --json`. A sum is `nil` when none of the runs has the value.
package struct RecordSum: Hashable, Sendable {
  /// `2026-11-21`, `2026-W47`, `2026-11` or `2026`.
  package var period: String
  /// How many runs started in it.
  package var count: Int
  package var activeSeconds: Double
  package var elapsedSeconds: Double
  package var distanceMeters: Double?
  /// Active time over distance of the runs that have a distance.
  package var averagePaceSecondsPerKilometer: Double?
  package var elevationGainMeters: Double?
  package var energyJoules: Double?

  /// Adds up runs.
  package init(period: String, _ summaries: [RecordSummary]) {
    func sum(_ values: [Double?]) -> Double? {
      let known = values.compactMap { $0 }
      // JSON has no infinite numbers.
      let sum = known.reduce(0, +)
      return known.isEmpty || !sum.isFinite ? nil : sum
    }
    let measured = summaries.filter { $0.distanceMeters != nil }
    let seconds = measured.reduce(0) { $0 + $1.active.seconds }
    self.period = period
    count = summaries.count
    activeSeconds = summaries.reduce(0) { $0 + $1.active.seconds }
    elapsedSeconds = summaries.reduce(0) { $0 + $1.elapsed.seconds }
    distanceMeters = sum(measured.map(\.distanceMeters))
    averagePaceSecondsPerKilometer = distanceMeters.flatMap { $0 >= 1 ? seconds / $0 * 1000 : nil }
    elevationGainMeters = sum(summaries.map(\.elevationGainMeters))
    energyJoules = sum(summaries.map(\.energyJoules))
  }
}

/// The best of all runs over a distance; with `distanceMeters` beyond the known distances, the longest run.
package struct PersonalBest: Hashable, Sendable {
  /// The distance, metres.
  package var distanceMeters: Double
  /// Active time for it.
  package var activeSeconds: Double
  package var runID: RunID
  package var startedAtUnixSeconds: Double
}

/// How the distance of recent periods compares with that of those before. The present period is not over and does not
/// count; a period without a run counts as zero.
package struct RecordTrend: Hashable, Sendable {
  /// How many periods are compared with as many before; fewer when there are fewer.
  package static let periodsMax = 4
  /// The mean distance of the last complete periods, metres.
  package var metersPerPeriod: Double
  /// How many periods that mean is of.
  package var periods: Int
  /// The mean of as many periods before; `nil` when there are not as many.
  package var metersBefore: Double?

  /// How much more the last periods have, as a share: 0.12 is 12 % more; `nil` without a distance to compare with.
  package var change: Double? { metersBefore.flatMap { $0 > 0 ? metersPerPeriod / $0 - 1 : nil } }
}

/// Sums, bests and trend of the runs that are kept. `Encodable` as the page's server gives it out.
package struct RecordStatistics: Sendable {
  /// The period by which runs are grouped.
  package let unit: RunCalendar.Unit
  /// The periods from the first run to the present, also those without a run.
  package let periods: [RecordSum]
  /// The fastest 1 km, 5 km, 10 km, half marathon and marathon of all runs.
  package let bests: [PersonalBest]
  /// The longest run.
  package let longest: PersonalBest?
  /// The trend; `nil` before the second complete period.
  package let trend: RecordTrend?

  /// The most periods that are listed: beyond them only those with runs are. A run with a wrong clock may be centuries
  /// away.
  private static let periodsMax = 4000

  /// Groups runs. Records that are likely of one run count once.
  ///
  /// - Parameters:
  ///   - now: The present, seconds since 1970.
  ///   - calendar: Days and weeks by the wall clock of each run where its UTC offset is known, else by the calendar's.
  package init(
    _ summaries: [RecordSummary], by unit: RunCalendar.Unit, now: Double, calendar: RunCalendar = RunCalendar()
  ) {
    let doubles = RecordDoubles(summaries)
    let summaries = summaries.filter { doubles.original(of: $0.runID) == nil }
    self.unit = unit
    let groups = Dictionary(grouping: summaries) { calendar.name(of: unit, calendar.wallClock($0)) }
    let present = calendar.name(of: unit, now)
    let names = Self.names(groups, unit, present, calendar)
    periods = names.map { RecordSum(period: $0, groups[$0] ?? []) }
    bests = RunBest.distances.compactMap { distance in
      summaries.compactMap { summary in
        summary.bests.first { $0.distanceMeters == distance }.map {
          PersonalBest(
            distanceMeters: distance, activeSeconds: $0.active.seconds, runID: summary.runID,
            startedAtUnixSeconds: summary.startedAtUnixSeconds)
        }
      }.min { $0.activeSeconds < $1.activeSeconds }
    }
    longest = summaries.compactMap { summary in
      summary.distanceMeters.map {
        PersonalBest(
          distanceMeters: $0, activeSeconds: summary.active.seconds, runID: summary.runID,
          startedAtUnixSeconds: summary.startedAtUnixSeconds)
      }
    }.max { $0.distanceMeters < $1.distanceMeters }
    trend = Self.trend(periods.filter { $0.period < present })
  }

  private static func names(
    _ groups: [String: [RecordSummary]], _ unit: RunCalendar.Unit, _ present: String, _ calendar: RunCalendar
  ) -> [String] {
    let with = groups.keys.sorted()
    guard let first = with.first, var range = calendar.range(of: unit, named: first) else { return with }
    var names: Set<String> = Set(with)
    let last = max(present, with.last ?? present)
    while names.count <= periodsMax {
      let name = calendar.name(of: unit, range.lowerBound)
      guard name <= last else { break }
      names.insert(name)
      // The middle of the next period, whatever a change of the clock does to its length.
      let next = calendar.name(of: unit, range.upperBound + 1)
      guard next > name, let following = calendar.range(of: unit, named: next) else { break }
      range = following
    }
    return names.count > periodsMax ? with : names.sorted()
  }

  private static func trend(_ complete: [RecordSum]) -> RecordTrend? {
    let count = min(RecordTrend.periodsMax, max(1, complete.count / 2))
    guard complete.count >= 2 else { return nil }
    func mean(_ sums: some Collection<RecordSum>) -> Double {
      sums.reduce(0) { $0 + ($1.distanceMeters ?? 0) } / Double(sums.count)
    }
    let last = complete.suffix(count)
    let before = complete.dropLast(count).suffix(count)
    return RecordTrend(
      metersPerPeriod: mean(last), periods: count, metersBefore: before.count == count ? mean(before) : nil)
  }
}

extension RecordSum: Encodable {
  private enum CodingKeys: String, CodingKey {
    case period, count, activeSeconds, elapsedSeconds, distanceMeters, averagePaceSecondsPerKilometer,
      elevationGainMeters, energyJoules
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(period, .period)
    try container.write(count, .count)
    try container.write(activeSeconds, .activeSeconds)
    try container.write(elapsedSeconds, .elapsedSeconds)
    try container.write(number: distanceMeters, .distanceMeters)
    try container.write(number: averagePaceSecondsPerKilometer, .averagePaceSecondsPerKilometer)
    try container.write(number: elevationGainMeters, .elevationGainMeters)
    try container.write(number: energyJoules, .energyJoules)
  }
}

extension PersonalBest: Encodable {
  private enum CodingKeys: String, CodingKey { case distanceMeters, activeSeconds, runId, startedAtUnixSeconds }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(distanceMeters, .distanceMeters)
    try container.write(activeSeconds, .activeSeconds)
    try container.write(runID, .runId)
    try container.write(startedAtUnixSeconds, .startedAtUnixSeconds)
  }
}

extension RecordTrend: Encodable {
  private enum CodingKeys: String, CodingKey { case distanceMetersPerPeriod, periods, distanceMetersPerPeriodBefore }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(metersPerPeriod, .distanceMetersPerPeriod)
    try container.write(periods, .periods)
    try container.write(metersBefore, .distanceMetersPerPeriodBefore)
  }
}

extension RecordStatistics: Encodable {
  private enum CodingKeys: String, CodingKey { case by, periods, bests, longest, trend }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(unit.rawValue, .by)
    try container.write(periods, .periods)
    try container.write(bests, .bests)
    try container.write(longest, .longest)
    try container.write(trend, .trend)
  }
}
