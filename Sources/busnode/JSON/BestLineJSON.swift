import RunBus

/// A best of all runs, as `records stats --bests --json` writes it.
struct BestLineJSON: Codable, Hashable, Sendable {
  var distanceMeters: Double
  var activeSeconds: Double
  var runId: RunID
  var startedAtUnixSeconds: Double
  /// Whether it is the longest run, and not the fastest stretch of a distance.
  var longest: Bool

  init(_ best: PersonalBest, isLongest: Bool) {
    distanceMeters = best.distanceMeters
    activeSeconds = best.activeSeconds
    runId = best.runID
    startedAtUnixSeconds = best.startedAtUnixSeconds
    longest = isLongest
  }
}
