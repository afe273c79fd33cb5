/// The readings of a pedometer, interpolated at the moments between them.
///
/// Readings are metres since the sensor's own zero. A *mark* is a moment at which the reading is wanted. The next
/// reading resolves it by linear interpolation with the reading before.
struct PedometerTrack: Hashable, Sendable {
  /// A moment and the pedometer's metres at it.
  struct Mark: Hashable, Sendable {
    /// The moment.
    private(set) var time: BusTime
    /// Metres since the sensor's own zero; `nil` until a reading resolves the mark.
    private(set) var meters: Double?
    /// Whether the mark has moved to the first reading after its moment, because the sensor had no reading before it.
    private(set) var hasMoved = false
    fileprivate var count: Int
    private let before: Double?
    private let beforeAt: BusTime?

    fileprivate init(
      time: BusTime, meters: Double? = nil, count: Int, before: Double? = nil, beforeAt: BusTime? = nil
    ) {
      self.time = time
      self.meters = meters
      self.count = count
      self.before = before
      self.beforeAt = beforeAt
    }

    /// Resolves the mark with a reading at or after it.
    fileprivate mutating func interpolate(by meters: Double, at reading: BusTime, count: Int) {
      guard self.meters == nil else { return }
      if count == self.count, let before, let beforeAt, reading > beforeAt {
        let share = min(1, max(0, (time - beforeAt).seconds / (reading - beforeAt).seconds))
        self.meters = before + (meters - before) * share
      } else {
        // The sensor has no reading before the mark, so counting begins with this one.
        self.meters = meters
        self.count = count
        hasMoved = reading > time
        time = reading
      }
    }
  }

  /// The latest reading.
  private(set) var meters: Double?
  /// When it was taken.
  private(set) var takenAt: BusTime?
  /// When the latest reading was first given. Some sensors repeat it until they have counted on.
  private var since = BusTime.zero
  private var device: DeviceID?
  /// Goes up when the sensor restarts: its metres before and after must not be compared.
  private(set) var count = 0

  /// A reading that falls by up to this much is a correction; one that falls by more is a restart of the sensor.
  private static let correctionMetersMax = 5.0

  /// Receives a reading and returns whether it was used. A second sensor is used after the first has been silent for a
  /// while.
  mutating func add(_ reading: Double, from device: DeviceID, at time: BusTime, settings: MetricsSettings) -> Bool {
    guard reading.isFinite, reading >= 0 else { return false }
    if let takenAt, let meters {
      if device != self.device {
        guard time - takenAt >= settings.positionTakeover else { return false }
        count += 1
      } else if time <= takenAt {
        return false
      } else if reading < meters {
        // The distance never falls: the higher reading holds until the sensor has passed it.
        guard meters - reading > Self.correctionMetersMax else { return false }
        count += 1
      } else if time - takenAt > settings.pedometerSilence {
        count += 1
      } else {
        let leftAt = takenAt - since > settings.pedometerSilence ? takenAt : since
        if reading - meters > settings.stepSpeedMax * (time - leftAt).seconds { count += 1 }
      }
    }
    if reading != meters || device != self.device { since = time }
    self.device = device
    meters = reading
    takenAt = time
    return true
  }

  /// Whether the sensor has sent a reading lately.
  func isAlive(at time: BusTime, settings: MetricsSettings) -> Bool {
    takenAt.map { time - $0 <= settings.pedometerSilence } ?? false
  }

  /// A mark at a moment, which must not be before the latest reading.
  func mark(at time: BusTime) -> Mark {
    if let takenAt, let meters {
      return Mark(time: time, meters: time == takenAt ? meters : nil, count: count, before: meters, beforeAt: takenAt)
    }
    return Mark(time: time, count: count)
  }
  /// Resolves a mark with the latest reading, if that is not before it.
  func interpolate(_ mark: inout Mark) {
    guard mark.meters == nil, let meters, let takenAt, takenAt >= mark.time else { return }
    mark.interpolate(by: meters, at: takenAt, count: count)
  }

  /// Metres between two resolved marks; `nil` when one is not resolved, or the sensor restarted between them.
  static func meters(from start: Mark, to end: Mark) -> Double? {
    guard let first = start.meters, let last = end.meters, start.count == end.count, end.time >= start.time else {
      return nil
    }
    return last - first
  }
}
