import RunCore

/// A number that may be missing. It takes eight bytes, half of what an optional takes: not a number stands for none.
@propertyWrapper
struct Sparse {
  private var number = Double.nan
  var wrappedValue: Double? {
    get { number.isNaN ? nil : number }
    set { number = newValue ?? .nan }
  }
}

/// One trackpoint of a file, in 72 bytes: a file of a week has 600,000 of them.
struct Trackpoint {
  /// Nanoseconds since 1970.
  var time: Int64
  @Sparse private var latitude: Double?
  @Sparse private var longitude: Double?
  @Sparse private var accuracyMeters: Double?
  @Sparse var altitudeMeters: Double?
  /// As recorded at first; ``RecordedTrack/countSteps()`` turns it into steps per minute.
  @Sparse var cadence: Double?
  @Sparse var pedometerMeters: Double?
  @Sparse var heartRateBpm: Double?
  private var place: Int32
  /// Whether it stands for a lap that has figures and no trackpoints.
  var isOfLap = false

  init(time: Int64, line: Int) {
    self.time = time
    place = Int32(clamping: line)
  }

  /// The line of the file in which it ends; of a binary file the byte.
  var line: Int { Int(place) }
  var position: Position? {
    get {
      guard let latitude, let longitude else { return nil }
      return Position(latitude: latitude, longitude: longitude, horizontalAccuracyMeters: accuracyMeters)
    }
    set {
      (latitude, longitude) = (newValue?.latitude, newValue?.longitude)
      accuracyMeters = newValue?.horizontalAccuracyMeters
    }
  }

  /// Whether it has a time and no readings.
  var isBlank: Bool {
    position == nil && altitudeMeters == nil && cadence == nil && pedometerMeters == nil
      && heartRateBpm == nil
  }
  /// How many readings it holds.
  var readingCount: Int {
    (position == nil ? 0 : 1) + (altitudeMeters == nil ? 0 : 1) + (cadence == nil ? 0 : 1)
      + (pedometerMeters == nil ? 0 : 1) + (heartRateBpm == nil ? 0 : 1)
  }
  /// Calls `body` for each reading, in the order that ``Recording/samples`` promises.
  func forEachReading(_ body: (SampleValue) -> Void) {
    if let position { body(.position(position)) }
    if let altitudeMeters { body(.altitude(meters: altitudeMeters, .unstated)) }
    if let cadence { body(.cadence(stepsPerMinute: cadence)) }
    if let pedometerMeters { body(.pedometer(meters: pedometerMeters)) }
    if let heartRateBpm { body(.heartRate(bpm: heartRateBpm)) }
  }
}

/// The content of a file before it becomes a recording: points in file order, and where the format marks timer stops.
///
/// Devices write a stopped timer in different ways. The timer was stopped
/// 1. where the format says so (`breaksBefore`): between two non-empty GPX segments, and between two non-empty TCX
///    tracks *inside* a lap. A gap between two laps is no stop, because devices leave one at every lap;
/// 2. between two or more trackpoints in a row that hold a time only, with readings before and after them. Older
///    devices write a stop like this;
/// 3. where no point was written for 30 s or more, and for ten times the file's usual step or more. Some exports drop
///    the points of a stop and leave no other trace. Watches that record sparsely make steps of up to 18 s;
/// 4. where no point was written for 5 s or more, and for twice the file's usual step or more, if the file gives the time
///    that the timer ran, and the device's distance (or, without one, the position) moved on at less than half the usual
///    speed.
///
/// If the file gives the time that the timer ran, it limits rules 1, 3 and 4: gaps count, longest first, as long as they
/// fit into the time that the timer did not run. Laps give it for each lap, so the silence of a lap whose timer ran on is
/// no stop. A new segment without a stop is lost reception. If the file does not, a gap in which the runner moved at half
/// the usual speed or more is lost reception and no stop. (In recordings whose device marks its pauses, runners moved at
/// less than a tenth of the usual speed in them.) A gap in which damaged content was skipped never counts.
struct RecordedTrack {
  /// Enough for a lap every nine seconds of a day.
  static let lapsMax = 10_000
  /// A file with more stops than this is not a run with pauses.
  static let stopsMax = 10_000

  var name: String?
  var note: String?
  var points: [Trackpoint] = []
  /// Indices into `points` of points before which the timer was stopped.
  var breaksBefore: Set<Int> = []
  /// Indices into `points` of points before which something was skipped, so that a gap there is no stop.
  var damageBefore: Set<Int> = []
  /// The laps, with the file's own numbers, ``lapsMax`` at most.
  private(set) var laps: [TrackLap] = []
  /// The tracks of a GPX file, with the file's own numbers; empty for TCX.
  var tracks: [TrackLap] = []
  /// Whether the file holds the run to its end. If not, its totals describe more than what was read and are ignored.
  var isWhole = true
  /// Whether the format defines the distance of a trackpoint as the total so far.
  var pedometerIsTotal = true
  var notes = ReadingNotes()
  /// How far the file's clock is ahead of UTC, in seconds; `nil` when its times are in UTC.
  var utcOffsetSeconds: Int?
  /// The distance of the last of the points before `meteredTo` that has one.
  var metersSoFar = 0.0
  var meteredTo = 0
  /// How many more readings may be made for laps.
  var standInsLeft = RecordedTrack.standInsMax
  /// What a file without trackpoints may hold instead.
  var waypointCount = 0
  var routePointCount = 0
  var courseCount = 0

