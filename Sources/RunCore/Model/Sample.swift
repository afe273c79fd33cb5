/// Where the runner was.
public struct Position: Hashable, Sendable, Codable {
  /// Degrees north, WGS84.
  public let latitude: Double
  /// Degrees east, WGS84.
  public let longitude: Double
  /// Radius of the 68 % circle in metres; `nil` when the source gives none (a recording), negative when invalid.
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
  /// On foot, at a walk.
  case walking
  /// On foot, at a run.
  case running
  /// Standing.
  case stationary
  /// Nobody knows.
  case unknown
}

/// Where an altitude comes from.
public enum AltitudeSource: String, Hashable, Sendable, Codable {
  /// Satellite positioning.
  case gps
  /// A pressure sensor.
  case barometer
  /// Nobody says: recordings do not.
  case unstated
}

/// One reading of one sensor.
public enum SampleValue: Hashable, Sendable, Codable {
  /// A fix.
  case position(Position)
  /// Metres above sea level.
  case altitude(meters: Double, AltitudeSource)
  /// Beats per minute.
  case heartRate(bpm: Double)
  /// Steps of both feet per minute.
  case cadence(stepsPerMinute: Double)
  /// Metres since the sensor's own zero, by steps rather than by satellite.
  case pedometer(meters: Double)
  /// What a motion sensor believes.
  case motion(MotionActivity)
}

/// When a sample was taken.
public enum SampleMoment: Hashable, Sendable, Codable {
  /// On a node's own time line.
  case at(BusTime)
  /// On the run's own time line, measured from its start: a replay gives the same numbers every time.
  case runOffset(BusDuration)
}

/// One reading and when it was taken.
public struct Sample: Hashable, Sendable, Codable {
  /// When.
  public let moment: SampleMoment
  /// What.
  public let value: SampleValue

  /// A sample from its parts.
  public init(moment: SampleMoment, value: SampleValue) {
    self.moment = moment
    self.value = value
  }
}
