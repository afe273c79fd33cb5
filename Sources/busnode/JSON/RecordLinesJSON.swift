import RunBus
import RunScripts

/// What was done to a record, as `records edit`, `rm`, `export` and `import` write it with `--json`.
struct RecordActJSON: Codable, Hashable, Sendable {
  enum Act: String, Codable, Hashable, Sendable { case edited, removed, imported, known, exported, unchanged }

  var act: Act
  var runId: String
  /// The file that was written or read; `null` where there is none.
  @Explicit var file: String?
  var message: String
}

/// A line of `records ls --json`: the summary of a record, and of which other record it is likely a double, if of one.
struct RecordLineJSON: Encodable {
  let summary: RecordSummary
  let doubleOf: RunID?

  private enum CodingKeys: String, CodingKey { case doubleOf }

  func encode(to encoder: any Encoder) throws {
    try summary.encode(to: encoder)
    guard let doubleOf else { return }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(doubleOf.description, forKey: .doubleOf)
  }
}

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
