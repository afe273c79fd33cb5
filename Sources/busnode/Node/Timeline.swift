import RunBus

/// The samples of a recording in order of their offset in the run, removed one after the other as they become due.
struct Timeline: Sendable {
  private let samples: [(offset: BusDuration, value: SampleValue)]
  private var next = 0

  /// Orders the samples that carry an offset in the run; others are left out, and those after `end` if it is given.
  init(_ samples: [Sample], end: BusDuration? = nil) {
    let placed = samples.enumerated().compactMap { index, sample -> (BusDuration, Int, SampleValue)? in
      guard case .runOffset(let offset) = sample.moment, end.map({ offset <= $0 }) ?? true else { return nil }
      return (offset, index, sample.value)
    }
    // Samples with equal offsets stay in the recording's order.
    self.samples = placed.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { ($0.0, $0.2) }
  }

  /// When the next sample is due; `nil` at the end.
  var nextOffset: BusDuration? { next < samples.count ? samples[next].offset : nil }

  /// When its last sample is due; `nil` without samples.
  var end: BusDuration? { samples.last?.offset }

  /// How many samples were taken or skipped.
  var position: Int { next }

  /// Removes and returns the samples that are due at `offset`, at most so many.
  mutating func takeDue(at offset: BusDuration, max: Int) -> [Sample] {
    let first = next
    while next < samples.count, next - first < max, samples[next].offset <= offset { next += 1 }
    return samples[first..<next].map { Sample(moment: .runOffset($0.offset), value: $0.value) }
  }

  /// Skips the samples before `offset`, when the device was not there to measure them.
  mutating func skip(before offset: BusDuration) {
    while next < samples.count, samples[next].offset < offset { next += 1 }
  }
}

/// The run whose time a recording is played on.
struct RunOrigin: Hashable, Sendable {
  let runID: RunID
  /// The origin of run time, on the hub's time line.
  let startedAt: BusTime
  /// How long the run was, once it is completed.
  var end: BusDuration?

  /// `nil` while there is no run.
  init?(_ snapshot: Snapshot) {
    guard let runID = snapshot.runID, let startedAt = snapshot.startedAt, snapshot.phase != .idle else { return nil }
    self.runID = runID
    self.startedAt = startedAt
    self.end = snapshot.phase == .completed ? snapshot.metrics.elapsed : nil
  }
}

/// Decides from snapshots which samples of its recording a node plays when. A pure machine that `SensorPlayer` drives.
struct Playback: Sendable {
  private let recording: Timeline
  private var timeline: Timeline
  private(set) var origin: RunOrigin?
  private var wasThereBefore = false
  /// Whether the run is paused. Its sensors are off then, and the readings of the pause wait for its end.
  private var isPaused = false

  /// How many samples are taken at once. After a long pause the hub takes them in as they come.
  static let atOnceMax = 500

  init(_ recording: Timeline) {
    self.recording = recording
    timeline = recording
  }

  /// Follows the run that a snapshot shows.
  ///
  /// A new run starts the recording from its beginning. A node that joins a run that is already on (late, or after it
  /// was killed and restarted) starts at the run's present offset, because it was not there to measure before.
  ///
  /// - Returns: Whether the times at which samples are due have changed.
  mutating func observe(_ snapshot: Snapshot, now: BusTime) -> Bool {
    guard let seen = RunOrigin(snapshot) else {
      wasThereBefore = wasThereBefore || snapshot.order.term > 0
      return false
    }
    let isPaused = snapshot.phase == .paused
    guard seen != origin || isPaused != self.isPaused else { return false }
    self.isPaused = isPaused
    if seen.runID != origin?.runID {
      timeline = recording
      if !wasThereBefore { timeline.skip(before: seen.end ?? now - seen.startedAt) }
      wasThereBefore = true
    }
    origin = seen
    return true
  }

  /// The time on the hub's clock at which the next sample is due, `.zero` for at once; `nil` when none is left, and in a
  /// pause.
  var nextDue: BusTime? {
    guard !isPaused, let origin, let offset = timeline.nextOffset, origin.end.map({ offset <= $0 }) ?? true else {
      return nil
    }
    return origin.end == nil ? origin.startedAt + offset : .zero
  }

  /// Removes and returns samples that are due now, at most ``atOnceMax``; after the stop, those up to it.
  mutating func takeDue(now: BusTime) -> [Sample] {
    guard let origin, !isPaused else { return [] }
    return timeline.takeDue(at: origin.end ?? (now - origin.startedAt), max: Self.atOnceMax)
  }

  /// The offset of the recording's last sample, if that was played and the run is still on.
  var ranOutAt: BusDuration? {
    guard let origin, origin.end == nil, timeline.nextOffset == nil else { return nil }
    return timeline.end
  }

  /// Whether the run is over and all its samples were taken.
  var isDone: Bool { origin?.end != nil && nextDue == nil }

  /// How many samples of the recording were taken or skipped.
  var position: Int { timeline.position }
}
