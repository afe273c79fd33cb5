import Foundation
import Logging
import RunBus

/// The log on standard error for programs: one JSON object a line, with `time`, `level`, `logger`, `message`, and the keys
/// of the line beside them. A line that cannot be written is left out.
struct JSONLogHandler: LogHandler {
  let label: String
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?

  init(label: String, level: Logger.Level) { (self.label, logLevel) = (label, level) }

  func log(event: LogEvent) {
    var keys = metadata
    for more in [metadataProvider?.get(), event.metadata] { keys.merge(more ?? [:]) { $1 } }
    let words = ["level": event.level.rawValue, "logger": label, "message": event.message.description]
    LogLines().write(Self.line(keys.mapValues(\.description).merging(words) { $1 }) + "\n")
  }

  /// A line of the log with the time of day.
  static func line(_ fields: [String: String]) -> String {
    var fields = fields.mapValues { ForeignText.shown($0) }
    fields["time"] = Date().formatted(
      .iso8601.year().month().day().timeZone(separator: .omitted).time(includingFractionalSeconds: true))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(fields)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }
}
