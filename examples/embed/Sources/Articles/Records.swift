import Foundation
import RunBus
import RunRecordings

/// Tells the person when a run is kept, or kept anew with late readings.
func announceRecords(of phone: Hub, _ tell: (RecordSummary) async -> Void) async {
  for await news in phone.records.news() {
    if case .kept(let summary) = news { await tell(summary) }
  }
}

/// Writes a run for other programs: as GPX, or without positions as TCX.
func export(_ run: RunID, of node: any Node, to folder: URL) async throws {
  let file = folder.appending(path: run.description)
  do {
    let gpx = try await node.records.export(run, as: .gpx)
    try gpx.write(to: file.appendingPathExtension("gpx"), atomically: true, encoding: .utf8)
  } catch let error as RunBusError where error.code == .badInput {
    let tcx = try await node.records.export(run, as: .tcx)
    try tcx.write(to: file.appendingPathExtension("tcx"), atomically: true, encoding: .utf8)
  }
}

/// A record with all that it holds.
func backup(of run: RunID, on node: any Node) async throws -> Data? {
  guard let record = try await node.records.record(of: run) else { return nil }
  return try JSONEncoder().encode(record)
}

/// Keeps a record from a backup, and says whether it is new here.
func restore(_ backup: Data, on phone: Hub) async throws -> Bool {
  let record = try JSONDecoder().decode(RunRecord.self, from: backup)
  return try await phone.records.add(record)
}

/// Keeps the first run of a GPX, TCX or FIT file.
func keepRecording(at file: URL, on phone: Hub) async throws -> RunID {
  let document = try [UInt8](Data(contentsOf: file))
  let (run, isNew, warnings) = try await phone.records.add(from: document, named: file.lastPathComponent)
  if !isNew { print("\(run) was kept already") }
  for warning in warnings { print(warning) }
  return run
}
