import Foundation
import RunBus
import RunCore
import Testing

@Suite("Sums, bests and trend of records")
struct RecordStatisticsTests {
  private let calendar = RunCalendar(timeZone: TimeZone(identifier: "Europe/Berlin")!)

  private func run(
    _ day: String, _ hour: Double = 12, meters: Double? = 5000, offset: Int? = nil, bests: [RunBest] = []
  ) -> RecordSummary {
    let start = calendar.range(of: .day, named: day)!.lowerBound + hour * 3600
    return RecordSummary(
      runID: RunID(high: UInt64(start), low: 1), version: 1, deviceID: "watch", hubDeviceID: "phone", appVersion: "",
      startedAtUnixSeconds: start, elapsed: .seconds(1600), active: .seconds(1500), distanceMeters: meters,
      utcOffsetSeconds: offset, bests: bests)
  }

  private func statistics(
    _ runs: [RecordSummary], _ unit: RunCalendar.Unit, now: String = "2026-11-25"
  ) -> RecordStatistics {
    RecordStatistics(
      runs, by: unit, now: calendar.range(of: .day, named: now)!.lowerBound + 43_200, calendar: calendar)
  }

  @Test("Periods without a run are listed between the first run and the present")
  func periods() {
    let weeks = statistics([run("2026-10-28"), run("2026-11-18")], .week)
    #expect(weeks.periods.map(\.period) == ["2026-W44", "2026-W45", "2026-W46", "2026-W47", "2026-W48"])
    #expect(weeks.periods.map(\.count) == [1, 0, 0, 1, 0])
    #expect(statistics([run("2024-12-30")], .year).periods.map(\.period) == ["2024", "2025", "2026"])
    #expect(statistics([run("2026-09-30")], .month).periods.map(\.period) == ["2026-09", "2026-10", "2026-11"])
    // The clock changes on 25 October: the day has 25 hours.
    #expect(statistics([run("2026-10-24")], .day, now: "2026-10-27").periods.count == 4)
    #expect(statistics([], .week).periods.isEmpty && statistics([], .week).trend == nil)
  }

  @Test("A run with a clock that is centuries off does not list centuries")
  func wrongClock() {
    #expect(statistics([run("1970-01-02"), run("2026-11-20")], .day).periods.count == 2)
  }

  @Test("A run belongs to the day of its own clock")
  func offset() {
    // Half past midnight in Berlin is half past six in the evening of the day before in New York.
    let abroad = run("2026-11-20", 0.5, offset: -5 * 3600)
    #expect(statistics([abroad], .day).periods.first?.period == "2026-11-19")
    #expect(calendar.minuteText(calendar.wallClock(abroad)) == "2026-11-19 18:30")
    #expect(statistics([run("2026-11-20", 0.5)], .day).periods.first?.period == "2026-11-20")
  }

  @Test("The trend compares complete periods, counts empty ones, and leaves the present one out")
  func trend() {
    let runs =
      [("2026-09-30", 10_000.0), ("2026-10-07", 10_000), ("2026-10-28", 20_000), ("2026-11-18", 30_000)]
      .map { run($0.0, meters: $0.1) } + [run("2026-11-24", meters: 99_000)]
    // Weeks 40, 41, 44 and 47 have runs; 48 is the present one.
    let trend = statistics(runs, .week).trend
    #expect(trend?.periods == 4 && trend?.metersPerPeriod == 50_000 / 4 && trend?.metersBefore == 20_000 / 4)
    #expect(trend?.change == 1.5)
    #expect(statistics([run("2026-11-24")], .week).trend == nil)
    let two = statistics([run("2026-11-11", meters: 4000), run("2026-11-18", meters: 3000)], .week).trend
    #expect(two?.periods == 1 && two?.change == -0.25)
  }

  @Test("The best of each distance, and the longest run")
  func bests() {
    func best(_ meters: Double, _ seconds: Int64) -> RunBest {
      RunBest(distanceMeters: meters, active: .seconds(seconds), startedAt: .zero)
    }
    let first = run("2026-11-18", bests: [best(1000, 280), best(5000, 1500)])
    let second = run("2026-11-19", meters: 8000, bests: [best(1000, 290), best(5000, 1490)])
    let all = statistics([first, second], .year)
    #expect(all.bests.map(\.activeSeconds) == [280, 1490])
    #expect(all.bests.map(\.runID) == [first.runID, second.runID])
    #expect(all.longest?.distanceMeters == 8000)
  }

  @Test("Names of years are read, and others refused")
  func years() {
    #expect(calendar.name(of: .year, calendar.range(of: .year, named: "2026")!.lowerBound) == "2026")
    for wrong in ["26", "2026-", "2026-1", "x"] { #expect(calendar.range(of: .year, named: wrong) == nil) }
  }
}
