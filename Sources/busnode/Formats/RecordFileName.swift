import Foundation
import RunBus

/// The name of a record's file in a directory of exports. It stays the same for every version of the record, on every
/// machine and in every time zone.
enum RecordFileName {
  /// `2026-11-21-8a0ecc5e….gpx`: the day on which the run started, by its own clock where that is known and in UTC
  /// elsewhere, and the whole id, which no other record has.
  static func name(_ summary: RecordSummary, ending: String) -> String {
    let zone = summary.utcOffsetSeconds.flatMap { TimeZone(secondsFromGMT: $0) } ?? .gmt
    let day = RunCalendar(timeZone: zone).name(of: .day, summary.startedAtUnixSeconds)
    return "\(day)-\(summary.runID).\(ending)"
  }
}
