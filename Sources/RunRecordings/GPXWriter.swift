import RunCore

/// Writes a recording as GPX 1.1, in a form that ``Recording/read(contentsOf:)`` reads back.
///
/// Heart rate and cadence are written in Garmin's `TrackPointExtension`, which most tools know, and the accuracy of a
/// fix in an element of RunBus, because GPX has none in metres. A segment ends at each timer stop. A GPX point needs a
/// position, so readings at moments without a fix are not written.
package enum GPXWriter {
  /// The document.
  package static func document(_ recording: Recording) -> String { document(recording, description: []) }

  /// The document, with further GPX elements after the track's name.
  static func document(_ recording: Recording, description: [String]) -> String {
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8"?>"#,
      #"<gpx version="1.1" creator="RunBus" xmlns="http://www.topografix.com/GPX/1/1""#
        + #" xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v1" xmlns:runbus="urn:runbus:gpx:1">"#,
      "<trk>",
    ]
    if !recording.name.isEmpty { lines.append("<name>\(escaped(recording.name))</name>") }
    lines += description
    lines.append("<trkseg>")
    var stops = recording.timerStops[...]
    for point in points(of: recording) {
      if let stop = stops.first, point.offset >= stop.resumedAt {
        stops = stops.drop { point.offset >= $0.resumedAt }
        lines += ["</trkseg>", "<trkseg>"]
      }
      lines.append(element(point, startedAt: recording.startedAtUnixNanoseconds ?? 0))
    }
    lines += ["</trkseg>", "</trk>", "</gpx>", ""]
    return lines.joined(separator: "\n")
  }

  private struct Point {
    let offset: BusDuration
    let position: Position
    var altitudeMeters: Double?
    var cadenceStepsPerMinute: Double?
    var heartRateBpm: Double?
  }

  private static func points(of recording: Recording) -> [Point] {
    var points: [Point] = []
    for sample in recording.samples {
      if case .position(let position) = sample.value {
        points.append(Point(offset: sample.offset, position: position))
      } else if let last = points.last, last.offset == sample.offset {
        let index = points.count - 1
        switch sample.value {
        case .altitude(let meters, _): points[index].altitudeMeters = meters
        case .cadence(let stepsPerMinute): points[index].cadenceStepsPerMinute = stepsPerMinute
        case .heartRate(let bpm): points[index].heartRateBpm = bpm
        case .position, .pedometer, .motion: break
        }
      }
    }
    return points
  }

  private static func element(_ point: Point, startedAt: Int64) -> String {
    let (latitude, longitude) = (
      decimal(point.position.latitude, places: 7), decimal(point.position.longitude, places: 7)
    )
    var text = #"<trkpt lat="\#(latitude)" lon="\#(longitude)">"#
    if let meters = point.altitudeMeters { text += "<ele>\(decimal(meters, places: 2))</ele>" }
    let time = BusTime(nanoseconds: startedAt) + point.offset
    text += "<time>\(RecordingTime.text(unixNanoseconds: time.nanoseconds))</time>"
    var garmin = ""
    if let bpm = point.heartRateBpm { garmin += "<gpxtpx:hr>\(decimal(bpm, places: 0))</gpxtpx:hr>" }
    if let steps = point.cadenceStepsPerMinute { garmin += "<gpxtpx:cad>\(decimal(steps / 2, places: 0))</gpxtpx:cad>" }
    if !garmin.isEmpty { garmin = "<gpxtpx:TrackPointExtension>\(garmin)</gpxtpx:TrackPointExtension>" }
    if let meters = point.position.horizontalAccuracyMeters {
      garmin += "<runbus:accuracy>\(decimal(meters, places: 2))</runbus:accuracy>"
    }
    if !garmin.isEmpty { text += "<extensions>\(garmin)</extensions>" }
    return text + "</trkpt>"
  }

  /// A number in plain decimals, without an exponent and without trailing zeros. Swift's description writes small
  /// numbers with an exponent. A number too large for `Int64` becomes 1,000,000,000 of its last decimal.
  static func decimal(_ value: Double, places: Int) -> String {
    var scale: Int64 = 1
    for _ in 0..<places { scale *= 10 }
    let scaled = (value * Double(scale)).rounded()
    let units = Int64(exactly: scaled) ?? (scaled < 0 ? -1_000_000_000 : scaled > 0 ? 1_000_000_000 : 0)
    let (whole, rest) = units.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
    var text = (units < 0 ? "-" : "") + String(whole)
    if rest > 0 {
      let digits = String(rest)
      text += "." + String(repeating: "0", count: places - digits.count) + digits
      while text.hasSuffix("0") { text.removeLast() }
    }
    return text
  }

  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      // XML 1.0 does not allow these characters, not even as references.
      case "\u{0}"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
