package import RunCore

extension RecordExport {
  /// A record as TCX (Garmin Training Center v2): the marked laps, or the whole run as one lap, with a point for every
  /// fix that counts and for every sample of the series without a fix. A new track begins after each pause.
  package static func tcx(_ record: RunRecord) -> String {
    let summary = record.summary
    let start = summary.time(at: .zero)
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8"?>"#,
      #"<TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2""#
        + #" xmlns:ns3="http://www.garmin.com/xmlschemas/ActivityExtension/v2" xmlns:runbus="urn:runbus:tcx:1">"#,
      "<Activities>", #"<Activity Sport="Running">"#, "<Id>\(start)</Id>",
    ]
    let (points, laps) = (points(of: record.body), laps(of: record))
    for (index, lap) in laps.enumerated() {
      let inLap = points.filter { point in
        point.offset >= lap.startedAt && (point.offset < lap.endedAt || index == laps.count - 1)
      }
      lines += element(lap, inLap, of: record)
    }
    if !summary.note.isEmpty { lines.append("<Notes>\(GPXWriter.escaped(summary.note))</Notes>") }
    let title = summary.title.isEmpty ? "" : "<runbus:Title>\(GPXWriter.escaped(summary.title))</runbus:Title>"
    lines += [
      "<Extensions><runbus:Run>\(summary.urn)</runbus:Run>\(title)</Extensions>", "</Activity>", "</Activities>",
      "</TrainingCenterDatabase>", "",
    ]
    return lines.joined(separator: "\n")
  }

  /// The points of the track, with one at the end of the run, so that readers see its whole duration. Points without
  /// values are left out, because two of them in a row would mark a stopped timer (see ``RecordedTrack``).
  private static func points(of body: RecordBody) -> [RecordTrack.Point] {
    var points = RecordTrack(body).points
    points.removeAll { $0.fix == nil && $0.values == RecordSeries.Sample() && $0.offset > .zero }
    let metrics = body.report.metrics
    if let last = points.last, last.offset < metrics.elapsed {
      let values = RecordSeries.Sample(distanceMeters: metrics.distanceMeters)
      points.append(RecordTrack.Point(offset: metrics.elapsed, values: values))
    }
    return points
  }

  private static func laps(of record: RunRecord) -> [Split] {
    let report = record.body.report
    guard report.laps.isEmpty else { return report.laps }
    let metrics = report.metrics
    return [
      Split(
        number: 1, distanceMeters: metrics.distanceMeters, active: metrics.active, startedAt: .zero,
        endedAt: metrics.elapsed, averageHeartRateBpm: metrics.averageHeartRateBpm, isComplete: true)
    ]
  }

  private static func element(_ lap: Split, _ points: [RecordTrack.Point], of record: RunRecord) -> [String] {
    let metrics = record.body.report.metrics
    var lines = [
      #"<Lap StartTime="\#(record.summary.time(at: lap.startedAt))">"#,
      "<TotalTimeSeconds>\(GPXWriter.decimal(lap.active.seconds, places: 3))</TotalTimeSeconds>",
      "<DistanceMeters>\(GPXWriter.decimal(lap.distanceMeters ?? 0, places: 2))</DistanceMeters>",
    ]
    // TCX needs a number in every lap, so divide the energy of the run by active time.
    let share = metrics.active > .zero ? lap.active.seconds / metrics.active.seconds : 0
    let kilocalories = (metrics.energyJoules ?? 0) / RecordedSummary.joulesPerKilocalorie * share
    lines.append("<Calories>\(GPXWriter.decimal(min(65_535, kilocalories), places: 0))</Calories>")
    let rates = points.compactMap(\.values.heartRateBpm)
    lines += heartRate("AverageHeartRateBpm", lap.averageHeartRateBpm) + heartRate("MaximumHeartRateBpm", rates.max())
    lines += ["<Intensity>Active</Intensity>", "<TriggerMethod>Manual</TriggerMethod>", "<Track>"]
    var pauses = record.body.pauses.drop { $0.endedAt <= lap.startedAt }
    var hasPoints = false
    for point in points {
      let rest = pauses.drop { $0.endedAt <= point.offset }
      if rest.count < pauses.count, hasPoints { lines += ["</Track>", "<Track>"] }
      pauses = rest
      // A point inside a pause belongs to no track.
      if let pause = pauses.first, pause.startedAt < point.offset { continue }
      lines.append(element(point, of: record.summary))
      hasPoints = true
    }
    return lines + ["</Track>", "</Lap>"]
  }

  private static func element(_ point: RecordTrack.Point, of summary: RecordSummary) -> String {
    var text = "<Trackpoint><Time>\(summary.time(at: point.offset))</Time>"
    if let position = point.fix?.position {
      text += "<Position><LatitudeDegrees>\(GPXWriter.decimal(position.latitude, places: 7))</LatitudeDegrees>"
      text += "<LongitudeDegrees>\(GPXWriter.decimal(position.longitude, places: 7))</LongitudeDegrees></Position>"
    }
    if let meters = point.values.altitudeMeters {
      text += "<AltitudeMeters>\(GPXWriter.decimal(meters, places: 2))</AltitudeMeters>"
    }
    if let meters = point.values.distanceMeters {
      text += "<DistanceMeters>\(GPXWriter.decimal(meters, places: 2))</DistanceMeters>"
    }
    text += heartRate("HeartRateBpm", point.values.heartRateBpm).joined()
    if let steps = point.values.cadenceStepsPerMinute {
      let strides = GPXWriter.decimal(min(254, steps / 2), places: 0)
      text += "<Extensions><ns3:TPX><ns3:RunCadence>\(strides)</ns3:RunCadence></ns3:TPX></Extensions>"
    }
    return text + "</Trackpoint>"
  }

  private static func heartRate(_ element: String, _ bpm: Double?) -> [String] {
    guard let bpm, bpm >= 1, bpm <= 255 else { return [] }
    return ["<\(element)><Value>\(GPXWriter.decimal(bpm, places: 0))</Value></\(element)>"]
  }
}
