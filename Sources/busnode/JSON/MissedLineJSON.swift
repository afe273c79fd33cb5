import Foundation
import RunBus

/// A line of `monitor --json` where events are missing.
struct MissedLineJSON: Codable, Hashable, Sendable {
  var event = "missed"
  var at = DayTime.text(unixSeconds: Date().timeIntervalSince1970)
  /// How many snapshots are missing. How many other events are is not known.
  var snapshots: UInt64
}
