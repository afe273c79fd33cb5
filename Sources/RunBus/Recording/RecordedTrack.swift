/// One trackpoint as a file holds it.
struct Trackpoint {
  /// Nanoseconds since 1970.
  var time: Int64
  var position: Position?
  var altitudeMeters: Double?
  var cadenceStepsPerMinute: Double?
  var pedometerMeters: Double?
  var heartRateBpm: Double?

  /// It holds a time and nothing else.
  var isBlank: Bool {
    position == nil && altitudeMeters == nil && cadenceStepsPerMinute == nil && pedometerMeters == nil
      && heartRateBpm == nil
  }
  /// Its readings; the order is the one that ``Recording/samples`` promises.
  var values: [SampleValue] {
    var values: [SampleValue] = []
    if let position { values.append(.position(position)) }
    if let altitudeMeters { values.append(.altitude(meters: altitudeMeters, .unstated)) }
    if let cadenceStepsPerMinute { values.append(.cadence(stepsPerMinute: cadenceStepsPerMinute)) }
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
struct RecordedTrack {
  var name: String?
  var points: [Trackpoint] = []
  /// Indices into `points`: the timer stood before these.
  var breaksBefore: Set<Int> = []
  /// Indices into `points` at which a lap begins.
  var lapStarts: [Int] = []
  var summary: RecordedSummary?
  var notes = ReadingNotes()

  static let holeMin: Int64 = 30_000_000_000
  static let holeStepsMin: Int64 = 10
  /// Longer is a wrong time stamp.
  static let durationMax: Int64 = 7 * 86400 * 1_000_000_000
  /// More points out of order than one in this many, and the file is not understood.
  static let outOfOrderShareMin = 10

  /// Adds a point unless it lies before the one before it.
  mutating func add(_ point: Trackpoint, line: Int) {
    if let last = points.last, point.time < last.time {
      notes.add(.outOfOrder, line: line)
      return
    }
    points.append(point)
  }

  /// The recording; `nil` with a reason when there is none in it.
  func recording(named fallback: String) throws(RecordingFlaw) -> Recording {
    guard let first = points.first, let last = points.last, first.time < last.time else {
      throw RecordingFlaw("it holds no two trackpoints at different times, so there is nothing to replay")
    }
    guard points.contains(where: { !$0.isBlank }) else {
      throw RecordingFlaw("its trackpoints hold times and nothing else")
    }
    let skipped = notes.count(of: .outOfOrder)
    guard skipped * Self.outOfOrderShareMin <= points.count else {
      throw RecordingFlaw("\(skipped) of its \(points.count + skipped) trackpoints go back in time")
    }
    guard last.time - first.time <= Self.durationMax else {
      throw RecordingFlaw("it spans more than seven days: a time stamp is wrong")
    }
    func offset(_ index: Int) -> BusDuration { BusDuration(nanoseconds: points[index].time - first.time) }
    return Recording(
      name: name ?? fallback,
      samples: points.indices.flatMap { index in
        points[index].values.map { RecordedSample(offset: offset(index), value: $0) }
      },
      timerStops: timerStops.map { TimerStop(pausedAt: offset($0.lowerBound), resumedAt: offset($0.upperBound)) },
      lapMarks: lapStarts.dropFirst().filter { $0 < points.count }.map(offset),
      duration: offset(points.count - 1),
      summary: summary,
      startedAtUnixNanoseconds: first.time,
      warnings: notes.sentences)
  }

  /// From the last point before each stop to the first one after it, touching ones joined.
  private var timerStops: [ClosedRange<Int>] {
    var steps: [Int64] = []
    for (point, next) in zip(points, points.dropFirst()) where next.time > point.time {
      steps.append(next.time - point.time)
    }
    steps.sort()
    let usual = steps.isEmpty ? 0 : steps[(steps.count - 1) / 2]
    let hole = max(Self.holeMin, Self.holeStepsMin * usual)
    let firstReading = points.firstIndex { !$0.isBlank } ?? points.count
    let lastReading = points.lastIndex { !$0.isBlank } ?? 0

    var stops: [ClosedRange<Int>] = []
    for index in points.indices.dropFirst() where points[index].time > points[index - 1].time {
      let isBlank = points[index].isBlank && points[index - 1].isBlank && firstReading < index && index < lastReading
      let isHole = points[index].time - points[index - 1].time >= hole
      guard breaksBefore.contains(index) || isBlank || isHole else { continue }
      if let last = stops.last, points[last.upperBound].time == points[index - 1].time {
        stops[stops.count - 1] = last.lowerBound...index
      } else {
        stops.append(index - 1...index)
      }
    }
    return stops
  }
}

/// Why there is no recording in a file.
struct RecordingFlaw: Error {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}

/// What was left out, counted by kind, with the line of the first.
struct ReadingNotes {
  enum Kind: Int, CaseIterable {
    case noTime, badTime, badPosition, badNumber, outOfOrder, otherActivity, undeclaredPrefix
  }
  private var counts: [Kind: (count: Int, line: Int)] = [:]

  mutating func add(_ kind: Kind, line: Int) { counts[kind, default: (0, line)].count += 1 }
  func count(of kind: Kind) -> Int { counts[kind]?.count ?? 0 }

  /// One sentence a kind.
  var sentences: [String] {
    Kind.allCases.compactMap { kind in
      counts[kind].map { kind.sentence(count: $0.count) + " (first at line \($0.line))" }
    }
  }
}

extension ReadingNotes.Kind {
  fileprivate func sentence(count: Int) -> String {
    func noun(_ one: String, _ many: String) -> String { count == 1 ? "1 \(one)" : "\(count) \(many)" }
    switch self {
    case .noTime: return noun("trackpoint", "trackpoints") + " without a time skipped"
    case .badTime: return noun("trackpoint", "trackpoints") + " with an unreadable time skipped"
    case .badPosition: return noun("position", "positions") + " outside the globe skipped"
    case .badNumber:
      return noun("reading", "readings") + (count == 1 ? " that is" : " that are") + " no possible number skipped"
    case .outOfOrder:
      return noun("trackpoint", "trackpoints") + (count == 1 ? " that goes" : " that go") + " back in time skipped"
    case .otherActivity: return noun("further activity", "further activities") + " in the file skipped"
    case .undeclaredPrefix: return noun("undeclared XML prefix", "undeclared XML prefixes") + " ignored"
    }
  }
}
