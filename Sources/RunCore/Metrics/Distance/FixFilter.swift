/// Decides for each fix whether it counts towards the distance, and gives the reason when it does not.
///
/// A fix counts when its accuracy is good or not stated, the run is running, the runner is not standing, and it is no
/// further from the last counted fix than a runner can get. The first counted fix after the start, a pause, a gap or a
/// fix that did not count is only an anchor: the path before it is unknown and adds no distance.
///
/// Many receivers and exports repeat a position until they have the next one. Such a *hold* is no news: the anchor stays
/// as it is, and the time for the next step counts from the anchor's first fix. After
/// ``MetricsSettings/positionHoldMax`` the repetition means that the runner stands, or that the receiver has lost the
/// way; time counts from the last repetition then.
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
  /// The fix from which the next step is measured; `nil` when the next fix can only be an anchor.
  private(set) var anchor: Fix?
  /// When the anchor's position was first given.
  private var since = BusTime.zero
  /// The last fix at which the runner was still there.
  private var stayedTo = BusTime.zero
  private var receiver: DeviceID?
  private var line: Int?

  /// The verdict on a fix and, when the distance to it counts, the metres from the anchor.
  struct Judgement: Hashable {
    let verdict: FixVerdict
    /// `nil` for a fix that only repeats the anchor, and for one that does not count.
    var stepMeters: Double?
  }

  /// Judges a fix; `nil` when its coordinates do not exist.
  ///
  /// - Parameters:
  ///   - line: the number of the line that its moment belongs to; `nil` when the clock is stopped.
  ///   - isAutoPaused: whether auto-pause has stopped the clock.
  ///   - activity: what the runner does. When standing is only inferred, the path continues from the present anchor.
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
      guard activity.isInferred else { return refuse(.stationary) }
      stayedTo = time
      return Judgement(verdict: .stationary)
    }
    guard let anchor else {
      arrive(at: position, time)
      return Judgement(verdict: .anchored)
    }
    if anchor.position.isAt(position) {
      stayedTo = time
      guard time - since > settings.positionHoldMax else { return Judgement(verdict: .counted) }
      self.anchor = Fix(position: position, time: time)
      return Judgement(verdict: .counted, stepMeters: 0)
    }
    let step = Geodesic.distanceMeters(
      fromLatitude: anchor.position.latitude, longitude: anchor.position.longitude, toLatitude: position.latitude,
      longitude: position.longitude)
    let leftAt = stayedTo - since > settings.positionHoldMax ? stayedTo : since
    guard step <= settings.stepSpeedMax * (time - leftAt).seconds else { return refuse(.impossibleSpeed) }
    arrive(at: position, time)
    return Judgement(verdict: .counted, stepMeters: step)
  }

  private mutating func arrive(at position: Position, _ time: BusTime) {
    anchor = Fix(position: position, time: time)
    since = time
    stayedTo = time
  }

  private mutating func refuse(_ verdict: FixVerdict) -> Judgement {
    anchor = nil
    return Judgement(verdict: verdict)
  }
}

extension Position {
  /// Whether the coordinates are those of another position, to the last bit.
  fileprivate func isAt(_ other: Position) -> Bool { latitude == other.latitude && longitude == other.longitude }
  /// Whether the coordinates are numbers within their ranges.
  var isOnEarth: Bool { abs(latitude) <= 90 && abs(longitude) <= 180 }
  /// Whether the accuracy is not negative and not NaN; a receiver marks an invalid fix by a negative accuracy.
  var isValid: Bool { horizontalAccuracyMeters.map { $0 >= 0 } ?? true }
  /// Whether the accuracy is better than a limit, metres, or not stated, as in recordings.
  func isAccurate(within limit: Double) -> Bool { horizontalAccuracyMeters.map { $0 < limit } ?? true }
}
