@testable import RunCore
import Testing

/// A millilitre of oxygen releases 5 cal of 4.184 J: 20.92 J.
private let joulesPerMilliliter = 20.92

@Suite("Energy meter")
struct EnergyMeterTests {
  private var settings = MetricsSettings()

  init() { settings.weightKilograms = 70 }

  /// Folds one stretch for each second.
  private func fold(
    _ meter: inout EnergyMeter, seconds: Range<Int>, speed: Double?, line: Int = 0, activity: MotionActivity = .running,
    cadence: Double? = nil, altitude: (Double) -> Double? = { _ in nil }
  ) {
    for second in seconds {
      meter.fold(
        meters: speed, seconds: 1, line: line, altitudeMeters: altitude(Double(second + 1)), activity: activity,
        cadenceStepsPerMinute: cadence, settings: settings)
    }
  }
  /// Oxygen uptake of one minute in ml/kg; the minute before it has set the grade.
  private func uptake(
    speed: Double?, activity: MotionActivity = .running, cadence: Double? = nil,
    altitude: (Double) -> Double? = { _ in nil }
  ) -> Double? {
    var meter = EnergyMeter()
    fold(&meter, seconds: 0..<60, speed: speed, activity: activity, cadence: cadence, altitude: altitude)
    guard let before = meter.joulesPerKilogram else { return nil }
    fold(&meter, seconds: 60..<120, speed: speed, activity: activity, cadence: cadence, altitude: altitude)
    return meter.joulesPerKilogram.map { ($0 - before) / joulesPerMilliliter }
  }
  private func isNear(_ value: Double?, _ expected: Double) -> Bool { value.map { abs($0 - expected) < 1e-6 } ?? false }

  @Test("Ten minutes at 3 m/s on the level cost 578,438 J to a runner of 70 kg")
  func levelRun() {
    var meter = EnergyMeter()
    fold(&meter, seconds: 0..<600, speed: 3)
    // 0.2 · 180 m/min + 3.5 = 39.5 ml/kg/min; · 10 min · 20.92 J/ml = 8263.4 J/kg; · 70 kg.
    #expect(isNear(meter.joulesPerKilogram, 8263.4))
    #expect(isNear(meter.joules(settings: settings), 578_438))
  }

  @Test("Without a weight or without a stretch there is no energy")
  func weight() {
    var meter = EnergyMeter()
    #expect(meter.joules(settings: settings) == nil)
    fold(&meter, seconds: 0..<60, speed: 3)
    #expect(meter.joules(settings: MetricsSettings()) == nil)
  }

  @Test("Walking and running on level and rising ground follow their equations")
  func equations() {
    // 90 m/min: 0.1 · 90 + 3.5.
    #expect(isNear(uptake(speed: 1.5, activity: .walking), 12.5))
    // … and 1.8 · 90 · 0.1 more at 10 %.
    #expect(isNear(uptake(speed: 1.5, activity: .walking, altitude: { 100 + 0.15 * $0 }), 12.5 + 16.2))
    // 180 m/min: 0.2 · 180 + 3.5, and 0.9 · 180 · 0.05 more at 5 %.
    #expect(isNear(uptake(speed: 3), 39.5))
    #expect(isNear(uptake(speed: 3, altitude: { 100 + 0.15 * $0 }), 39.5 + 8.1))
  }

  @Test("Downhill costs what level ground costs")
  func downhill() {
    #expect(isNear(uptake(speed: 3, altitude: { 100 - 0.3 * $0 }), 39.5))
  }

  @Test("A cliff in the altitudes counts as a grade of 45 %, for as long as it lies in the window of 50 m")
  func cliff() {
    var meter = EnergyMeter()
    fold(&meter, seconds: 0..<100, speed: 5) { $0 <= 50 ? 100 : 1100 }
    var level = EnergyMeter()
    fold(&level, seconds: 0..<100, speed: 5) { _ in 100 }
    let extra = (meter.joulesPerKilogram ?? 0) - (level.joulesPerKilogram ?? 0)
    // 0.9 ml/kg for each metre climbed, at a grade of 45 % over the 50 m in which the window contains the cliff.
    #expect(isNear(extra / joulesPerMilliliter, 0.9 * 0.45 * 50))
  }