  /// Appends the next lap; beyond ``lapsMax`` laps are only counted.
  mutating func add(_ lap: TrackLap, line: Int) {
    if laps.count < Self.lapsMax { laps.append(lap) } else { notes.add(.otherLap, line: line) }
  }

  /// Makes the recording.
  ///
  /// - Parameter fallback: The name if the file has none.
  /// - Throws: The reason why the file holds no usable recording.
  mutating func recording(named fallback: String) throws(RecordingFlaw) -> Recording {
    try refuseOtherContent()
    try putInOrder()
    let stepsPerCadence = countSteps()
    checkPedometer()
    let summary = summary(stepsPerCadence: stepsPerCadence)
    let stops = timerStops(timerSeconds: summary.timerSeconds)
    guard stops.count <= Self.stopsMax else {
      throw RecordingFlaw("its timer stops more than \(Self.stopsMax) times")
    }
    return Recording(
      name: name ?? fallback,
      samples: samples,
      timerStops: stops.map { TimerStop(pausedAt: offset($0.lowerBound), resumedAt: offset($0.upperBound)) },
      lapMarks: laps.dropFirst().compactMap(began),
      duration: offset(points.count - 1),
      summary: summary.holdsAnything ? summary : nil,
      startedAtUnixNanoseconds: start,
      utcOffsetSeconds: utcOffsetSeconds,
      warnings: notes.sentences,
      note: note ?? "")
  }

  private var start: Int64 { points.first?.time ?? 0 }
  private func offset(_ index: Int) -> BusDuration { BusDuration(nanoseconds: points[index].time - start) }

  private var samples: [RecordedSample] {
    var samples: [RecordedSample] = []
    samples.reserveCapacity(points.reduce(0) { $0 + $1.readingCount })
    for index in points.indices {
      let offset = offset(index)
      points[index].forEachReading { samples.append(RecordedSample(offset: offset, value: $0)) }
    }
    return samples
  }

  private func summary(stepsPerCadence: Double) -> RecordedSummary {
    var summary = RecordedSummary()
    if isWhole {
      summary = RecordedSummary(of: tracks, stepsPerCadence: stepsPerCadence)
      if !summary.holdsAnything, notes.count(of: .otherLap) == 0 {
        summary = RecordedSummary(of: laps, stepsPerCadence: stepsPerCadence)
      }
    }
    summary.laps = laps.map { lap in
      var figures = lap.figures
      figures.startedAt = began(lap)
      return figures
    }
    return summary
  }

  private func began(_ lap: TrackLap) -> BusDuration? {
    if let first = lap.firstPoint {
      // The lap begins inside the track of another.
      if lap.repeatsTrack, let time = lap.time, let last = points.last, (start...last.time).contains(time) {
        return BusDuration(nanoseconds: time - start)
      }
      guard first < points.count else { return nil }
      // The lap button was pressed between two points. Use the file's start time if it lies there.
      let range = (first > 0 ? points[first - 1].time : start)...points[first].time
      return lap.time.flatMap { range.contains($0) ? BusDuration(nanoseconds: $0 - start) : nil } ?? offset(first)
    }
    let range = start...(points.last?.time ?? start)
    return lap.time.flatMap { range.contains($0) ? BusDuration(nanoseconds: $0 - start) : nil }
  }

  /// Removes all points except those at `indices`, which are in rising order. A mark before a removed point moves to
  /// the next point that is left.
  ///
  /// - Parameter kind: The kind of note for each removed point; `nil` for none.
  mutating func keep(_ indices: [Int], else kind: ReadingNotes.Kind?) {
    guard indices.count < points.count else { return }
    // For each old index, the first one left at or after it.
    var moved = [Int32](repeating: 0, count: points.count + 1)
    var left = 0
    for index in points.indices {
      moved[index] = Int32(left)
      if left < indices.count, indices[left] == index {
        points[left] = points[index]
        left += 1
      } else if let kind {
        notes.add(kind, line: points[index].line)
      }
    }
    moved[points.count] = Int32(left)
    points.removeLast(points.count - left)
    moveMarks { Int(moved[$0]) }
  }

  /// Gives the marks that belong to points their new places.
  mutating func moveMarks(_ moved: (Int) -> Int) {
    breaksBefore = Set(breaksBefore.map(moved))
    damageBefore = Set(damageBefore.map(moved))
    for index in tracks.indices { tracks[index].firstPoint = tracks[index].firstPoint.map(moved) }
    for index in laps.indices { laps[index].firstPoint = laps[index].firstPoint.map(moved) }
  }

  /// Keeps the laps for which `isKept` holds.
  mutating func keepLaps(_ isKept: (TrackLap) -> Bool) { laps.removeAll { !isKept($0) } }
}
