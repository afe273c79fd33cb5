/// What a list of records shows of each: a run that is over, without its pieces.
public struct RecordSummary: Hashable, Sendable {
  /// A title is at most this long, in bytes of UTF-8.
  public static let titleBytesMax = 256
  /// A note is at most this long, in bytes of UTF-8.
  public static let noteBytesMax = 4096
  /// A version of the app is at most this long, in bytes of UTF-8.
  public static let appVersionBytesMax = 64
  /// When a run can have started, seconds since 1970: up to the year 9999, as calendars and files write it.
  public static let startUnixSeconds = 0.0..<253_402_300_800.0

  /// The run.
  public var runID: RunID
  /// 1, 2, 3 …: grows with every amendment and every edit; a higher one replaces a lower one.
  public var version: UInt64
  /// The device that started the run.
  public var deviceID: DeviceID
  /// The hub that made the record.
  public var hubDeviceID: DeviceID
  /// The version of the program that made it.
  public var appVersion: String
  /// When the run started, seconds since 1970 by the hub's wall clock; for display only. Moments in the run are offsets
  /// from there, in the run's own time.
  public var startedAtUnixSeconds: Double
  /// Time from start to stop, pauses included.
  public var elapsed: BusDuration
  /// Time in which the run was running.
  public var active: BusDuration
  /// Metres covered.
  public var distanceMeters: Double?
  /// Metres climbed.
  public var elevationGainMeters: Double?
  /// Mean heart rate over active time, beats per minute.
  public var averageHeartRateBpm: Double?
  /// Energy spent while active, joules.
  public var energyJoules: Double?
  /// What the runner chose.
  public var setup: RunSetup
  /// It overlaps another run: both are kept, and a person decides.
  public var isConflicted: Bool
  /// What its owner calls it; empty when nothing.
  public var title: String
  /// What its owner has to say of it; empty when nothing.
  public var note: String

  /// A summary from its parts.
  public init(
    runID: RunID, version: UInt64, deviceID: DeviceID, hubDeviceID: DeviceID, appVersion: String,
    startedAtUnixSeconds: Double, elapsed: BusDuration, active: BusDuration, distanceMeters: Double? = nil,
    elevationGainMeters: Double? = nil, averageHeartRateBpm: Double? = nil, energyJoules: Double? = nil,
    setup: RunSetup = RunSetup(), isConflicted: Bool = false, title: String = "", note: String = ""
  ) {
    self.setup = setup
    self.runID = runID
    self.version = version
    self.deviceID = deviceID
    self.hubDeviceID = hubDeviceID
    self.appVersion = appVersion
    self.startedAtUnixSeconds = startedAtUnixSeconds
    self.elapsed = elapsed
    self.active = active
    self.distanceMeters = distanceMeters
    self.elevationGainMeters = elevationGainMeters
    self.averageHeartRateBpm = averageHeartRateBpm
    self.energyJoules = energyJoules
    self.isConflicted = isConflicted
    self.title = title
    self.note = note
  }

  /// Active seconds per kilometre over the whole run; `nil` without a distance worth the name.
  public var averagePaceSecondsPerKilometer: Double? {
    distanceMeters.flatMap { $0 >= 1 ? active.seconds / $0 * 1000 : nil }
  }

  /// Takes the figures that a list shows from a run's numbers.
  public mutating func add(_ metrics: RunMetrics) {
    elapsed = metrics.elapsed
    active = metrics.active
    distanceMeters = metrics.distanceMeters
    elevationGainMeters = metrics.elevationGainMeters
    averageHeartRateBpm = metrics.averageHeartRateBpm
    energyJoules = metrics.energyJoules
  }
}

/// A stretch in which the clock stood: somebody had paused, or the hub was dead.
public struct RunPause: Hashable, Sendable, Codable {
  /// When it began: run time, from the start.
  public var startedAt: BusDuration
  /// When it ended.
  public var endedAt: BusDuration

  /// A pause from its ends.
  public init(startedAt: BusDuration, endedAt: BusDuration) {
    self.startedAt = startedAt
    self.endedAt = endedAt
  }
}

/// The pieces of a record: all that its summary leaves out.
public struct RecordBody: Hashable, Sendable {
  /// The numbers with splits and laps.
  public var report: RunReport
  /// Where the clock stood, in order.
  public var pauses: [RunPause]
  /// How pace, altitude, heart rate and cadence went.
  public var series: RecordSeries
  /// Every fix, and what became of it.
  public var route: [RoutePoint]

  /// Pieces from their parts.
  public init(
    report: RunReport, pauses: [RunPause] = [], series: RecordSeries = RecordSeries(), route: [RoutePoint] = []
  ) {
    self.report = report
    self.pauses = pauses
    self.series = series
    self.route = route
  }
}

/// A run that is over, as it is kept.
public struct RunRecord: Hashable, Sendable {
  /// What a list shows of it.
  public var summary: RecordSummary
  /// Its pieces.
  public var body: RecordBody

  /// A record from its parts.
  public init(summary: RecordSummary, body: RecordBody) {
    self.summary = summary
    self.body = body
  }

  /// The run.
  public var runID: RunID { summary.runID }
}
