import RunCore

/// FIT, which most watches write: files of messages, read as the public description of the format has them.
///
/// One recording is one run. Of several sessions (a triathlon) or several files in a row the reader uses all runs, or
/// all walks and hikes if there is no run. The others, and those in the time of another, are noted.
struct FITFormat {
  /// The sessions that are read: runs, or before the first run others on foot.
  private var chosen: [(track: RecordedTrack, timerChanges: [FITActivity.TimerChange])] = []
  /// Whether a session is marked as a run.
  private var hasRuns = false
  private var chosenPointCount = 0
  /// What the first part that cannot be used is.
  private var refusal: String?
  private var notes: ReadingNotes
  private var damage: [FITScanner.Damage] = []

  /// Whether a document is a FIT file.
  static func isHere(_ document: [UInt8]) -> Bool { FITScanner.isHeader(document) }

  /// Reads a FIT file as far as it can be read.
  ///
  /// - Returns: The runs in the order of the file, one at least.
  /// - Throws: The reason when it holds no run that can be used.
  static func tracks(_ document: [UInt8]) throws(RecordingFlaw) -> [RecordedTrack] {
    var format = FITFormat()
    var scanner = FITScanner(document)
    while scanner.nextFile() {
      var activity = FITActivity(format.notes)
      while let message = scanner.next() { activity.add(message) }
      let damage = scanner.finishFile()
      guard !activity.hasTooManyPoints else {
        throw RecordingFlaw("it holds more than \(FITActivity.pointsMax) trackpoints, so it is no recording of a run")
      }
      if let damage { format.damage.append(damage) }
      format.notes = activity.notes
      format.add(activity, isWhole: damage == nil || damage == .wrongChecksum)
    }
    return try format.tracks()
  }

  private init() {
    notes = ReadingNotes()
    notes.unit = "byte"
  }

  private mutating func add(_ activity: FITActivity, isWhole: Bool) {
    if let kind = activity.kind, kind != FITFileKind.activity {
      refusal =
        refusal ?? "it is a FIT file of \(FITFileKind.name(kind)), not of an activity; activities are in the folder "
        + "Activity of the watch, and in what its app exports"
      return
    }
    for part in activity.parts(isWhole: isWhole) {
      let place = part.track.points.first?.line
      if let sport = part.sport, !sport.isOnFoot {
        refusal = refusal ?? "it records \(sport.name), and only runs, walks and hikes are read from FIT files"
        if let place { notes.add(.otherActivity, line: place) }
      } else if let place {
        choose(part.track, activity.timerChanges, isRun: part.sport?.isRun ?? false, place: place)
      }
    }
  }

  private mutating func choose(
    _ track: RecordedTrack, _ timerChanges: [FITActivity.TimerChange], isRun: Bool, place: Int
  ) {
    if isRun, !hasRuns {
      hasRuns = true
      for (other, _) in chosen { notes.add(.otherActivity, line: other.points.first?.line ?? place) }
      chosen = []
      chosenPointCount = 0
    }
    // A session in the time of another is the same run again. Files in a row share the limit of points.
    let isOther =
      hasRuns && !isRun || chosen.count == RecordedTrack.runsMax
      || chosenPointCount + track.points.count > FITActivity.pointsMax || chosen.contains { $0.track.overlaps(track) }
    guard !isOther else { return notes.add(.otherActivity, line: place) }
    chosen.append((track, timerChanges))
    chosenPointCount += track.points.count
  }

  private mutating func tracks() throws(RecordingFlaw) -> [RecordedTrack] {
    let damage = damage.isEmpty ? nil : damage.map(\.sentence).joined(separator: "; ")
    guard !chosen.isEmpty else {
      if let refusal { throw RecordingFlaw(refusal) }
      let reason = "it is a FIT file without a trackpoint that has a time"
      throw RecordingFlaw(damage.map { "\(reason) (\($0))" } ?? reason)
    }
    chosen[0].track.notes = notes
    chosen[0].track.notes.damage = damage
    for index in chosen.indices.dropFirst() { chosen[index].track.notes.unit = notes.unit }
    // Of several runs one that cannot be used is left as it is: making its recording says why, and leaves it out.
    let spare = chosen.count > 1 ? chosen.map(\.track) : []
    for index in chosen.indices {
      do throws(RecordingFlaw) {
        try chosen[index].track.putInOrder()
        chosen[index].track.mark(chosen[index].timerChanges)
      } catch {
        guard !spare.isEmpty else { throw RecordingFlaw(damage.map { "\(error.reason) (\($0))" } ?? error.reason) }
        chosen[index].track = spare[index]
      }
    }
    return chosen.map(\.track)
  }
}

