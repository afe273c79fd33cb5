/// GPX 1.1: `trk` / `trkseg` / `trkpt`, with heart rate and cadence in the extensions of Garmin (`TrackPointExtension`)
/// or Cluetrust (`gpxdata`), under any prefix. Routes and waypoints are not recordings.
struct GPXFormat: TrackFormat {
  var track = RecordedTrack()
  private var fields = PointFields()
  private var latitude: String?
  private var longitude: String?
  private var accuracyMeters: Double?
  /// The first point of this segment follows a stop.
  private var startsSegment = false

  mutating func open(_ path: [String], _ attributes: [String: String], line: Int) {
    switch path.last {
    case "trkseg": startsSegment = true
    case "trkpt":
      fields = PointFields()
      latitude = attributes["lat"]
      longitude = attributes["lon"]
      accuracyMeters = nil
    default: break
    }
  }

  mutating func close(_ path: [String], text: String, line: Int) {
    guard let element = path.last, path.contains("trk") else { return }
    if element == "trkpt" {
      finishPoint(line: line)
    } else if path.contains("trkpt") {
      switch element {
      case "time": fields.readTime(text)
      case "ele": fields.altitude = text
      case "hr": fields.heartRate = text
      case "cad", "cadence": fields.strides = text
      case "accuracy": accuracyMeters = Double(text).flatMap { $0.isFinite ? $0 : nil }
      default: break
      }
    } else if element == "name", path.count == 3, !text.isEmpty {
      track.name = track.name ?? text
    }
  }

  private mutating func finishPoint(line: Int) {
    guard
      let point = fields.point(
        latitude: latitude ?? "", longitude: longitude ?? "", accuracyMeters: accuracyMeters, notes: &track.notes,
        line: line)
    else { return }
    let count = track.points.count
    track.add(point, line: line)
    guard track.points.count > count else { return }
    // An empty segment never gets here: it marks nothing.
    if startsSegment, count > 0 { track.breaksBefore.insert(count) }
    startsSegment = false
  }
}
