/// A position fix.
public struct Position: Hashable, Sendable {
  /// Degrees north, WGS84.
  public let latitude: Double
  /// Degrees east, WGS84.
  public let longitude: Double
  /// Radius of the 68 % circle in metres; `nil` when the source gives none (recordings do not), negative when the
  /// receiver calls the fix invalid.
  public let horizontalAccuracyMeters: Double?

  /// A position from its parts.
  public init(latitude: Double, longitude: Double, horizontalAccuracyMeters: Double? = nil) {
    self.latitude = latitude
    self.longitude = longitude
    self.horizontalAccuracyMeters = horizontalAccuracyMeters
  }
}

/// What the runner is doing.
public enum MotionActivity: String, Hashable, Sendable, Codable, CaseIterable {
  /// Walking.
  case walking
  /// Running.
  case running
  /// Standing still.
  case stationary
  /// Not known.
  case unknown
}

/// Where an altitude comes from.
public enum AltitudeSource: String, Hashable, Sendable, Codable {
  /// Satellite positioning.
  case gps
  /// A pressure sensor.
  case barometer
  /// Not stated; recordings never state it.
  case unstated
}

/// One reading of one sensor.
public enum SampleValue: Hashable, Sendable {
  /// A fix.
  case position(Position)
  /// Metres above sea level.
  case altitude(meters: Double, AltitudeSource)
  /// Beats per minute.
  case heartRate(bpm: Double)
  /// Steps of both feet per minute.
  case cadence(stepsPerMinute: Double)
  /// Metres since the sensor's own zero, measured by steps.
  case pedometer(meters: Double)
  /// What a motion sensor reports.
  case motion(MotionActivity)

  /// Whether a bus can carry it. A node checks this before it adds a reading: one that the hub refuses would block its
  /// stream.
  package var isCarried: Bool {
    switch self {
    case .position(let position):
      abs(position.latitude) <= 90 && abs(position.longitude) <= 180
        && position.horizontalAccuracyMeters?.isFinite ?? true
    case .altitude(let meters, _): meters.isFinite
    case .heartRate(let bpm): bpm.isFinite && bpm >= 0
    case .cadence(let stepsPerMinute): stepsPerMinute.isFinite && stepsPerMinute >= 0
    case .pedometer(let meters): meters.isFinite && meters >= 0
    case .motion: true
    }
  }
}

/// When a sample was taken: by a clock or in the run. The ledger of the hub holds times on the hub's time line only.
///
/// | the sample is | zero of the time line of ``at(_:)`` |
/// |---|---|
/// | handed to a node by its app | that of the node's monotonic clock (``BusTime``) |
/// | kept in an outbox row | the row's `since` |
/// | in a transmission | the moment of sending (``age(_:)``) |
public enum SampleMoment: Hashable, Sendable {
  /// On the time line of whatever holds the sample.
  case at(BusTime)
  /// Time since the start of the run. A replay with such moments gives the same metrics every time.
  case runOffset(BusDuration)

  /// A moment this long before the zero of the time line.
  public static func age(_ age: BusDuration) -> SampleMoment { .at(.zero - age) }

  /// The same moment on a time line whose zero is this much earlier. A run offset does not change.
  func moved(by span: BusDuration) -> SampleMoment {
    switch self {
    case .at(let time): .at(time + span)
    case .runOffset: self
    }
  }

  /// The moment on the time line on which the run started at `origin`.
  ///
  /// A run offset counts from the start, whenever the sample arrives, so that a replay gives the same metrics every
  /// time.
  public func time(runStartedAt origin: BusTime) -> BusTime {
    switch self {
    case .at(let time): time
    case .runOffset(let offset): origin + offset
    }
  }
}

/// One reading and when it was taken.
///
/// A reading that an app takes now has the present time of the node's monotonic clock. In a test with steered time that
/// is the time of the bus:
///
/// ```swift
/// try await watch.add(Sample(moment: .at(Loop.now), value: .heartRate(bpm: 142)))
/// try await watch.add(Sample(moment: .at(bus.now), value: .heartRate(bpm: 142)))  // in a test, on a TestBus
/// ```
///
/// A reading with a date needs no conversion: `watch.add(.heartRate(bpm: 142), at: date)`.
public struct Sample: Hashable, Sendable {
  /// When it was taken.
  public let moment: SampleMoment
  /// What was measured.
  public let value: SampleValue
  /// Fields of a later version, as its bytes on the wire. This version passes them on with the value.
  package var unknown: [UInt8] = []

  /// A sample from its parts.
  public init(moment: SampleMoment, value: SampleValue) {
    self.moment = moment
    self.value = value
  }
}

/// Which sensors an app has to keep on; the others can be off to save battery.
public enum SensorDemand: String, Hashable, Sendable, Codable, CaseIterable {
  /// None: no run is on, or it is paused.
  case off
  /// Only the motion sensor: auto-pause has stopped the clock, and the motion sensor reports when the runner moves
  /// again.
  case motion
  /// All of them.
  case all
}

extension Snapshot {
  /// The sensors that an app needs in this state.
  public var sensors: SensorDemand {
    switch phase {
    case .idle, .paused, .completed: .off
    // In a phase that this version does not know, the run may go on.
    case .unknown: .all
    // Without a motion sensor, only positions and steps can show that the runner moves again.
    case .running: metrics.isAutoPaused && !metrics.isActivityInferred ? .motion : .all
    }
  }
}