  @Test("No climb is counted from one line to the next, nor over unknown ground")
  func lines() {
    var meter = EnergyMeter()
    fold(&meter, seconds: 0..<60, speed: 3) { _ in 100 }
    fold(&meter, seconds: 60..<120, speed: 3, line: 1) { _ in 130 }
    #expect(isNear(meter.joulesPerKilogram, 2 * 39.5 * joulesPerMilliliter))
    fold(&meter, seconds: 120..<121, speed: nil, line: 1)
    fold(&meter, seconds: 121..<181, speed: 3, line: 1) { _ in 160 }
    // The second without a distance counts as running, 8 METs: 28 ml/kg/min.
    #expect(isNear(meter.joulesPerKilogram, (3 * 39.5 + 28.0 / 60) * joulesPerMilliliter))
  }

  @Test("Where the activity is unknown, 2.1 m/s and more is running, as where it is inferred")
  func unknownActivity() {
    #expect(isNear(uptake(speed: 2, activity: .unknown), 0.1 * 120 + 3.5))
    #expect(isNear(uptake(speed: 2.1, activity: .unknown), 0.2 * 126 + 3.5))
  }

  @Test("One noisy step does not make a walk a run")
  func noisyStep() {
    var meter = EnergyMeter()
    fold(&meter, seconds: 0..<60, speed: 1.5, activity: .unknown)
    let before = meter.joulesPerKilogram ?? 0
    fold(&meter, seconds: 60..<61, speed: 4, activity: .unknown)
    // 240 m/min for a second: (0.1 · 240 + 3.5) / 60.
    #expect(isNear((meter.joulesPerKilogram ?? 0) - before, 27.5 / 60 * joulesPerMilliliter))
  }

  @Test("Without a distance the Compendium's equivalents are used, by activity, else by cadence")
  func equivalents() {
    // 8, 3.8 and 1.3 times 3.5 ml/kg/min.
    #expect(isNear(uptake(speed: nil, activity: .running), 28))
    #expect(isNear(uptake(speed: nil, activity: .walking), 13.3))
    #expect(isNear(uptake(speed: nil, activity: .stationary), 4.55))
    #expect(isNear(uptake(speed: nil, activity: .unknown, cadence: 140), 28))
    #expect(isNear(uptake(speed: nil, activity: .unknown, cadence: 139), 13.3))
    #expect(isNear(uptake(speed: nil, activity: .unknown, cadence: 0), 4.55))
    #expect(uptake(speed: nil, activity: .unknown) == nil)
  }

  @Test("Standing costs what the Compendium gives for standing")
  func standing() {
    #expect(isNear(uptake(speed: 0, activity: .unknown), 4.55))
    #expect(isNear(uptake(speed: 3, activity: .stationary), 4.55))
  }

  @Test("On level ground long stretches cost the same as short ones")
  func stretches() {
    var long = EnergyMeter()
    for _ in 0..<20 {
      long.fold(
        meters: 54, seconds: 18, line: 0, altitudeMeters: 100, activity: .unknown, cadenceStepsPerMinute: nil,
        settings: settings)
    }
    var short = EnergyMeter()
    fold(&short, seconds: 0..<360, speed: 3, activity: .unknown) { _ in 100 }
    #expect(isNear(long.joulesPerKilogram, short.joulesPerKilogram ?? 0))
  }

  @Test("Impossible values change nothing")
  func nonsense() {
    var meter = EnergyMeter()
    for seconds in [0, -1, Double.nan, .infinity] {
      meter.fold(
        meters: 3, seconds: seconds, line: 0, altitudeMeters: nil, activity: .running, cadenceStepsPerMinute: nil,
        settings: settings)
    }
    #expect(meter.joulesPerKilogram == nil)
  }
}
