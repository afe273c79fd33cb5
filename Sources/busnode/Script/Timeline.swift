import RunBus

/// A recording's samples on the run's own time line, handed over in order as their time comes.
struct Timeline: Sendable {
  private let samples: [(offset: BusDuration, value: SampleValue)]
  private var next = 0

  /// A timeline of samples that carry their place in the run; others are left out. Ends at `end` if given.
  init(_ samples: [Sample], end: BusDuration? = nil) {
    let placed = samples.enumerated().compactMap { index, sample -> (BusDuration, Int, SampleValue)? in
      guard case .runOffset(let offset) = sample.moment, end.map({ offset <= $0 }) ?? true else { return nil }
      return (offset, index, sample.value)
    }
    // Samples of one moment stay in the recording's order.
    self.samples = placed.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { ($0.0, $0.2) }
  }

  /// When the next sample is due; `nil` at the end.
  var nextOffset: BusDuration? { next < samples.count ? samples[next].offset : nil }

  /// When its last sample is due; `nil` without samples.
  var end: BusDuration? { samples.last?.offset }

  /// How many samples were handed over or skipped.
  var position: Int { next }

  /// Takes the samples that are due at a moment of the run.
  mutating func takeDue(at offset: BusDuration) -> [Sample] {
    let first = next
    while next < samples.count, samples[next].offset <= offset { next += 1 }
    return samples[first..<next].map { Sample(moment: .runOffset($0.offset), value: $0.value) }
  }

  /// Passes over what lies before a moment: the device was not there to measure it.
  mutating func skip(before offset: BusDuration) {
    while next < samples.count, samples[next].offset < offset { next += 1 }
  }
}

/// What a node needs to know of a run to place its recording on it.
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

/// Decides, snapshot by snapshot, where in its recording a node stands. A pure machine: `SensorPlayer` drives it.
struct Playback: Sendable {
  private let recording: Timeline
  private var timeline: Timeline
  private(set) var origin: RunOrigin?
  private var wasThereBefore = false

  init(_ recording: Timeline) {
    self.recording = recording
    timeline = recording
  }

  /// A snapshot came; returns whether it changed which samples are due when.
  ///
  /// A new run begins the recording anew. A node that comes to a run that is already on (it was killed and started
  /// again, or joins late) goes on from where the run is: it was not there to measure what came before.
  mutating func observe(_ snapshot: Snapshot, now: BusTime) -> Bool {
    guard let seen = RunOrigin(snapshot) else {
      wasThereBefore = wasThereBefore || snapshot.order.term > 0
      return false
    }
    guard seen != origin else { return false }
    if seen.runID != origin?.runID {
      timeline = recording
      if !wasThereBefore { timeline.skip(before: seen.end ?? now - seen.startedAt) }
      wasThereBefore = true
    }
    origin = seen
    return true
  }

  /// The moment on the hub's line at which the next sample is due, `.zero` for at once; `nil` when none is left.
  var nextDue: BusTime? {
    guard let origin, let offset = timeline.nextOffset, origin.end.map({ offset <= $0 }) ?? true else { return nil }
    return origin.end == nil ? origin.startedAt + offset : .zero
  }

  /// Takes what is due now; after the stop, all that was measured until it.
  mutating func takeDue(now: BusTime) -> [Sample] {
    guard let origin else { return [] }
    return timeline.takeDue(at: origin.end ?? (now - origin.startedAt))
  }

  /// The moment of the recording's last sample, when it lies behind and the run is still on.
  var ranOutAt: BusDuration? {
    guard let origin, origin.end == nil, timeline.nextOffset == nil else { return nil }
    return timeline.end
  }

  /// The run is over and every sample of it has been handed over.
  var isDone: Bool { origin?.end != nil && nextDue == nil }

  /// How many samples of the recording lie behind.
  var position: Int { timeline.position }
}
