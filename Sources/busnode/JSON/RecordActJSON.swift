import RunScripts

/// What was done to a record, as `records edit`, `rm`, `export` and `import` write it with `--json`.
struct RecordActJSON: Codable, Hashable, Sendable {
  enum Act: String, Codable, Hashable, Sendable { case edited, removed, imported, known, exported }

  var act: Act
  var runId: String
  /// The file that was written or read; `null` where there is none.
  @Explicit var file: String?
  var message: String
}
