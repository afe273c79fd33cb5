/// The readings of a pedometer, and what they say of the moments between them.
///
/// Readings are metres since the sensor's own zero. A *mark* is a moment at which somebody wants to know them; it is
/// settled by the next reading, on a straight line between the two.
struct PedometerTrack: Hashable, Sendable {
  /// A moment, and what the pedometer said then.
  struct Mark: Hashable, Sendable {
    /// The moment.
    private(set) var time: BusTime
    /// Metres since the sensor's own zero; `nil` until the next reading, or for ever.
    private(set) var meters: Double?
    /// It is settled at another moment: nothing was heard before it, and it has moved to the first reading after.
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

    /// Settles the mark by a reading at or after it.
    fileprivate mutating func interpolate(by meters: Double, at reading: BusTime, count: Int) {
      guard self.meters == nil else { return }
      if count == self.count, let before, let beforeAt, reading > beforeAt {
        let share = min(1, max(0, (time - beforeAt).seconds / (reading - beforeAt).seconds))
        self.meters = before + (meters - before) * share
      } else {
        // Nothing was heard before it: what is counted begins with this reading.
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
  private var device: DeviceID?
  /// Goes up when the sensor begins anew: its metres before and after are not to be compared.
  private(set) var count = 0

  /// A sensor that goes back by less than this has corrected itself; by more, it has begun anew.
  private static let correctionMetersMax = 5.0

  /// Takes a reading; says whether it was one. A second sensor is heard once the first has been silent for long.
  mutating func add(_ reading: Double, from device: DeviceID, at time: BusTime, settings: MetricsSettings) -> Bool {
    guard reading.isFinite, reading >= 0 else { return false }
    if let takenAt, let meters {
      if device != self.device {
        guard time - takenAt >= settings.positionTakeover else { return false }
        count += 1
      } else if time <= takenAt {
        return false
      } else if reading < meters {
        // Steps are never untaken: the higher reading stands until this one has passed it.
        guard meters - reading > Self.correctionMetersMax else { return false }
        count += 1
      } else if time - takenAt > settings.pedometerSilence {
        count += 1
      } else if reading - meters > settings.stepSpeedMax * (time - takenAt).seconds {
        count += 1
      }
    }
    self.device = device
    meters = reading
    takenAt = time
    return true
  }

  /// It has spoken lately.
  func isAlive(at time: BusTime, settings: MetricsSettings) -> Bool {
    takenAt.map { time - $0 <= settings.pedometerSilence } ?? false
  }

  /// A mark at a moment that is not before the latest reading.
  func mark(at time: BusTime) -> Mark {
    if let takenAt, let meters {
      return Mark(time: time, meters: time == takenAt ? meters : nil, count: count, before: meters, beforeAt: takenAt)
    }
    return Mark(time: time, count: count)
  }
  /// Settles a mark by the latest reading, if that is not before it.
  func interpolate(_ mark: inout Mark) {
    guard mark.meters == nil, let meters, let takenAt, takenAt >= mark.time else { return }
    mark.interpolate(by: meters, at: takenAt, count: count)
  }

  /// Metres between two settled marks; `nil` when the sensor began anew between them.
  static func meters(from start: Mark, to end: Mark) -> Double? {
    guard let first = start.meters, let last = end.meters, start.count == end.count, end.time >= start.time else {
      return nil
    }
    return last - first
  }
}
