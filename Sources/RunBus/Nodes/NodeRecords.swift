public import RunCore

/// The records that a node keeps; see ``Node/records``. A hub has all of its bus, and may change them; a peer has those
/// that it has received.
///
/// ```swift
/// for summary in try await phone.records.list() { print(summary.title, summary.metrics.distanceMeters ?? 0) }
/// try await phone.records.edit(run, title: "by the river")
/// ```
///
/// Its methods wait until the node has begun. They throw `CancellationError` when the task is cancelled meanwhile, and
/// ``RunBusError/Code/closed``, or the error that ended the node, when it has ended. `Member` says whose records they
/// are: those of a ``Hub`` can be changed.
public struct NodeRecords<Member>: Sendable {
  let node: any DrivenNode
  private var kept: KeptRecords { KeptRecords(node) }

  /// The summaries of the records, oldest first.
  public func list() async throws -> [RecordSummary] { try await kept.list().kept }

  /// The record of a run with its splits, laps, route and series; `nil` when this node keeps none.
  ///
  /// - Throws: ``RunBusError/Code/store`` when it cannot be read.
  public func record(of run: RunID) async throws -> RunRecord? {
    guard let summary = try await list().first(where: { $0.runID == run }) else { return nil }
    return try await kept.record(summary)
  }

  /// What happens to the records from now on: a run is kept, a new version replaces a record, a record is removed. A
  /// reader more than 1,024 behind loses the oldest.
  public func news() -> AsyncStream<RecordNews> { node.broadcaster.recordNews() }
}

extension NodeRecords where Member == Hub {
  /// Changes title and note of a record. Peers receive the new version.
  ///
  /// - Parameters:
  ///   - run: The run of the record.
  ///   - title: The new title, at most ``RunCore/RecordSummary/titleBytesMax`` bytes; `nil` leaves the present one.
  ///   - note: The new note, at most ``RunCore/RecordSummary/noteBytesMax`` bytes; `nil` leaves the present one.
  /// - Throws: ``RunBusError/Code/notFound`` when there is no record of the run, ``RunBusError/Code/badInput`` for a
  ///   text that is too long.
  public func edit(_ run: RunID, title: String? = nil, note: String? = nil) async throws {
    try await node.ask(.editRecord(run, title: title, note: note))
  }

  /// Removes a record with its route and series, here and from the peers.
  ///
  /// - Throws: ``RunBusError/Code/notFound`` when there is no record of the run.
  public func remove(_ run: RunID) async throws { try await node.ask(.removeRecord(run)) }

  /// Keeps a record that was made elsewhere, such as an imported recording, and gives it to the peers.
  ///
  /// - Returns: Whether the record is new here. A known run is left as it is.
  /// - Throws: ``RunBusError/Code/badInput`` when the record contradicts itself or is too long.
  @discardableResult
  public func add(_ record: RunRecord) async throws -> Bool { !(try await kept.put(record)) }
}

extension Node {
  /// The records that this node keeps.
  public nonisolated var records: NodeRecords<any Node> { NodeRecords(node: internals.node) }
}

extension Hub {
  /// The records of the bus, which the hub may change.
  public nonisolated var records: NodeRecords<Hub> { NodeRecords(node: self) }
}
