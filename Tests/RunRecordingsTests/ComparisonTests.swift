import RunBus
import RunRecordings
import Testing

@Suite("Our numbers compared with the device's")
struct ComparisonTests {
  private func split(_ number: Int, _ meters: Double, _ span: ClosedRange<Int64>, isComplete: Bool = true) -> Split {
    Split(
      number: number, distanceMeters: meters, active: .seconds(span.upperBound - span.lowerBound),
      startedAt: .seconds(span.lowerBound), endedAt: .seconds(span.upperBound), isComplete: isComplete)
  }
  private func lap(_ meters: Double, _ seconds: Double, at start: Int64?) -> RecordedLap {
    var lap = RecordedLap()
    lap.distanceMeters = meters
    lap.timerSeconds = seconds
    lap.startedAt = start.map { .seconds($0) }
    return lap
  }
  private func run(
    laps: [Split] = [], kilometers: [Split] = [], recorded: [RecordedLap]?, metrics: RunMetrics = RunMetrics()
  ) -> MeasuredRun {
    var summary = RecordedSummary()
    summary.laps = recorded ?? []
    return MeasuredRun(
      report: RunReport(metrics: metrics, kilometers: kilometers, laps: laps), route: [],
      recorded: recorded == nil ? nil : summary)
  }

  @Test("A difference is our value minus the device's; if one is missing there is none")
  func values() {
    let value = ComparedValue(ours: 102, recorded: 100)
    #expect(value.difference == 2)
    #expect(value.percent == 2)
    #expect(ComparedValue(ours: nil, recorded: 100).difference == nil)
    #expect(ComparedValue(ours: 3, recorded: nil).percent == nil)
    #expect(ComparedValue(ours: 3, recorded: 0).difference == 3)
    #expect(ComparedValue(ours: 3, recorded: 0).percent == nil)
  }

  @Test("A recording without figures gives no comparison")
  func nothing() { #expect(Comparison(run(recorded: nil)) == nil) }

  @Test("Energy is compared in joules; a kilocalorie of a device is 4184 J")
  func energy() throws {
    var summary = RecordedSummary()
    summary.energyKilocalories = 100
    let metrics = RunMetrics(energyJoules: 418_400)
    let run = MeasuredRun(report: RunReport(metrics: metrics), route: [], recorded: summary)
    let comparison = try #require(Comparison(run))
    #expect(comparison.energyJoules == ComparedValue(ours: 418_400, recorded: 418_400))
  }

  @Test("Laps are matched by their marks; a lap that we do not have has none of our numbers")
  func laps() throws {
    let ours = [split(1, 500, 0...100), split(2, 900, 100...300), split(3, 100, 300...330, isComplete: false)]
    let device = [lap(505, 101, at: 0), lap(450, 99, at: 100), lap(440, 100, at: 200), lap(90, 31, at: 300)]
    let comparison = try #require(Comparison(run(laps: ours, recorded: device)))
    #expect(comparison.laps.map(\.number) == [1, 2, 3, 4])
    #expect(comparison.laps.map(\.activeSeconds.ours) == [100, nil, nil, 30])
    #expect(comparison.laps.map(\.distanceMeters.difference) == [-5, nil, nil, 10])
    #expect(comparison.splitUnit == nil)
    #expect(try #require(Comparison(run(recorded: [lap(505, 101, at: 0)]))).laps.isEmpty)
  }

  @Test("Laps of one kilometre are compared with our kilometres, up to the first of another length")
  func splits() throws {
    let ours = (1...4).map {
      split($0, $0 == 4 ? 700 : 1000, Int64($0 - 1) * 300...Int64($0) * 300, isComplete: $0 < 4)
    }
    let device = [lap(1000, 301, at: 0), lap(1004, 299, at: 301), lap(400, 120, at: 600), lap(1000, 305, at: 720)]
    let comparison = try #require(Comparison(run(kilometers: ours, recorded: device)))
    #expect(comparison.splitUnit == .kilometer)
    #expect(comparison.splits.map(\.activeSeconds.difference) == [-1, 1])
    let mile = try #require(Comparison(run(recorded: [lap(1609.34, 600, at: 0), lap(300, 120, at: 600)])))
    #expect(mile.splitUnit == .mile)
    #expect(mile.splits.isEmpty)
  }
}
