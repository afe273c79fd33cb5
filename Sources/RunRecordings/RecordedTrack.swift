import RunCore

/// One trackpoint as a file holds it.
struct Trackpoint {
  /// Nanoseconds since 1970.
  var time: Int64
  var position: Position?
  var altitudeMeters: Double?
  /// As recorded; steps once the whole file has said what it counts.
  var cadence: Double?
  var pedometerMeters: Double?
  var heartRateBpm: Double?
  /// Where it ends in the file.
  var line: Int

  /// It holds a time and nothing else.
  var isBlank: Bool {
    position == nil && altitudeMeters == nil && cadence == nil && pedometerMeters == nil
      && heartRateBpm == nil
  }
  /// How many readings it holds.
  var readingCount: Int {
    (position == nil ? 0 : 1) + (altitudeMeters == nil ? 0 : 1) + (cadence == nil ? 0 : 1)
      + (pedometerMeters == nil ? 0 : 1) + (heartRateBpm == nil ? 0 : 1)
  }
  /// Its readings; the order is the one that ``Recording/samples`` promises.
  func forEachReading(_ body: (SampleValue) -> Void) {
    if let position { body(.position(position)) }
    if let altitudeMeters { body(.altitude(meters: altitudeMeters, .unstated)) }
    if let cadence { body(.cadence(stepsPerMinute: cadence)) }
    if let pedometerMeters { body(.pedometer(meters: pedometerMeters)) }
    if let heartRateBpm { body(.heartRate(bpm: heartRateBpm)) }
  }
}

/// What a file holds, before it is a recording: points in file order, and where its format marks that the timer stood.
///
/// The timer stood, by whatever device the file was written,
/// 1. where the format says so (`breaksBefore`): between two non-empty GPX segments, between two non-empty TCX tracks
///    *inside* a lap. The hole between two laps is none: devices leave one at every lap;
/// 2. between trackpoints that hold a time and nothing else, two or more in a row with readings around them: how older
///    devices write a stop;
/// 3. where no point was written for 30 s or more, and for ten times the file's usual step: some exports drop the
///    points of a stop and keep no other trace of it. Watches that record sparsely make steps of up to 18 s.
///
/// Where the file says how long the timer ran, its word goes before rule 3: holes count, longest first, as long as they
/// fit into the time that the timer did not run. Where it does not, a hole over which the runner came forward at half
/// the usual speed or more is lost reception, and no pause: at the pauses of recordings whose device says when it
/// paused, runners came forward at less than a tenth of it. A hole where something damaged was skipped never counts.
struct RecordedTrack {
  /// One every nine seconds of a day.
  static let lapsMax = 10_000
  /// Of so many, the timer's stops are no pauses of a run.
  static let stopsMax = 10_000

  var name: String?
  var note: String?
  var points: [Trackpoint] = []
  /// Indices into `points`: the timer stood before these.
  var breaksBefore: Set<Int> = []
  /// Indices into `points`: something was skipped before these, so that a hole there is no pause.
  var damageBefore: Set<Int> = []
  /// The laps, with the file's own figures, ``lapsMax`` at most.
  private(set) var laps: [TrackLap] = []
  /// The tracks of their own, where a format has them, with the file's own figures.
  var tracks: [TrackLap] = []
  /// The file holds the run to its end, so that its totals are those of what was read.
  var isWhole = true
  /// Distances by trackpoint are total by the format's definition.
  var pedometerIsTotal = true
  var notes = ReadingNotes()

  /// Takes the next lap.
  mutating func add(_ lap: TrackLap, line: Int) {
    if laps.count < Self.lapsMax { laps.append(lap) } else { notes.add(.otherLap, line: line) }
  }

  /// The recording; throws why there is none in it.
  mutating func recording(named fallback: String) throws(RecordingFlaw) -> Recording {
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
      guard first < points.count else { return nil }
      // Between two points lies the moment at which the button was pressed, where the file says it.
      let range = (first > 0 ? points[first - 1].time : start)...points[first].time
      return lap.time.flatMap { range.contains($0) ? BusDuration(nanoseconds: $0 - start) : nil } ?? offset(first)
    }
    let range = start...(points.last?.time ?? start)
    return lap.time.flatMap { range.contains($0) ? BusDuration(nanoseconds: $0 - start) : nil }
  }

  /// Leaves the points of these indices, which rise; what stood before a point stands before the next one that is left.
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
    breaksBefore = Set(breaksBefore.map { Int(moved[$0]) })
    damageBefore = Set(damageBefore.map { Int(moved[$0]) })
    for index in tracks.indices { tracks[index].firstPoint = tracks[index].firstPoint.map { Int(moved[$0]) } }
    for index in laps.indices { laps[index].firstPoint = laps[index].firstPoint.map { Int(moved[$0]) } }
  }
}
