/// TCX (Garmin Training Center v2): `Activity` / `Lap` / `Track` / `Trackpoint`, run cadence in the extensions under any
/// prefix, and the device's own figures per lap. Courses are not recordings.
struct TCXFormat: TrackFormat {
  var track = RecordedTrack()
  private var fields = PointFields()
  private var latitude: String?
  private var longitude: String?
  private var lap = LapFigures()
  private var totals = LapTotals()
  /// A further activity of the file: one recording is one run.
  private var isOther = false
  /// This lap has points in an earlier track.
  private var lapHasPoints = false
  /// The first point of this track follows a stop.
  private var startsTrack = false

  private struct LapFigures {
    var seconds: Double?
    var meters: Double?
    var averageBpm: Double?
    var maxBpm: Double?
  }

  mutating func open(_ path: [String], _ attributes: [String: String], line: Int) {
    switch path.last {
    case "Activity":
      isOther = !track.points.isEmpty
      if isOther { track.notes.add(.otherActivity, line: line) }
    case "Lap" where isInActivity(path):
      lap = LapFigures()
      lapHasPoints = false
      track.lapStarts.append(track.points.count)
    case "Track": startsTrack = true
    case "Trackpoint":
      fields = PointFields()
      latitude = nil
      longitude = nil
    default: break
    }
  }

  mutating func close(_ path: [String], text: String, line: Int) {
    guard let element = path.last, isInActivity(path) else { return }
    if element == "Trackpoint" {
      finishPoint(line: line)
    } else if path.contains("Trackpoint") {
      switch element {
      case "Time": fields.readTime(text)
      case "LatitudeDegrees": latitude = text
      case "LongitudeDegrees": longitude = text
      case "AltitudeMeters": fields.altitude = text
      case "DistanceMeters": fields.pedometer = text
      case "Value" where path.dropLast().last == "HeartRateBpm": fields.heartRate = text
      case "Cadence", "RunCadence": fields.strides = text
      default: break
      }
    } else if element == "Lap" {
      totals.add(seconds: lap.seconds, meters: lap.meters, averageBpm: lap.averageBpm, maxBpm: lap.maxBpm)
      track.summary = totals.summary
    } else if path.dropLast().last == "Lap" || path.dropLast(2).last == "Lap" {
      readLap(element, parent: path.dropLast().last, Double(text))
    }
  }

  private mutating func readLap(_ element: String, parent: String?, _ value: Double?) {
    guard let value, value.isFinite, value >= 0 else { return }
    switch (parent, element) {
    case ("Lap", "TotalTimeSeconds"): lap.seconds = value
    case ("Lap", "DistanceMeters"): lap.meters = value
    case ("AverageHeartRateBpm", "Value"): lap.averageBpm = value
    case ("MaximumHeartRateBpm", "Value"): lap.maxBpm = value
    default: break
    }
  }

  private mutating func finishPoint(line: Int) {
    guard let point = fields.point(latitude: latitude, longitude: longitude, notes: &track.notes, line: line) else {
      return
    }
    let count = track.points.count
    track.add(point, line: line)
    guard track.points.count > count else { return }
    if startsTrack, lapHasPoints { track.breaksBefore.insert(count) }
    startsTrack = false
    lapHasPoints = true
  }

  private func isInActivity(_ path: [String]) -> Bool { !isOther && path.contains("Activity") && path.contains("Lap") }
}

/// The device's figures over all laps.
private struct LapTotals {
  private(set) var summary = RecordedSummary()
  private var beats = 0.0
  private var beatsSeconds = 0.0

  mutating func add(seconds: Double?, meters: Double?, averageBpm: Double?, maxBpm: Double?) {
    if let seconds { summary.timerSeconds = (summary.timerSeconds ?? 0) + seconds }
    if let meters { summary.distanceMeters = (summary.distanceMeters ?? 0) + meters }
    if let maxBpm { summary.maxHeartRateBpm = max(summary.maxHeartRateBpm ?? maxBpm, maxBpm) }
    if let averageBpm, let seconds, seconds > 0 {
      beats += averageBpm * seconds
      beatsSeconds += seconds
      summary.averageHeartRateBpm = beats / beatsSeconds
    }
  }
}
