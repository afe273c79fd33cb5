import RunCore

/// A record as a list of points, which is what files of other programs hold.
struct RecordTrack {
  struct Point {
    var offset: BusDuration
    /// The fix, when this is one.
    var fix: RoutePoint?
    /// What else was known then.
    var values: RecordSeries.Sample
    /// No line leads to it from the point before.
    var startsLine = false
  }

  let points: [Point]

  /// Every fix that counts, or every fix at all, and the samples of the series where there is no fix for a step of it.
  init(_ body: RecordBody, withEveryFix: Bool = false) {
    var points: [Point] = []
    var steps: Set<Int64> = []
    let step = max(1, body.series.interval.nanoseconds)
    let half = BusDuration(nanoseconds: step / 2)
    for fix in body.route where withEveryFix || fix.verdict.counts {
      steps.insert(fix.offset.nanoseconds / step)
      let (nearest, last) = (body.series.sample(at: fix.offset + half), body.series.sample(at: fix.offset))
      var values = nearest ?? last ?? RecordSeries.Sample()
      values.altitudeMeters = fix.altitudeMeters ?? values.altitudeMeters
      values.distanceMeters = fix.distanceMeters ?? values.distanceMeters
      points.append(Point(offset: fix.offset, fix: fix, values: values, startsLine: fix.verdict == .anchored))
    }
    for (index, values) in body.series.samples.enumerated() where !steps.contains(Int64(index)) {
      points.append(Point(offset: body.series.offset(of: index), values: values))
    }
    self.points = points.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
      .map(\.element)
  }
}

extension RecordSummary {
  /// A moment of the run in nanoseconds since 1970.
  func unixNanoseconds(at offset: BusDuration) -> Int64 {
    (BusTime.zero + BusDuration(seconds: startedAtUnixSeconds) + offset).nanoseconds
  }

  /// A moment of the run as files write it.
  func time(at offset: BusDuration) -> String { RecordingTime.text(unixNanoseconds: unixNanoseconds(at: offset)) }

  /// What a file says of itself, so that it is known again when it comes back.
  var urn: String { Self.urnPrefix + runID.description }
  static var urnPrefix: String { "urn:runbus:run:" }
}
