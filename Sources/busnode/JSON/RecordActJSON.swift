/// What was done to a record, as `records edit`, `rm`, `export` and `import` write it with `--json`.
struct RecordActJSON: Codable, Hashable, Sendable {
  enum Act: String, Codable, Hashable, Sendable { case edited, removed, imported, known, exported }

  var act: Act
  var runId: String
  /// The file that was written or read; `null` where there is none.
  @Explicit var file: String?
  var message: String
}

/// The runs of a day, a week or a month, as a line of `records stats --json`.
struct RecordStatsJSON: Codable, Hashable, Sendable {
  /// `2026-11-21`, `2026-W47` or `2026-11`.
  var period: String
  var count: Int
  var activeSeconds: Double
  var elapsedSeconds: Double
  @Explicit var distanceMeters: Double?
  @Explicit var averagePaceSecondsPerKilometer: Double?
  @Explicit var elevationGainMeters: Double?
  @Explicit var energyJoules: Double?
}
