import RunCore
import Testing

@Suite("Heart rate, cadence, elevation")
struct CalculatorBodyTests {
  @Test("Mean and maximum heart rate count active time only, the mean weighted by time")
  func heartRate() {
    var ledger = LedgerBuilder()
    ledger.sample(.heartRate(bpm: 250), at: 0)
    ledger.press(.start, at: 10)
    ledger.sample(.heartRate(bpm: 100), at: 10)
    ledger.sample(.heartRate(bpm: 160), at: 20)
    ledger.press(.pause, at: 40)
    ledger.sample(.heartRate(bpm: 200), at: 50)
    #expect(ledger.metrics(at: 50).heartRateBpm == 200)
    #expect(ledger.metrics(at: 50).averageHeartRateBpm == 140)
    #expect(ledger.metrics(at: 50).maxHeartRateBpm == 160)
    ledger.press(.resume, at: 60)
    ledger.sample(.heartRate(bpm: 140), at: 60)
    ledger.press(.stop, at: 70)
    ledger.sample(.heartRate(bpm: 90), at: 71)
    #expect(ledger.metrics(at: 100).averageHeartRateBpm == 140)
    #expect(ledger.metrics(at: 100).heartRateBpm == 140)
  }

  @Test("A heart rate holds for half a minute at most; after that it is missing, not zero")
  func hold() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    #expect(ledger.metrics(at: 5).averageHeartRateBpm == nil)
    ledger.sample(.heartRate(bpm: 100), at: 0)
    ledger.sample(.heartRate(bpm: 160), at: 600)
    ledger.press(.stop, at: 630)
    #expect(ledger.metrics(at: 700).averageHeartRateBpm == 130)
  }

  @Test("Zero, which a strap sends without contact, and impossible values are no heart rate")
  func noHeartRate() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for bpm in [0, -5, 1000, Double.nan, .infinity] { ledger.sample(.heartRate(bpm: bpm), at: 5) }
    #expect(ledger.metrics(at: 10).heartRateBpm == nil)
    #expect(ledger.metrics(at: 10).maxHeartRateBpm == nil)
  }

  @Test("Cadence is the latest one, zero included")
  func cadence() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.sample(.cadence(stepsPerMinute: 170), at: 1)
    ledger.sample(.cadence(stepsPerMinute: .nan), at: 2)
    #expect(ledger.metrics(at: 10).cadenceStepsPerMinute == 170)
    ledger.sample(.cadence(stepsPerMinute: 0), at: 3)
    #expect(ledger.metrics(at: 10).cadenceStepsPerMinute == 0)
  }

  /// Altitudes every second along a line through the given points (second, metres).
  private func climb(
    _ points: [(Int, Double)], _ source: AltitudeSource = .barometer, noise: Double = 0,
    _ extra: (inout LedgerBuilder) -> Void = { _ in }
  ) -> (gain: Double?, loss: Double?) {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for (from, to) in zip(points, points.dropFirst()) {
      for second in from.0..<to.0 {
        let meters = from.1 + (to.1 - from.1) * Double(second - from.0) / Double(to.0 - from.0)
        ledger.sample(
          .altitude(meters: meters + (second.isMultiple(of: 2) ? noise : -noise), source), at: Double(second))
      }
    }
    extra(&ledger)
    let metrics = ledger.metrics(at: 10_000)
    return (metrics.elevationGainMeters, metrics.elevationLossMeters)
  }

  @Test("A hill is climbed once and descended once; noise below the threshold is neither")
  func hill() throws {
    let hill = climb([(0, 100), (200, 150), (400, 120), (500, 120)], noise: 0.5)
    #expect(abs(try #require(hill.gain) - 50) < 2)
    #expect(abs(try #require(hill.loss) - 30) < 2)
    let flat = climb([(0, 100), (3600, 100)], .gps, noise: 3)
    #expect(flat.gain == 0)
    #expect(flat.loss == 0)
    #expect(climb([]).gain == nil)
  }

  @Test("A rise in a pause is not climbed")
  func lift() throws {
    let lifted = climb([(0, 100), (100, 120), (200, 180), (300, 200), (400, 200)]) {
      $0.press(.pause, at: 100)
      $0.press(.resume, at: 200)
    }
    #expect(abs(try #require(lifted.gain) - 40) < 3)
    #expect(lifted.loss == 0)
  }

  @Test("While a pressure sensor sends, satellite altitudes, which have another zero, are ignored")
  func twoSources() throws {
    let both = climb([(0, 100), (200, 150), (300, 150)]) { ledger in
      for second in 0..<300 { ledger.sample(.altitude(meters: 180, .gps), at: Double(second) + 0.5) }
    }
    #expect(abs(try #require(both.gain) - 50) < 2)
    #expect(both.loss == 0)
  }

  @Test("The runner's settings are in the ledger, so every fold gives the same numbers")
  func setup() {
    var chosen = MetricsSettings()
    chosen.weightKilograms = 70
    chosen.isAutoPauseOn = true
    func told(_ setup: RunSetup?) -> LedgerBuilder {
      var ledger = LedgerBuilder()
      if let setup { ledger.add(0, .setup(setup)) }
      ledger.press(.start, at: 0)
      ledger.run(from: 0, through: 60)
      ledger.sample(.motion(.stationary), at: 60.5)
      for second in 61...90 { ledger.fix(180, at: Double(second)) }
      return ledger
    }
    let metrics = told(nil).metrics(at: 90, settings: chosen)
    #expect(metrics.energyJoules != nil && metrics.isAutoPaused)
    #expect(told(chosen.setup).metrics(at: 90) == metrics)
    #expect(told(RunSetup()).metrics(at: 90, settings: chosen) == told(nil).metrics(at: 90))
  }
}
