public import RunCore

/// One reading of a recording.
public struct RecordedSample: Hashable, Sendable {
  /// When it was measured, from the recording's start.
  public let offset: BusDuration
  /// What was measured.
  public let value: SampleValue

  /// A reading from its parts.
  public init(offset: BusDuration, value: SampleValue) {
    self.offset = offset
    self.value = value
  }
  /// The reading as a node adds it, with its offset in the run.
  public var sample: Sample { Sample(moment: .runOffset(offset), value: value) }
}

/// A stretch in which the recording device's timer was stopped.
public struct TimerStop: Hashable, Sendable {
  /// When the timer stopped, from the recording's start.
  public let pausedAt: BusDuration
  /// When the timer ran again.
  public let resumedAt: BusDuration

  /// A stop from its ends.
  public init(pausedAt: BusDuration, resumedAt: BusDuration) {
    self.pausedAt = pausedAt
    self.resumedAt = resumedAt
  }
}

/// The recording device's own numbers of the run; `nil` where it wrote none.
public struct RecordedSummary: Hashable, Sendable {
  /// Its own distance, metres.
  public var distanceMeters: Double?
  /// How long its timer ran, seconds.
  public var timerSeconds: Double?
  /// Its mean heart rate, beats per minute.
  public var averageHeartRateBpm: Double?
  /// Its highest heart rate, beats per minute.
  public var maxHeartRateBpm: Double?
  /// Its mean cadence, steps of both feet per minute.
  public var averageCadenceStepsPerMinute: Double?
  /// Metres climbed.
  public var elevationGainMeters: Double?
  /// Metres descended; positive.
  public var elevationLossMeters: Double?
  /// Kilocalories, computed from the device's own data about the runner.
  public var energyKilocalories: Double?
  /// Its laps, in order.
  public var laps: [RecordedLap] = []

  /// A summary without numbers.
  public init() {}
}

/// A lap as the recording device kept it.
public struct RecordedLap: Hashable, Sendable {
  /// How long its timer ran, seconds.
  public var timerSeconds: Double?
  /// Its length, metres.
  public var distanceMeters: Double?
  /// Its mean heart rate, beats per minute.
  public var averageHeartRateBpm: Double?
  /// Its highest heart rate, beats per minute.
  public var maxHeartRateBpm: Double?
  /// Its start from the recording's start: the file's start time for it, else its first point; `nil` without both.
  public var startedAt: BusDuration?

  /// A lap without numbers.
  public init() {}
}

/// A recorded or modelled run, to be replayed as sensor input or measured.
///
///     let recording = try Recording.read(contentsOf: "run.gpx")
///     for sample in recording.samples(for: .phone) { print(sample.offset.seconds, sample.value) }
public struct Recording: Hashable, Sendable {
  /// The name in the file, or else the name of the file.
  public var name: String
  /// The description of the run in the file; empty when there is none.
  public var note: String
  /// Every reading, by offset; those of one trackpoint in the order position, altitude, cadence, pedometer, heart rate.
  public var samples: [RecordedSample]
  /// The recorded pauses, in order and disjoint.
  public var timerStops: [TimerStop]
  /// The starts of the second and later laps.
  public var lapMarks: [BusDuration]
  /// From the first trackpoint to the last.
  public var duration: BusDuration
  /// The device's own numbers; `nil` when the file holds none.
  public var summary: RecordedSummary?
  /// The wall time of offset zero, nanoseconds since 1970; for display only.
  public var startedAtUnixNanoseconds: Int64?
  /// What was left out while reading, one sentence for each kind.
  public var warnings: [String]

  /// A recording from its parts; `samples` are put in order.
  public init(
    name: String, samples: [RecordedSample], timerStops: [TimerStop] = [], lapMarks: [BusDuration] = [],
    duration: BusDuration, summary: RecordedSummary? = nil, startedAtUnixNanoseconds: Int64? = nil,
    warnings: [String] = [], note: String = ""
  ) {
    self.name = name
    self.note = note
    let isInOrder = zip(samples, samples.dropFirst()).allSatisfy { $0.offset <= $1.offset }
    // The index makes the sort stable, which the standard library does not promise.
    self.samples =
      isInOrder
      ? samples
      : samples.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
        .map(\.element)
    self.timerStops = timerStops
    self.lapMarks = lapMarks
    self.duration = duration
    self.summary = summary
    self.startedAtUnixNanoseconds = startedAtUnixNanoseconds
    self.warnings = warnings
  }

  /// The readings that a node of a role measures: the watch the heart rate, the phone everything else, others nothing.
  public func samples(for role: NodeRole) -> [RecordedSample] {
    switch role {
    case .watch: samples.filter { $0.value.isHeartRate }
    case .phone: samples.filter { !$0.value.isHeartRate }
    default: []
    }
  }
}

extension SampleValue {
  fileprivate var isHeartRate: Bool {
    switch self {
    case .heartRate: true
    case .position, .altitude, .cadence, .pedometer, .motion: false
    }
  }
}
