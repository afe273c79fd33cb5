import Foundation
import RunBus

/// A receipt as `send --json` writes it: with a sentence that says what the command does next.
struct ReceiptLineJSON: Encodable {
  private enum Key: String, CodingKey { case message }

  let receipt: Receipt
  let message: String

  func encode(to encoder: any Encoder) throws {
    try receipt.encode(to: encoder)
    // Replaces the receipt's own sentence.
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(message, forKey: .message)
  }
}

/// A snapshot with the report of its run, as `state --splits --json` writes it: the keys of the snapshot, and `report`
/// beside them, `null` before the first run. The report is newer than the snapshot.
struct ReportedStateJSON: Encodable {
  let snapshot: Snapshot
  let report: RunReport?

  private enum Key: CodingKey { case report }

  func encode(to encoder: any Encoder) throws {
    try snapshot.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(report, forKey: .report)
  }
}

/// A line of `monitor --json` where events are missing.
struct MissedLineJSON: Codable, Hashable, Sendable {
  var event = "missed"
  var at = DayTime.text(unixSeconds: Date().timeIntervalSince1970)
  /// How many snapshots are missing. How many other events are is not known.
  var snapshots: UInt64
}
