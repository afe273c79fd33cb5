package import RunCore

/// One reading of a recording.
package struct RecordedSample: Hashable, Sendable {
  /// When it was measured, from the recording's start.
  package let offset: BusDuration
  /// What was measured.
  package let value: SampleValue

  /// A reading from its parts.
  package init(offset: BusDuration, value: SampleValue) {
    self.offset = offset
    self.value = value
  }
  /// The reading as a node adds it, with its offset in the run.
  package var sample: Sample { Sample(moment: .runOffset(offset), value: value) }
}

/// A stretch in which the recording device's timer was stopped.
package struct TimerStop: Hashable, Sendable {
  /// When the timer stopped, from the recording's start.
  package let pausedAt: BusDuration
  /// When the timer ran again.
  package let resumedAt: BusDuration

  /// A stop from its ends.
  package init(pausedAt: BusDuration, resumedAt: BusDuration) {
    self.pausedAt = pausedAt
    self.resumedAt = resumedAt
  }
}

/// The recording device's own numbers of the run; `nil` where it wrote none.
package struct RecordedSummary: Hashable, Sendable {
  /// Its own distance, metres.
  package var distanceMeters: Double?
  /// How long its timer ran, seconds.
  package var timerSeconds: Double?
  /// Its mean heart rate, beats per minute.
  package var averageHeartRateBpm: Double?
  /// Its highest heart rate, beats per minute.
  package var maxHeartRateBpm: Double?
  /// Its mean cadence, steps of both feet per minute.
  package var averageCadenceStepsPerMinute: Double?
  /// Metres climbed.
  package var elevationGainMeters: Double?
  /// Metres descended; positive.
  package var elevationLossMeters: Double?
  /// Kilocalories, computed from the device's own data about the runner.
  package var energyKilocalories: Double?
  /// Its laps, in order.
  package var laps: [RecordedLap] = []

  /// A summary without numbers.
  package init() {}
}

/// A lap as the recording device kept it.
package struct RecordedLap: Hashable, Sendable {
  /// How long its timer ran, seconds.
  package var timerSeconds: Double?
  /// Its length, metres.
  package var distanceMeters: Double?
  /// Its mean heart rate, beats per minute.
  package var averageHeartRateBpm: Double?
  /// Its highest heart rate, beats per minute.
  package var maxHeartRateBpm: Double?
  /// Its start from the recording's start: the file's start time for it, else its first point; `nil` without both.
  package var startedAt: BusDuration?

  /// A lap without numbers.
  package init() {}
}

/// A recorded or modelled run, to be replayed as sensor input or measured.
///
///     let recording = try Recording.read(contentsOf: "run.gpx")
///     for sample in recording.samples(for: .phone) { print(sample.offset.seconds, sample.value) }
package struct Recording: Hashable, Sendable {
  /// The name in the file, or else the name of the file.
  package var name: String
  /// The description of the run in the file; empty when there is none.
  package var note: String
  /// Every reading, by offset; those of one trackpoint in the order position, altitude, cadence, pedometer, heart rate.
  package var samples: [RecordedSample]
  /// The recorded pauses, in order and disjoint.
  package var timerStops: [TimerStop]
  /// The starts of the second and later laps.
  package var lapMarks: [BusDuration]
  /// From the first trackpoint to the last.
  package var duration: BusDuration
  /// The device's own numbers; `nil` when the file holds none.
  package var summary: RecordedSummary?
  /// The wall time of offset zero, nanoseconds since 1970; for display only.
  package var startedAtUnixNanoseconds: Int64?
  /// How far the file's clock was ahead of UTC, seconds; `nil` when its times are in UTC.
  package var utcOffsetSeconds: Int?
  /// What was left out while reading, one sentence for each kind.
  package var warnings: [String]

  /// A recording from its parts; `samples` are put in order.
  package init(
    name: String, samples: [RecordedSample], timerStops: [TimerStop] = [], lapMarks: [BusDuration] = [],
    duration: BusDuration, summary: RecordedSummary? = nil, startedAtUnixNanoseconds: Int64? = nil,
    utcOffsetSeconds: Int? = nil, warnings: [String] = [], note: String = ""
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
    self.utcOffsetSeconds = utcOffsetSeconds
    self.warnings = warnings
  }

  /// The readings that a node of a role measures: the watch the heart rate, the phone everything else, others nothing.
  package func samples(for role: NodeRole) -> [RecordedSample] {
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
