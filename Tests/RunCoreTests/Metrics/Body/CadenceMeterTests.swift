@testable import RunCore
import Testing

@Suite("Cadence meter")
struct CadenceMeterTests {
  private let settings = MetricsSettings()

  /// Readings at seconds of active time.
  private func meter(_ readings: [(second: Int64, stepsPerMinute: Double)]) -> CadenceMeter {
    var meter = CadenceMeter()
    for reading in readings {
      let span = BusDuration.seconds(reading.second)
      meter.fold(reading.stepsPerMinute, at: .zero + span, active: span, settings: settings)
    }
    return meter
  }

  @Test("The mean covers the time in which the runner stepped; zeros are shown but left out of the mean")
  func mean() {
    let walk = [(second: Int64(0), stepsPerMinute: 160.0), (10, 0), (20, 180)]
    let meter = meter(walk)
    #expect(meter.latestStepsPerMinute == 180)
    // 10 s of 160, 10 s standing, 30 s of 180: (1600 + 5400) / 40.
    #expect(meter.averageStepsPerMinute(active: .seconds(50), settings: settings) == 175)
    #expect(self.meter([walk[0], walk[1]]).latestStepsPerMinute == 0)
    #expect(self.meter([walk[1]]).averageStepsPerMinute(active: .seconds(50), settings: settings) == nil)
  }

  @Test("A cadence holds until the next one, half a minute at most")
  func hold() {
    let meter = meter([(second: 0, stepsPerMinute: 160), (300, 180)])
    #expect(meter.totals(active: .seconds(310), settings: settings).seconds == 40)
    #expect(meter.averageStepsPerMinute(active: .seconds(330), settings: settings) == 170)
  }

  @Test("Impossible cadences are ignored")
  func bounds() {
    for nonsense in [-1, 301, Double.nan, .infinity] {
      let meter = meter([(second: 0, stepsPerMinute: 170), (10, nonsense)])
      #expect(meter.latestStepsPerMinute == 170)
      #expect(meter.takenAt == .zero)
    }
    #expect(meter([]).latestStepsPerMinute == nil)
  }
}
