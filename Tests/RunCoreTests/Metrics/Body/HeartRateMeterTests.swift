@testable import RunCore
import Testing

@Suite("Heart rate meter")
struct HeartRateMeterTests {
  private let settings = MetricsSettings()

  /// One reading a second from the start of a run; active time equals time.
  private func meter(_ readings: [Double]) -> HeartRateMeter {
    var meter = HeartRateMeter()
    for (second, bpm) in readings.enumerated() {
      let span = BusDuration.seconds(Int64(second))
      meter.fold(bpm, at: .zero + span, active: span, counts: true, settings: settings)
    }
    return meter
  }
  private func steady(_ bpm: Double, _ seconds: Int) -> [Double] { Array(repeating: bpm, count: seconds) }

  @Test("A spike of some seconds counts neither now nor in the mean nor as the maximum")
  func spike() {
    for spike in [[230.0], [230, 228, 231], [40, 41], [220, 60, 230, 50]] {
      let meter = meter(steady(150, 20) + spike + steady(150, 20))
      #expect(meter.latestBpm == 150)
      #expect(meter.maxBpm(active: .seconds(40)) == 150)
      #expect(meter.averageBpm(active: .seconds(40), settings: settings) == 150)
    }
  }

  @Test("During a spike the last accepted heart rate holds")
  func duringSpike() {
    let meter = meter(steady(150, 20) + [220, 221])
    #expect(meter.latestBpm == 150)
    #expect(meter.takenAt == LedgerBuilder.time(19))
  }

  @Test("A jump is accepted after five seconds of readings that agree")
  func jump() {
    // 90 bpm would take a heart nine seconds at 10 bpm/s; six readings span five seconds.
    #expect(meter(steady(100, 10) + steady(190, 5)).latestBpm == 100)
    #expect(meter(steady(100, 10) + steady(190, 6)).latestBpm == 190)
  }

  @Test("A possible change counts at once: ten beats a minute in one second, forty in four")
  func reachable() {
    #expect(meter([120, 130, 140]).latestBpm == 140)
    #expect(meter([120, 131]).latestBpm == 120)
    var sparse = HeartRateMeter()
    sparse.fold(120, at: .zero, active: .zero, counts: true, settings: settings)
    sparse.fold(160, at: LedgerBuilder.time(4), active: .seconds(4), counts: true, settings: settings)
    #expect(sparse.latestBpm == 160)
  }

  @Test("After a silence or a pause the first reading counts, whatever it is")
  func silence() {
    var meter = HeartRateMeter()
    meter.fold(180, at: .zero, active: .zero, counts: true, settings: settings)
    // Active time stops in a pause, but heart rates go on changing.
    meter.fold(100, at: LedgerBuilder.time(60), active: .seconds(1), counts: true, settings: settings)
    #expect(meter.latestBpm == 100)
    #expect(meter.maxBpm(active: .seconds(1)) == 180)
  }

  @Test("Two readings of one moment may differ by what a second allows")
  func burst() {
    var meter = HeartRateMeter()
    for bpm in [150.0, 156, 162] { meter.fold(bpm, at: .zero, active: .zero, counts: true, settings: settings) }
    #expect(meter.latestBpm == 162)
  }

  @Test("Zero, less than zero, more than 250 and no number are no heart rate")
  func bounds() {
    for bpm in [0, -5, 251, 1000, Double.nan, .infinity] { #expect(meter([bpm]).latestBpm == nil) }
    #expect(meter([250]).latestBpm == 250)
  }

  @Test("The maximum counts active time only")
  func maximum() {
    var meter = HeartRateMeter()
    meter.fold(150, at: .zero, active: .zero, counts: true, settings: settings)
    meter.fold(170, at: LedgerBuilder.time(5), active: .zero, counts: false, settings: settings)
    #expect(meter.latestBpm == 170)
    #expect(meter.maxBpm(active: .zero) == 150)
  }

  // Once broken: A screen showed an average of 118 bpm beside "87 bpm at most", because a reading of a pause held in
  // the mean when the run went on, and never counted for the maximum.
  @Test("A reading of a pause that holds when the run goes on counts for the maximum: the mean is not above it")
  func pauseHolds() throws {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for second in 0...10 { ledger.sample(.heartRate(bpm: 87), at: Double(second)) }
    ledger.press(.pause, at: 10)
    ledger.sample(.heartRate(bpm: 118), at: 40)
    #expect(ledger.metrics(at: 41).maxHeartRateBpm == 87)
    ledger.press(.resume, at: 50)
    // As soon as it has held for some active time.
    #expect(ledger.metrics(at: 50).maxHeartRateBpm == 87)
    #expect(ledger.metrics(at: 51).maxHeartRateBpm == 118)
    ledger.sample(.heartRate(bpm: 90), at: 75)
    let metrics = ledger.metrics(at: 76)
    #expect(try #require(metrics.averageHeartRateBpm) > 100)
    #expect(metrics.maxHeartRateBpm == 118)
  }

  @Test("The mean of a part of the run is the difference of two sums")
  func split() {
    var meter = HeartRateMeter()
    meter.fold(120, at: .zero, active: .zero, counts: true, settings: settings)
    meter.fold(140, at: LedgerBuilder.time(10), active: .seconds(10), counts: true, settings: settings)
    let half = meter.totals(active: .seconds(20), settings: settings)
    #expect(half == HeldMean.Totals(valueSeconds: 120 * 10 + 140 * 10, seconds: 20))
    meter.fold(160, at: LedgerBuilder.time(20), active: .seconds(20), counts: true, settings: settings)
    let second = meter.totals(active: .seconds(30), settings: settings) - half
    #expect(second.mean == 160)
    #expect((half - half).mean == nil)
  }

  @Test("Noise that lasts half a minute is accepted, because its numbers look like a sprint")
  func longBurst() {
    // Accepted after five seconds, and left five seconds late: 30 s at 195 and 60 s at 150.
    let meter = meter(steady(150, 30) + steady(195, 30) + steady(150, 30))
    #expect(meter.averageBpm(active: .seconds(90), settings: settings) == 165)
    #expect(meter.maxBpm(active: .seconds(90)) == 195)
  }
}
