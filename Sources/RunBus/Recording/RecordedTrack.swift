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
  /// Its readings; the order is the one that ``Recording/samples`` promises.
  var values: [SampleValue] {
    var values: [SampleValue] = []
    if let position { values.append(.position(position)) }
    if let altitudeMeters { values.append(.altitude(meters: altitudeMeters, .unstated)) }
    if let cadence { values.append(.cadence(stepsPerMinute: cadence)) }
    if let pedometerMeters { values.append(.pedometer(meters: pedometerMeters)) }
    if let heartRateBpm { values.append(.heartRate(bpm: heartRateBpm)) }
    return values
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
  var name: String?
  var note: String?
  var points: [Trackpoint] = []
  /// Indices into `points`: the timer stood before these.
  var breaksBefore: Set<Int> = []
  /// Indices into `points`: something was skipped before these, so that a hole there is no pause.
  var damageBefore: Set<Int> = []
  /// The laps, with the file's own figures.
  var laps: [TrackLap] = []
  /// The tracks of their own, where a format has them, with the file's own figures.
  var tracks: [TrackLap] = []
  /// The file holds the run to its end, so that its totals are those of what was read.
  var isWhole = true
  /// Distances by trackpoint are total by the format's definition.
  var pedometerIsTotal = true
  var notes = ReadingNotes()

  /// The recording; throws why there is none in it.
  func recording(named fallback: String) throws(RecordingFlaw) -> Recording {
    var track = self
    try track.putInOrder()
    let stepsPerCadence = track.countSteps()
    track.checkPedometer()
    return track.ordered(named: fallback, stepsPerCadence: stepsPerCadence)
  }

  private func ordered(named fallback: String, stepsPerCadence: Double) -> Recording {
    let start = points.first?.time ?? 0
    let end = points.last?.time ?? 0
    func offset(_ index: Int) -> BusDuration { BusDuration(nanoseconds: points[index].time - start) }
    func began(_ lap: TrackLap) -> BusDuration? {
      if let first = lap.firstPoint {
        guard first < points.count else { return nil }
        // Between two points lies the moment at which the button was pressed, where the file says it.
        let range = (first > 0 ? points[first - 1].time : start)...points[first].time
        return lap.time.flatMap { range.contains($0) ? BusDuration(nanoseconds: $0 - start) : nil } ?? offset(first)
      }
      return lap.time.flatMap { (start...end).contains($0) ? BusDuration(nanoseconds: $0 - start) : nil }
    }
    var summary = RecordedSummary()
    if isWhole {
      summary = RecordedSummary(of: tracks, stepsPerCadence: stepsPerCadence)
      if !summary.holdsAnything { summary = RecordedSummary(of: laps, stepsPerCadence: stepsPerCadence) }
    }
    summary.laps = laps.map { lap in
      var figures = lap.figures
      figures.startedAt = began(lap)
      return figures
    }
    return Recording(
      name: name ?? fallback,
      samples: points.indices.flatMap { index in
        points[index].values.map { RecordedSample(offset: offset(index), value: $0) }
      },
      timerStops: timerStops(timerSeconds: summary.timerSeconds).map {
        TimerStop(pausedAt: offset($0.lowerBound), resumedAt: offset($0.upperBound))
      },
      lapMarks: laps.dropFirst().compactMap(began),
      duration: BusDuration(nanoseconds: end - start),
      summary: summary.holdsAnything ? summary : nil,
      startedAtUnixNanoseconds: start,
      warnings: notes.sentences,
      note: note ?? "")
  }
}
