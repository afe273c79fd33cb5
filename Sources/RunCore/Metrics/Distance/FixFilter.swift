/// Decides for each fix whether it counts towards the distance, and gives the reason when it does not.
///
/// A fix counts when its accuracy is known to be good or is not stated, the run is running, the activity is not another
/// than walking or running, and it lies no further away than a runner gets. One that counts after the start, a pause, a
/// gap or a fix that did not count only anchors: no line is drawn from what is not known.
struct FixFilter: Hashable, Sendable {
  /// A fix that counted.
  struct Fix: Hashable, Sendable {
    let position: Position
    let time: BusTime
  }

  /// The latest fix of the leading receiver.
  private(set) var latestAt: BusTime?
  /// Its accuracy in metres; `nil` when unknown or invalid.
  private(set) var accuracyMeters: Double?
  /// What the next fix is measured from; `nil` when it can only anchor.
  private(set) var anchor: Fix?
  private var receiver: DeviceID?
  private var line: Int?

  /// A fix's verdict and, when it counts with a line to it, the metres from the one before.
  struct Judgement: Hashable {
    let verdict: FixVerdict
    var stepMeters: Double?
  }

  /// Judges a fix; `nil` when its coordinates do not exist.
  ///
  /// - Parameters:
  ///   - line: the number of the line that its moment belongs to; `nil` when the clock stands.
  ///   - isAutoPaused: why the clock stands.
  ///   - activity: what the runner does. Standing that is only inferred keeps the anchor: the path goes on from there.
  mutating func judge(
    _ position: Position, from device: DeviceID, at time: BusTime, line: Int?, isAutoPaused: Bool,
    activity: ActivityMeter, settings: MetricsSettings
  ) -> Judgement? {
    guard position.isOnEarth else { return nil }
    if let latestAt, let receiver {
      let silence = time - latestAt
      // Two fixes of one moment give no speed, and recordings repeat points at lap boundaries.
      if device == receiver, silence <= .zero { return Judgement(verdict: .repeated) }
      if device != receiver {
        guard silence >= settings.positionTakeover else { return Judgement(verdict: .otherReceiver) }
        anchor = nil
      }
    }
    latestAt = time
    receiver = device
    accuracyMeters = position.horizontalAccuracyMeters.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }

    guard let line else { return refuse(isAutoPaused ? .autoPaused : .notRunning) }
    if line != self.line {
      anchor = nil
      self.line = line
    }
    guard position.isValid else { return refuse(.invalid) }
    guard position.isAccurate(within: settings.accuracyMetersLimit) else { return refuse(.inaccurate) }
    if activity.isStanding {
      return activity.isInferred ? Judgement(verdict: .stationary) : refuse(.stationary)
    }
    guard let anchor else {
      self.anchor = Fix(position: position, time: time)
      return Judgement(verdict: .anchored)
    }
    let step = Geodesic.distanceMeters(
      fromLatitude: anchor.position.latitude, longitude: anchor.position.longitude, toLatitude: position.latitude,
      longitude: position.longitude)
    guard step <= settings.stepSpeedMax * (time - anchor.time).seconds else { return refuse(.impossibleSpeed) }
    self.anchor = Fix(position: position, time: time)
    return Judgement(verdict: .counted, stepMeters: step)
  }

  private mutating func refuse(_ verdict: FixVerdict) -> Judgement {
    anchor = nil
    return Judgement(verdict: verdict)
  }
}

extension Position {
  /// The coordinates are numbers that exist.
  var isOnEarth: Bool { abs(latitude) <= 90 && abs(longitude) <= 180 }
  /// The receiver does not call it invalid: a negative accuracy does, and one that is no number says nothing good.
  var isValid: Bool { horizontalAccuracyMeters.map { $0 >= 0 } ?? true }
  /// Better than a limit; not stated (a recording) counts.
  func isAccurate(within limit: Double) -> Bool { horizontalAccuracyMeters.map { $0 < limit } ?? true }
}
