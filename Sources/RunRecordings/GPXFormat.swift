import RunCore

/// GPX 1.1: `trk` / `trkseg` / `trkpt`. Routes and waypoints are not recordings.
///
/// Heart rate, cadence and distance are read from extensions, by local name with any prefix: Garmin's
/// `TrackPointExtension` (`hr`, `cad`; Strava, Suunto, Polar, Coros, Wahoo and most others write it), Cluetrust's
/// `gpxdata` (`hr`, `cadence`, `distance`) and plain elements. The device's own totals are read from Garmin's
/// `TrackStatsExtension` and Cluetrust's `lap`.
///
/// `hdop` (dilution of precision) is not read as an accuracy, because it has no unit. `hAcc` is one in metres where the
/// creator of the file is Apple Health; other apps write it with meanings that are not documented, and a wrong accuracy
/// would reject fixes.
struct GPXFormat: TrackFormat {
  private var track = RecordedTrack()
  private var fields = PointFields()
  private var latitude: String?
  private var longitude: String?
  private var accuracyMeters: Double?
  /// Whether the file is an export of Apple Health.
  private var isAppleHealth = false
  /// Whether the next point is the first of its segment and so follows a stop.
  private var startsSegment = false
  private var lap = TrackLap()

  init() { track.pedometerIsTotal = false }

  var runs: [RecordedTrack] { track.separated() }

  func attributes(of element: String) -> [String] {
    switch element {
    case "trkpt": ["lat", "lon"]
    case "gpx": ["creator"]
    default: []
    }
  }

  mutating func open(_ path: [String], _ attributes: [String: String], line: Int) {
    switch path.last {
    case "gpx": isAppleHealth = attributes["creator"]?.contains("Apple Health") ?? isAppleHealth
    case "wpt": track.waypointCount += 1
    case "rtept": track.routePointCount += 1
    case "trk": openTrack()
    case "trkseg": startsSegment = true
    case "trkpt":
      fields = PointFields()
      latitude = attributes["lat"]
      longitude = attributes["lon"]
      accuracyMeters = nil
    case "lap": lap = TrackLap()
    case RecordingRepair.mark: track.damageBefore.insert(track.points.count)
    default: break
    }
  }

  mutating func close(_ path: [String], text: String, line: Int) {
    guard let element = path.last else { return }
    if element == "trkpt" {
      finishPoint(line: line)
    } else if path.contains("trkpt") {
      readPoint(element, text)
    } else if element == "lap" {
      track.add(lap, line: line)
    } else if path.contains("lap") {
      readLap(element, text)
    } else if path.contains("TrackStatsExtension"), let last = track.tracks.indices.last {
      readStatistics(element, text, of: last)
    } else if element == "type", path.count == 3, path[1] == "trk" {
      let type = text.lowercased()
      if type.contains("cycling") || type.contains("biking") { track.notes.add(.notOnFoot, line: line) }
    } else if element == "name", path.count == 3, path[1] == "trk", !text.isEmpty, !track.tracks.isEmpty {
      track.tracks[track.tracks.count - 1].name = text
    } else if element == "desc", path.count == 3, path[1] == "trk", !text.isEmpty, !track.tracks.isEmpty {
      track.tracks[track.tracks.count - 1].note = text
    }
  }

  /// Begins a track. A track before it that has neither points nor figures is replaced, except for its name.
  private mutating func openTrack() {
    var next = TrackLap(firstPoint: track.points.count)
    if let last = track.tracks.last {
      (next.name, next.note) = (last.name, last.note)
      if last == next { return }
      (next.name, next.note) = (nil, nil)
    }
    track.tracks.append(next)
  }

  private mutating func readPoint(_ element: String, _ text: String) {
    switch element {
    case "time": fields.readTime(text)
    case "ele": fields.altitude = text
    case "hr", "heartrate", "HeartRate": fields.heartRate = text
    case "cad", "cadence", "RunCadence": fields.cadence = text
    case "distance": fields.pedometer = text
    case "accuracy": accuracyMeters = PointFields.decimal(text)
    case "hAcc" where isAppleHealth: accuracyMeters = PointFields.decimal(text)
    default: break
    }
  }

  private mutating func readLap(_ element: String, _ text: String) {
    switch element {
    case "startTime": lap.time = RecordingTime.unixNanoseconds(text)
    case "elapsedTime": lap.figures.timerSeconds = RecordingTime.seconds(text)
    case "distance": lap.figures.distanceMeters = TrackLap.figure(text)
    case "calories": lap.energyKilocalories = TrackLap.figure(text)
    case "AverageHeartRateBpm": lap.figures.averageHeartRateBpm = TrackLap.figure(text)
    case "MaximumHeartRateBpm": lap.figures.maxHeartRateBpm = TrackLap.figure(text)
    default: break
    }
  }

  private mutating func readStatistics(_ element: String, _ text: String, of index: Int) {
    let value = TrackLap.figure(text)
    switch element {
    case "Distance": track.tracks[index].figures.distanceMeters = value
    case "TimerTime": track.tracks[index].figures.timerSeconds = value
    case "Ascent": track.tracks[index].elevationGainMeters = value
    case "Descent": track.tracks[index].elevationLossMeters = value
    case "Calories": track.tracks[index].energyKilocalories = value
    case "AvgHeartRate": track.tracks[index].figures.averageHeartRateBpm = value
    case "MaxHeartRate": track.tracks[index].figures.maxHeartRateBpm = value
    case "AvgCadence": track.tracks[index].cadence = value
    default: break
    }
  }

  private mutating func finishPoint(line: Int) {
    let count = track.points.count
    guard
      let point = fields.point(
        latitude: latitude ?? "", longitude: longitude ?? "", accuracyMeters: accuracyMeters, notes: &track.notes,
        line: line)
    else {
      track.damageBefore.insert(count)
      return
    }
    track.points.append(point)
    track.utcOffsetSeconds = track.utcOffsetSeconds ?? fields.utcOffsetSeconds
    // An empty segment has no points, so it marks no stop.
    if startsSegment, count > 0 { track.breaksBefore.insert(count) }
    startsSegment = false
  }
}
