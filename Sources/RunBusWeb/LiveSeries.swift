import RunBus

/// The numbers of the present run over time, for the charts of the dashboard. They come from the snapshots that the page's
/// node received; what happened without it is taken from the route.
struct LiveSeries: Sendable {
  /// The values at a moment of the run.
  struct Sample: Hashable, Sendable, Encodable {
    var offsetSeconds: Double
    var distanceMeters: Double?
    var paceSecondsPerKilometer: Double?
    var altitudeMeters: Double?
    var heartRateBpm: Double?
    var cadenceStepsPerMinute: Double?
  }

  /// Beyond so many samples every second one is dropped.
  private static let samplesMax = 4000

  private(set) var runID: RunID?
  private(set) var samples: [Sample] = []
  private var interval = 3.0

  /// Takes a snapshot.
  mutating func add(_ snapshot: Snapshot) {
    if snapshot.runID != runID { (runID, samples, interval) = (snapshot.runID, [], 3) }
    // A snapshot that the node has kept from before its start has no numbers.
    guard snapshot.phase != .idle, runID != nil, snapshot.order.tick > 0 else { return }
    let metrics = snapshot.metrics
    let offset = metrics.elapsed.seconds
    if let last = samples.last, offset < last.offsetSeconds + interval * 0.9 { return }
    func fresh(_ value: Double?, _ metric: Metric) -> Double? { metrics.isStale(metric) ? nil : value }
    samples.append(
      Sample(
        offsetSeconds: offset, distanceMeters: metrics.distanceMeters,
        paceSecondsPerKilometer: snapshot.phase == .running
          ? fresh(metrics.currentPaceSecondsPerKilometer, .distance) : nil,
        altitudeMeters: fresh(metrics.altitudeMeters, .elevation),
        heartRateBpm: fresh(metrics.heartRateBpm, .heartRate),
        cadenceStepsPerMinute: fresh(metrics.cadenceStepsPerMinute, .cadence)))
    guard samples.count > Self.samplesMax else { return }
    samples = samples.enumerated().compactMap { $0.offset.isMultiple(of: 2) ? $0.element : nil }
    interval *= 2
  }

  /// The samples, at most `count`. Where there is none for a while, because the node was not there, the route tells
  /// distance, pace and altitude.
  func samples(with route: [RoutePoint], max count: Int) -> [Sample] {
    var told: [Sample] = []
    var (behind, next) = (0, 0)
    let points = route.filter { $0.verdict.counts && $0.distanceMeters != nil }
    for point in points {
      let offset = point.offset.seconds
      while points[behind].offset.seconds < offset - 30 { behind += 1 }
      while next < samples.count, samples[next].offsetSeconds < offset { next += 1 }
      let isNear =
        next > 0 && offset - samples[next - 1].offsetSeconds < 3 * interval
        || next < samples.count && samples[next].offsetSeconds - offset < 3 * interval
      guard !isNear, told.last.map({ offset >= $0.offsetSeconds + 3 }) ?? true else { continue }
      let meters = (point.distanceMeters ?? 0) - (points[behind].distanceMeters ?? 0)
      let seconds = offset - points[behind].offset.seconds
      told.append(
        Sample(
          offsetSeconds: offset, distanceMeters: point.distanceMeters,
          paceSecondsPerKilometer: meters > 5 ? seconds / meters * 1000 : nil, altitudeMeters: point.altitudeMeters))
    }
    let all = told.isEmpty ? samples : (told + samples).sorted { $0.offsetSeconds < $1.offsetSeconds }
    guard all.count > count else { return all }
    return (0..<count).map { all[$0 * (all.count - 1) / max(1, count - 1)] }
  }
}
