/// The part of a record that a list of records shows: the metrics of a run without splits, series and route.
public struct RecordSummary: Hashable, Sendable {
  /// The longest title, in bytes of UTF-8.
  public static let titleBytesMax = 256
  /// The longest note, in bytes of UTF-8.
  public static let noteBytesMax = 4096
  /// The longest version of the app, in bytes of UTF-8.
  public static let appVersionBytesMax = 64
  /// The possible starts of a run, seconds since 1970: up to the year 9999, the last that calendars and files can
  /// write.
  public static let startUnixSeconds = 0.0..<253_402_300_800.0

  /// The run.
  public var runID: RunID
  /// Counts from 1 and grows whenever the run or the owner's texts change. A higher version replaces a lower one.
  public var version: UInt64
  /// The device that started the run.
  public var deviceID: DeviceID
  /// The hub that made the record.
  public var hubDeviceID: DeviceID
  /// The version of the program that made it.
  public var appVersion: String
  /// When the run started, seconds since 1970 by the hub's wall clock; for display only. All other moments of the
  /// record are run times, since the start.
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
  /// The runner's choices for the run.
  public var setup: RunSetup
  /// The goal of the run; `nil` for a run without one, and in records of earlier versions.
  public var goal: RunGoal?
  /// Whether it overlaps another run. The hub keeps both and leaves the decision to a person.
  public var isConflicted: Bool
  /// How far the hub's local clock was ahead of UTC at the start, in seconds; `nil` when that is not known, as for
  /// imported files that write their times in UTC and for records of earlier versions.
  public var utcOffsetSeconds: Int?
  /// The fastest stretches of the run, by distance; empty in a run of less than a kilometre, and in records of earlier
  /// versions.
  public var bests: [RunBest]
  /// The owner's title; may be empty.
  public var title: String
  /// The owner's note; may be empty.
  public var note: String

  /// A summary from its parts.
  public init(
    runID: RunID, version: UInt64, deviceID: DeviceID, hubDeviceID: DeviceID, appVersion: String,
    startedAtUnixSeconds: Double, elapsed: BusDuration, active: BusDuration, distanceMeters: Double? = nil,
    elevationGainMeters: Double? = nil, averageHeartRateBpm: Double? = nil, energyJoules: Double? = nil,
    setup: RunSetup = RunSetup(), goal: RunGoal? = nil, isConflicted: Bool = false, utcOffsetSeconds: Int? = nil,
    bests: [RunBest] = [], title: String = "", note: String = ""
  ) {
    self.utcOffsetSeconds = utcOffsetSeconds
    self.bests = bests
    self.goal = goal
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

  /// Active seconds per kilometre over the whole run; `nil` when the distance is unknown or under 1 m.
  public var averagePaceSecondsPerKilometer: Double? {
    distanceMeters.flatMap { $0 >= 1 ? active.seconds / $0 * 1000 : nil }
  }

  /// Sets the summary's metrics from those of a run.
  public mutating func add(_ metrics: RunMetrics) {
    elapsed = metrics.elapsed
    active = metrics.active
    distanceMeters = metrics.distanceMeters
    elevationGainMeters = metrics.elevationGainMeters
    averageHeartRateBpm = metrics.averageHeartRateBpm
    energyJoules = metrics.energyJoules
  }
}

/// A stretch without active time: a pause by command, or a gap in which the hub was down.
public struct RunPause: Hashable, Sendable {
  /// Run time at which it began, since the start.
  public var startedAt: BusDuration
  /// Run time at which it ended.
  public var endedAt: BusDuration

  /// A pause from its ends.
  public init(startedAt: BusDuration, endedAt: BusDuration) {
    self.startedAt = startedAt
    self.endedAt = endedAt
  }
}

/// The part of a record that its summary leaves out.
public struct RecordBody: Hashable, Sendable {
  /// The metrics with splits, laps and distance sources.
  public var report: RunReport
  /// The pauses and gaps, in order.
  public var pauses: [RunPause]
  /// Distance, pace, altitude, heart rate and cadence over run time.
  public var series: RecordSeries
  /// Every fix with its verdict.
  public var route: [RoutePoint]

  /// A body from its parts.
  public init(
    report: RunReport, pauses: [RunPause] = [], series: RecordSeries = RecordSeries(), route: [RoutePoint] = []
  ) {
    self.report = report
    self.pauses = pauses
    self.series = series
    self.route = route
  }
}

/// A run that is over, in the form in which it is kept.
public struct RunRecord: Hashable, Sendable {
  /// The part that a list shows.
  public var summary: RecordSummary
  /// The rest.
  public var body: RecordBody

  /// A record from its parts.
  public init(summary: RecordSummary, body: RecordBody) {
    self.summary = summary
    self.body = body
  }

  /// The run.
  public var runID: RunID { summary.runID }
}

/// A run whose record the hub still has to make, or to make again after a late command or reading.
package struct ExpectedRecord: Hashable, Sendable {
  /// The run.
  package var runID: RunID
  /// Whether it overlaps another run.
  package var isConflicted: Bool

  /// An expectation from its parts.
  package init(runID: RunID, isConflicted: Bool) {
    self.runID = runID
    self.isConflicted = isConflicted
  }
}

/// A run whose record was removed. It hides every earlier version of the record, wherever one is still kept.
package struct RecordRemoval: Hashable, Sendable {
  /// The run.
  package var runID: RunID
  /// The version of the removal, above that of every record of the run before.
  package var version: UInt64

  /// A removal from its parts.
  package init(runID: RunID, version: UInt64) { (self.runID, self.version) = (runID, version) }
}
