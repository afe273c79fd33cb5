/// The line of `busnode backup --json`.
struct BackupJSON: Codable, Hashable, Sendable {
  var deviceId: String
  var file: String
  var bytes: Int
}
