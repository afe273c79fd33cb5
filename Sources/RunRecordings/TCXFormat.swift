import RunCore

/// TCX (Garmin Training Center v2): `Activity` / `Lap` / `Track` / `Trackpoint`, run cadence in the extensions with any
/// prefix, and the device's own numbers for each lap. Courses are not recordings.
///
/// One recording is one run. Of several activities the reader uses all that are marked as running, or all if none is.
/// The others, and those in the time of another, are noted.
struct TCXFormat: TrackFormat {
  /// The activity that is read.
  private var current = RecordedTrack()
  /// Whether it is marked as running.
  private var isRun = false
  /// The activities before it that have trackpoints.
  private var earlier: [(track: RecordedTrack, isRun: Bool)] = []
  /// How many planned courses the file holds.
  private var courseCount = 0
  private var fields = PointFields()
  private var latitude: String?
  private var longitude: String?
  private var lap = TrackLap()
  /// Whether this lap has points already.
  private var lapHasPoints = false
  /// Whether the next point is the first of its track.
  private var startsTrack = false

  var runs: [RecordedTrack] {
    var activities = earlier
    if !current.points.isEmpty || activities.isEmpty { activities.append((current, isRun)) }
    let hasRuns = activities.contains(where: \.isRun)
    var runs: [RecordedTrack] = []
    var others: [RecordedTrack] = []
    for (track, isRun) in activities {
      // An activity in the time of another is the same run again.
      let isOther = hasRuns && !isRun || runs.count == RecordedTrack.runsMax || runs.contains { $0.overlaps(track) }
      if isOther { others.append(track) } else { runs.append(track) }
    }
    for other in others { runs[0].notes.add(.otherActivity, line: other.points.first?.line ?? 0) }
    runs[0].courseCount = courseCount
    return runs
  }

  func attributes(of element: String) -> [String] {
    switch element {
    case "Activity": ["Sport"]
    case "Lap": ["StartTime"]
    default: []
    }
  }

  mutating func open(_ path: [String], _ attributes: [String: String], line: Int) {
    switch path.last {
    case "Activity": openActivity(sport: attributes["Sport"]?.lowercased() ?? "", line: line)
    case "Course": courseCount += 1
    case "Lap" where isInActivity(path):
      lap = TrackLap(firstPoint: current.points.count)
      lap.time = attributes["StartTime"].flatMap { RecordingTime.unixNanoseconds($0) }
      lapHasPoints = false
    case "Track": startsTrack = true
    case "Trackpoint":
      fields = PointFields()
      latitude = nil
      longitude = nil
    case RecordingRepair.mark: current.damageBefore.insert(current.points.count)
    default: break
    }
  }

  private mutating func openActivity(sport: String, line: Int) {
    if !current.points.isEmpty {
      earlier.append((current, isRun))
      let left = current.standInsLeft
      current = RecordedTrack()
      current.standInsLeft = left
    }
    isRun = sport == "running"
    if sport == "biking" { current.notes.add(.notOnFoot, line: line) }
  }

  mutating func close(_ path: [String], text: String, line: Int) {
    readWords(path.suffix(3), text)
    guard let element = path.last, isInActivity(path) else { return }
    if element == "Trackpoint" {
      finishPoint(line: line)
    } else if path.contains("Trackpoint") {
      readPoint(element, parent: path.dropLast().last, text)
    } else if element == "Lap" {
      current.finish(&lap, line: line)
      current.add(lap, line: line)
    } else if !path.contains("Track") {
      readLap(element, parent: path.dropLast().last, TrackLap.figure(text))
    }
  }

  /// Reads the notes and the title of an activity. TCX has no title; exports of RunBus write it in an extension.
  private mutating func readWords(_ end: ArraySlice<String>, _ text: String) {
    guard !text.isEmpty else { return }
    if end.suffix(2) == ["Activity", "Notes"] { current.note = current.note ?? text }
    if end == ["Activity", "Extensions", "Title"] { current.name = current.name ?? text }
  }

  private mutating func readPoint(_ element: String, parent: String?, _ text: String) {
    switch (parent, element) {
    case ("Trackpoint", "Time"): fields.readTime(text)
    case (_, "LatitudeDegrees"): latitude = text
    case (_, "LongitudeDegrees"): longitude = text
    case ("Trackpoint", "AltitudeMeters"): fields.altitude = text
    case ("Trackpoint", "DistanceMeters"): fields.pedometer = text
    case ("HeartRateBpm", "Value"): fields.heartRate = text
    // Some exports write the number without the element `Value`.
    case ("Trackpoint", "HeartRateBpm") where !text.isEmpty: fields.heartRate = fields.heartRate ?? text
    case (_, "RunCadence"): fields.cadence = text
    // `Cadence` is meant for bicycles, so `RunCadence` in the extension wins over it.
    case ("Trackpoint", "Cadence"): fields.cadence = fields.cadence ?? text
    default: break
    }
  }

  private mutating func readLap(_ element: String, parent: String?, _ value: Double?) {
    guard let value else { return }
    switch (parent, element) {
    case ("Lap", "TotalTimeSeconds"): lap.figures.timerSeconds = value
    case ("Lap", "DistanceMeters"): lap.figures.distanceMeters = value
    case ("Lap", "Calories"): lap.energyKilocalories = value
    case ("AverageHeartRateBpm", "Value"): lap.figures.averageHeartRateBpm = value
    case ("MaximumHeartRateBpm", "Value"): lap.figures.maxHeartRateBpm = value
    case (_, "AvgRunCadence"): lap.cadence = value
    case ("Lap", "Cadence"): lap.cadence = lap.cadence ?? value
    default: break
    }
  }

  private mutating func finishPoint(line: Int) {
    // If only one coordinate is there, make the position invalid, so that it is noted.
    if latitude == nil, longitude != nil { latitude = "" }
    if longitude == nil, latitude != nil { longitude = "" }
    let count = current.points.count
    guard let point = fields.point(latitude: latitude, longitude: longitude, notes: &current.notes, line: line) else {
      current.damageBefore.insert(count)
      return
    }
    current.points.append(point)
    current.utcOffsetSeconds = current.utcOffsetSeconds ?? fields.utcOffsetSeconds
    if startsTrack, lapHasPoints { current.breaksBefore.insert(count) }
    startsTrack = false
    lapHasPoints = true
  }

  private func isInActivity(_ path: [String]) -> Bool { path.contains("Activity") && path.contains("Lap") }
}
