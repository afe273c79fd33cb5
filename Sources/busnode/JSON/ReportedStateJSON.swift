import RunBus

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