extension FITActivity {
  /// The sessions as tracks, each with the points and laps from its start to that of the next one.
  ///
  /// - Parameter isWhole: Whether the file was read to its end. A file that was cut off lacks its last session.
  fileprivate func parts(isWhole: Bool) -> [(track: RecordedTrack, sport: FITSport?)] {
    let sessions = self.sessions.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
      .map(\.element)
    let laps = self.laps.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
      .map(\.element)
    var parts = (sessions.isEmpty ? [Session()] : sessions).map { session in
      var track = RecordedTrack()
      if !sessions.isEmpty { track.tracks = [session.figures] }
      track.isWhole = isWhole || !sessions.isEmpty
      return (track: track, sport: session.sport ?? sport)
    }
    if parts.count == 1 {
      parts[0].track.points = points
      for lap in laps { parts[0].track.add(lap.figures, line: lap.place) }
      return parts
    }
    let starts = sessions.map { FITTime.unixNanoseconds($0.start) }
    func part(at time: Int64) -> Int { max(0, (starts.firstIndex { $0 > time } ?? starts.count) - 1) }
    for point in points { parts[part(at: point.time)].track.points.append(point) }
    for lap in laps {
      parts[part(at: FITTime.unixNanoseconds(lap.start))].track.add(lap.figures, line: lap.place)
    }
    return parts
  }
}

extension RecordedTrack {
  /// The timer may start before the first point and stop after the last one, but not longer than this (a minute).
  private static let edgeMax: Int64 = 60_000_000_000

  /// Marks where the timer stood still. The points must be in order of time. A start or stop without a point at that
  /// moment gets one that has no readings.
  fileprivate mutating func mark(_ changes: [FITActivity.TimerChange]) {
    guard let first = points.first, let last = points.last else { return }
    let changes = changes.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
      .map(\.element)
    var stops: [Range<Int64>] = []
    var stopped: Int64?
    for change in changes {
      let time = FITTime.unixNanoseconds(change.time)
      if !change.runs {
        stopped = stopped ?? time
      } else if let from = stopped {
        if from >= first.time, from < time, time <= last.time { stops.append(from..<time) }
        stopped = nil
      }
    }
    var marked: [Trackpoint] = []
    marked.reserveCapacity(points.count + 2 * stops.count + 2)
    func edge(_ time: Int64, near point: Trackpoint) { marked.append(Trackpoint(time: time, line: point.line)) }
    if let start = changes.first.flatMap({ $0.runs ? FITTime.unixNanoseconds($0.time) : nil }), start < first.time,
      first.time - start <= Self.edgeMax
    {
      edge(start, near: first)
    }
    var rest = stops[...]
    var isStopped = false
    for point in points {
      while let stop = rest.first, isStopped ? stop.upperBound <= point.time : stop.lowerBound < point.time {
        let time = isStopped ? stop.upperBound : stop.lowerBound
        if isStopped {
          breaksBefore.insert(marked.count)
          rest.removeFirst()
        }
        if time != (isStopped ? point.time : marked.last?.time) { edge(time, near: point) }
        isStopped.toggle()
      }
      if isStopped { breaksBefore.insert(marked.count) }
      marked.append(point)
    }
    if let end = stopped, end > last.time, end - last.time <= Self.edgeMax { edge(end, near: last) }
    points = marked
  }
}

extension FITScanner.Damage {
  /// What is wrong, and what became of the content.
  fileprivate var sentence: String {
    switch self {
    case .cutOff(let bytes, let all):
      "cut off after \(bytes) of its \(all) bytes: the whole messages are kept, and what followed is missing"
    case .unfinished: "never finished by its device: the whole messages are kept"
    case .unreadable(let place, let reason): "damaged at byte \(place) (\(reason)): what followed is missing"
    case .wrongChecksum: "its checksum is wrong, so some of its numbers may be wrong"
    case .foreign(let place): "what follows byte \(place) is not FIT, and was skipped"
    }
  }
}
