@testable import RunCore
import Testing

@Suite("Elevation meter")
struct ElevationMeterTests {
  private struct Reading {
    let second: Double
    let meters: Double
    var source = AltitudeSource.unstated
    var line: Int? = 0
  }

  private func meter(_ readings: [Reading], settings: MetricsSettings = MetricsSettings()) -> ElevationMeter {
    var meter = ElevationMeter()
    for reading in readings {
      meter.fold(
        reading.meters, reading.source, at: LedgerBuilder.time(reading.second), line: reading.line, settings: settings)
    }
    return meter
  }
  /// The rule without its low-pass filter, so that expected numbers can be calculated by hand.
  private func hysteresis(_ meters: [Double]) -> ElevationMeter {
    var settings = MetricsSettings()
    settings.altitudeSmoothing = .zero
    settings.verticalSpeedMax = 1000
    return meter(meters.enumerated().map { Reading(second: Double($0.offset), meters: $0.element) }, settings: settings)
  }

  @Test("A reading moves the altitude by step / (5 s + step) of the way")
  func smoothing() {
    // 6 m higher after 5 s: 6 · 5 / (5 + 5) = 3.
    let first = meter([Reading(second: 0, meters: 100), Reading(second: 5, meters: 106)])
    #expect(first.altitudeMeters == 103)
    #expect(first.takenAt == LedgerBuilder.time(5))
    // Then 3 m higher after 1 s: 3 · 1 / (5 + 1) = 0.5.
    let second = meter([
      Reading(second: 0, meters: 100), Reading(second: 5, meters: 106), Reading(second: 6, meters: 106),
    ])
    #expect(second.altitudeMeters == 103.5)
  }

  @Test("Without an altitude there is no gain")
  func none() {
    let none = meter([Reading(second: 0, meters: .nan), Reading(second: 1, meters: 20_000)])
    #expect(none.altitudeMeters == nil)
    #expect(none.takenAt == nil)
    #expect(none.gainMeters == nil)
    #expect(none.lossMeters == nil)
  }

  @Test("A climb counts from its lowest point once it exceeds 1.5 m, and continues to count")
  func threshold() {
    #expect(hysteresis([100, 101.4]).gainMeters == 0)
    #expect(hysteresis([100, 101.5]).gainMeters == 1.5)
    #expect(hysteresis([101, 100, 101.5, 102.25]).gainMeters == 2.25)
    // A dip below the threshold is no descent, and its way back is no climb.
    let dip = hysteresis([100, 104, 103, 105])
    #expect(dip.gainMeters == 5)
    #expect(dip.lossMeters == 0)
    // A larger dip is both.
    let valley = hysteresis([100, 104, 102, 105])
    #expect(valley.gainMeters == 7)
    #expect(valley.lossMeters == 2)
  }

  @Test("A rise below the threshold at the end does not count")
  func remainder() {
    let end = hysteresis([100, 110, 104, 105.25])
    #expect(end.gainMeters == 10)
    #expect(end.lossMeters == 6)
  }

  @Test(
    "A long slow climb counts in full, however its altitudes are rounded and spaced",
    arguments: [1.0, 0.2, 0.01], [1, 7, 18])
  func slowClimb(rounding: Double, step: Int) throws {
    let readings = stride(from: 0, through: 3600, by: step).map { second in
      let meters = 100 + 60 * Double(second) / 3600
      return Reading(second: Double(second), meters: (meters / rounding).rounded() * rounding)
    }
    let climb = meter(readings)
    #expect(abs(try #require(climb.gainMeters) - 60) < 0.6)
    #expect(climb.lossMeters == 0)
  }

  @Test("On the flat, altitudes that flicker between two whole metres add no climb")
  func flicker() {
    let flicker = meter((0..<3600).map { Reading(second: Double($0), meters: $0 % 7 < 3 ? 100 : 101) })
    #expect(flicker.gainMeters == 0)
    #expect(flicker.lossMeters == 0)
  }

  @Test("Climbing is limited to a metre a second: a lone spike of 300 m adds no climb")
  func spike() throws {
    let spike = meter((0..<100).map { Reading(second: Double($0), meters: $0 == 50 ? 400 : 100) })
    #expect(spike.gainMeters == 0)
    #expect(spike.lossMeters == 0)
    let cliff = meter([Reading(second: 0, meters: 100), Reading(second: 10, meters: 400)])
    #expect(cliff.altitudeMeters == 110)
  }

  @Test("A pause neither climbs nor descends, and a climb below the threshold continues after it")
  func pause() {
    var settings = MetricsSettings()
    settings.altitudeSmoothing = .zero
    let paused = meter(
      [
        Reading(second: 0, meters: 100), Reading(second: 10, meters: 101), Reading(second: 20, meters: 150, line: nil),
        Reading(second: 30, meters: 180, line: 1), Reading(second: 40, meters: 181, line: 1),
      ], settings: settings)
    #expect(paused.gainMeters == 2)
    #expect(paused.lossMeters == 0)
    #expect(paused.altitudeMeters == 181)
  }

  @Test("A reading in a pause is ignored")
  func takenAt() {
    let paused = meter([Reading(second: 0, meters: 100), Reading(second: 10, meters: 130, line: nil)])
    #expect(paused.altitudeMeters == 100)
    #expect(paused.takenAt == .zero)
  }

  @Test("Satellite altitudes are ignored until a pressure sensor has been silent for a minute")
  func preference() {
    let both = [Reading(second: 0, meters: 100, source: .barometer), Reading(second: 59, meters: 140)]
    #expect(meter(both).takenAt == .zero)
    #expect(meter(both).altitudeMeters == 100)
    // The two sources have different zeros, so the change of source is no climb.
    let silent = meter(both + [Reading(second: 60, meters: 140)])
    #expect(silent.altitudeMeters == 140)
    #expect(silent.gainMeters == 0)
  }
}
