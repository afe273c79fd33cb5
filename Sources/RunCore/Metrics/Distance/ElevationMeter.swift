/// The altitude, and the metres climbed and descended.
///
/// Altitudes are noisy, and without filters each rise of the noise would count as a climb. So they go through a
/// first-order low-pass filter that moves no faster than a runner can climb, and a change of direction counts only when
/// it reaches a threshold (hysteresis, as Strava documents for its own figure). From then on a climb counts from its
/// lowest point. A last rise below the threshold never counts. Neither does a change of altitude during a pause, or one
/// from one altitude source to another.
struct ElevationMeter: Hashable, Sendable {
  /// The smoothed altitude; `nil` while there is none.
  var altitudeMeters: Double? { level?.meters }
  /// When the latest accepted altitude was taken.
  var takenAt: BusTime? { level?.time }
  /// Metres climbed; `nil` while there is no altitude.
  var gainMeters: Double? { level == nil ? nil : gain }
  /// Metres descended, positive; `nil` while there is no altitude.
  var lossMeters: Double? { level == nil ? nil : loss }

  private var gain = 0.0
  private var loss = 0.0
  private var level: Level?
  private var barometerHeardAt: BusTime?
  private var trend = Trend.unknown
  /// The lowest and the highest smoothed altitude since the last change of direction. Only `high` is used while the
  /// trend is up, only `low` while it is down.
  private var low = 0.0
  private var high = 0.0

  private enum Trend: Hashable { case unknown, up, down }

  /// The smoothed altitude, with the line and the source of its latest reading.
  private struct Level: Hashable {
    var meters: Double
    let time: BusTime
    let line: Int
    let source: AltitudeSource
  }

  /// Receives one altitude; `line` is `nil` while the run is not running.
  mutating func fold(
    _ meters: Double, _ source: AltitudeSource, at time: BusTime, line: Int?, settings: MetricsSettings
  ) {
    // An altitude below the Dead Sea or above Mount Everest is an error.
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
      // The implicit form of the low-pass filter is stable for any step and needs no transcendental function.
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
