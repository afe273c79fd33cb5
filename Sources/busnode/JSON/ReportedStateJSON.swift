import RunBus

/// A snapshot with the splits of its run, as `state --splits --json` writes it: the keys of the snapshot, and `report`
/// beside them, `null` before the first run.
struct ReportedStateJSON: Encodable {
  /// The splits, laps and stretches.
  struct Report: Codable, Hashable, Sendable {
    var kilometers: [SplitJSON]
    var miles: [SplitJSON]
    var laps: [SplitJSON]
    var stretches: [StretchJSON]
  }

  let snapshot: SnapshotJSON
  let report: Report?

  init(_ snapshot: SnapshotJSON, _ report: RunReport?) {
    self.snapshot = snapshot
    self.report = report.map { report in
      let splits = SplitsJSON(report)
      return Report(
        kilometers: splits.kilometers, miles: splits.miles, laps: splits.laps,
        stretches: report.stretches.map { StretchJSON($0) })
    }
  }

  private enum Key: CodingKey { case report }

  func encode(to encoder: any Encoder) throws {
    try snapshot.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(report, forKey: .report)
  }
}
