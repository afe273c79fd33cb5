import RunCore

/// A record as a list of points, the form that GPX, TCX and CSV need.
struct RecordTrack {
  struct Point {
    var offset: BusDuration
    /// The fix; `nil` for a sample of the series.
    var fix: RoutePoint?
    /// The other values at this moment.
    var values: RecordSeries.Sample
    /// Whether the distance was not measured from the point before.
    var startsLine = false
  }

  let points: [Point]

  /// Collects the fixes, and a sample of the series for each of its steps without a fix.
  ///
  /// - Parameter withEveryFix: Whether to include the fixes that do not count.
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

  /// A moment of the run as an ISO 8601 time stamp.
  func time(at offset: BusDuration) -> String { RecordingTime.text(unixNanoseconds: unixNanoseconds(at: offset)) }

  /// The run id as a URN, written into exports so that an import recognizes the run.
  var urn: String { Self.urnPrefix + runID.description }
  static var urnPrefix: String { "urn:runbus:run:" }
}
