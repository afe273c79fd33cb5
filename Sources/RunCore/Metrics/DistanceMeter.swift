/// Metres covered: the sum of the geodesics between consecutive fixes that count (design, section 7).
///
/// A fix counts when its accuracy is known to be good or is not stated, the run is running, and the activity is not
/// known to be another than walking or running. The first one that counts after the start, a pause, a gap or a fix
/// that did not count only anchors: no line is drawn from what is not known.
struct DistanceMeter: Hashable, Sendable {
  /// What a fix did.
  enum Effect: Hashable {
    /// It was a repetition, from a second receiver, or nonsense.
    case ignored
    /// It did not count, and the next one has nothing to be measured from.
    case refused
    /// It counts and begins a new track.
    case anchored
    /// It counts and lengthened the track.
    case moved
  }

  /// The sum; `nil` while no fix has counted.
  private(set) var meters: Double?
  /// The accuracy of the latest fix, counted or not; `nil` when unknown or invalid.
  private(set) var accuracyMeters: Double?
  private var anchor: Anchor?
  private var latest: Latest?

  private struct Anchor: Hashable {
    let position: Position
    let time: BusTime
    let line: Int
  }
  private struct Latest: Hashable {
    let device: DeviceID
    let time: BusTime
  }

  /// Takes one fix; `line` is `nil` while the run does not run.
  mutating func fold(
    _ position: Position, from device: DeviceID, at time: BusTime, line: Int?, activity: Activity,
    settings: MetricsSettings
  ) -> Effect {
    guard position.isOnEarth else { return .ignored }
    if let latest {
      let silence = time - latest.time
      // Two fixes of one moment give no speed, and recordings repeat points at lap boundaries.
      guard device == latest.device ? silence > .zero : silence >= settings.positionTakeover else { return .ignored }
      if device != latest.device { anchor = nil }
    }
    latest = Latest(device: device, time: time)
    accuracyMeters = position.horizontalAccuracyMeters.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }

    guard let line, activity.isOnFoot, position.isAccurate(within: settings.accuracyMetersLimit) else {
      anchor = nil
      return .refused
    }
    let fix = Anchor(position: position, time: time, line: line)
    guard let anchor, anchor.line == line else {
      self.anchor = fix
      meters = meters ?? 0
      return .anchored
    }
    let step = Geodesic.distanceMeters(
      fromLatitude: anchor.position.latitude, longitude: anchor.position.longitude, toLatitude: position.latitude,
      longitude: position.longitude)
    guard step <= settings.stepSpeedMax * (time - anchor.time).seconds else {
      self.anchor = nil
      return .refused
    }
    self.anchor = fix
    meters = (meters ?? 0) + step
    return .moved
  }
}

extension Activity {
  /// Distance counts. Without a motion sensor (unknown) the fixes alone decide.
  fileprivate var isOnFoot: Bool {
    switch self {
    case .walking, .running, .unknown: true
    case .stationary: false
    }
  }
}

extension Position {
  /// The coordinates are numbers that exist.
  fileprivate var isOnEarth: Bool { abs(latitude) <= 90 && abs(longitude) <= 180 }
  /// Better than a limit; not stated (a recording) counts, negative is invalid.
  fileprivate func isAccurate(within limit: Double) -> Bool {
    guard let horizontalAccuracyMeters else { return true }
    return horizontalAccuracyMeters >= 0 && horizontalAccuracyMeters < limit
  }
}
