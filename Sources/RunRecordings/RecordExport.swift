package import RunBus
package import RunCore

/// Writes records in the formats of other programs. Time stamps are the start of the run plus run time.
package enum RecordExport {
  /// The fixes of a record that count, as GPX 1.1. A segment begins where the distance was not measured from the fix
  /// before.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` for a run without positions, which GPX cannot represent.
  package static func gpx(_ record: RunRecord) throws(RunBusError) -> String {
    var samples: [RecordedSample] = []
    var stops: [TimerStop] = []
    var last: BusDuration?
    for point in RecordTrack(record.body).points {
      guard let fix = point.fix else { continue }
      let offset = point.offset
      samples.append(RecordedSample(offset: offset, value: .position(fix.position)))
      if let meters = point.values.altitudeMeters {
        samples.append(RecordedSample(offset: offset, value: .altitude(meters: meters, .unstated)))
      }
      if let steps = point.values.cadenceStepsPerMinute {
        samples.append(RecordedSample(offset: offset, value: .cadence(stepsPerMinute: steps)))
      }
      if let bpm = point.values.heartRateBpm {
        samples.append(RecordedSample(offset: offset, value: .heartRate(bpm: bpm)))
      }
      if point.startsLine, let last { stops.append(TimerStop(pausedAt: last, resumedAt: offset)) }
      last = offset
    }
    guard last != nil else {
      throw RunBusError(.badInput, "this run has no positions, which GPX needs: export it as tcx or csv")
    }
    let summary = record.summary
    let recording = Recording(
      name: summary.title, samples: samples, timerStops: stops,
      duration: summary.elapsed, startedAtUnixNanoseconds: summary.unixNanoseconds(at: .zero))
    var description: [String] = []
    if !summary.note.isEmpty { description.append("<desc>\(GPXWriter.escaped(summary.note))</desc>") }
    description += [#"<link href="\#(summary.urn)"/>"#, "<type>running</type>"]
    return GPXWriter.document(recording, description: description)
  }

  /// A record as comma-separated values: a line, ended by CR LF, for every fix, counted or not, and for every
  /// sample of the series without a fix. The names of the columns carry the units; values that are not known are empty.
  package static func csv(_ record: RunRecord) -> String {
    var lines = [
      "offsetSeconds,time,latitude,longitude,altitudeMeters,distanceMeters,paceSecondsPerKilometer,heartRateBpm,"
        + "cadenceStepsPerMinute,counted"
    ]
    for point in RecordTrack(record.body, withEveryFix: true).points {
      let values: [Double?] = [
        point.fix?.position.latitude, point.fix?.position.longitude, point.values.altitudeMeters,
        point.values.distanceMeters, point.values.paceSecondsPerKilometer, point.values.heartRateBpm,
        point.values.cadenceStepsPerMinute,
      ]
      let numbers = values.enumerated().map { index, value in
        value.map { GPXWriter.decimal($0, places: index < 2 ? 7 : 3) } ?? ""
      }
      let head = [GPXWriter.decimal(point.offset.seconds, places: 3), record.summary.time(at: point.offset)]
      let counted = point.fix.map { $0.verdict.counts ? "true" : "false" } ?? ""
      lines.append((head + numbers + [counted]).joined(separator: ","))
    }
    return lines.joined(separator: "\r\n") + "\r\n"
  }
}
