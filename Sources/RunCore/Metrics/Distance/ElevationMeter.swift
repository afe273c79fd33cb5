/// The altitude, and the metres climbed and descended.
///
/// Altitudes are noisy, and every rise of the noise would count. So they go through a first-order low-pass that moves no
/// faster than a runner can climb, and a change of direction counts once it exceeds a threshold (hysteresis, as Strava
/// documents for its own figure). A climb that has exceeded it counts from its lowest point on and goes on counting; what
/// is left below it at the end never counts. What is gained or lost in a pause is neither: the line goes on from where
/// it resumes.
struct ElevationMeter: Hashable, Sendable {
  /// The smoothed altitude; `nil` while there is none.
  var altitudeMeters: Double? { level?.meters }
  /// When the latest altitude that counts was taken.
  var takenAt: BusTime? { level?.time }
  /// The sums; `nil` while there is no altitude.
  var gainMeters: Double? { level == nil ? nil : gain }
  /// Positive.
  var lossMeters: Double? { level == nil ? nil : loss }

  private var gain = 0.0
  private var loss = 0.0
  private var level: Level?
  private var barometerHeardAt: BusTime?
  private var trend = Trend.unknown
  /// The lowest and highest smoothed altitudes since the last turn; which of them matters, the trend says.
  private var low = 0.0
  private var high = 0.0

  private enum Trend: Hashable { case unknown, up, down }

  /// The smoothed altitude and where it comes from.
  private struct Level: Hashable {
    var meters: Double
    let time: BusTime
    let line: Int
    let source: AltitudeSource
  }

  /// Takes one altitude; `line` is `nil` while the run does not run.
  mutating func fold(
    _ meters: Double, _ source: AltitudeSource, at time: BusTime, line: Int?, settings: MetricsSettings
  ) {
    // Deeper than the Dead Sea or higher than Everest is no altitude of a runner.
    guard let line, meters >= -1000, meters <= 10_000 else { return }
    switch source {
    case .barometer: barometerHeardAt = time
    case .gps, .unstated:
      if let heard = barometerHeardAt, time - heard < settings.barometerSilence { return }
    }
    guard var next = level else {
      level = Level(meters: meters, time: time, line: line, source: source)
      (low, high) = (meters, meters)
      return
    }
    if next.line == line, next.source == source {
      guard time > next.time else { return }
      let step = (time - next.time).seconds
      // The implicit form of the low-pass: stable for any step, and without a transcendental function.
      let change = (meters - next.meters) * step / (settings.altitudeSmoothing.seconds + step)
      let changeMax = settings.verticalSpeedMax * step
      next.meters += min(max(change, -changeMax), changeMax)
    } else {
      let shift = meters - next.meters
      low += shift
      high += shift
      next.meters = meters
    }
    level = Level(meters: next.meters, time: time, line: line, source: source)
    turn(to: next.meters, threshold: settings.threshold(of: source))
  }

  private mutating func turn(to meters: Double, threshold: Double) {
    switch trend {
    case .unknown:
      low = min(low, meters)
      high = max(high, meters)
      if meters - low >= threshold {
        rise(from: low, to: meters)
      } else if high - meters >= threshold {
        fall(from: high, to: meters)
      }
    case .up:
      if meters > high {
        rise(from: high, to: meters)
      } else if high - meters >= threshold {
        fall(from: high, to: meters)
      }
    case .down:
      if meters < low { fall(from: low, to: meters) } else if meters - low >= threshold { rise(from: low, to: meters) }
    }
  }
  private mutating func rise(from: Double, to meters: Double) {
    gain += meters - from
    high = meters
    trend = .up
  }
  private mutating func fall(from: Double, to meters: Double) {
    loss += from - meters
    low = meters
    trend = .down
  }
}

extension MetricsSettings {
  fileprivate func threshold(of source: AltitudeSource) -> Double {
    switch source {
    case .gps: gpsElevationMetersThreshold
    case .unstated: recordedElevationMetersThreshold
    case .barometer: barometerElevationMetersThreshold
    }
  }
}
