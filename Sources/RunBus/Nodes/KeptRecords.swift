package import RunCore

/// Reads a node's records in parts, by questions.
package struct KeptRecords {
  private let node: any Answerer

  /// The records of a node.
  package init(_ node: any Answerer) { self.node = node }

  /// The summaries of all records, oldest first, and the runs that were removed.
  ///
  /// - Throws: What the node answers with.
  package func list() async throws -> (kept: [RecordSummary], removed: [RecordRemoval]) {
    var (kept, removed): ([RecordSummary], [RecordRemoval]) = ([], [])
    while true {
      let page = try await node.ask(.records(from: kept.count + removed.count))
      kept += page.kept
      removed += page.removed
      let isLast = page.kept.isEmpty && page.removed.isEmpty
      if isLast || kept.count + removed.count >= page.total { return (kept, removed) }
    }
  }

  /// A record with its body, which is read in parts.
  ///
  /// - Throws: ``RunBusError/Code/notFound`` when there is no record of the run, ``RunBusError/Code/store`` when it
  ///   cannot be read, and what the node answers with.
  package func record(_ summary: RecordSummary) async throws -> RunRecord {
    // A new version may replace the record between two parts; reading then starts over.
    for _ in 0..<8 {
      if let record = try await readOnce(summary) { return record }
    }
    throw RunBusError(.store, "the record of \(summary.runID) changes all the time: try again")
  }

  /// Gives a record to the hub, in parts.
  ///
  /// - Returns: Whether the hub had the record already.
  /// - Throws: ``RunBusError/Code/badInput`` when the hub refuses the record, and what the node answers with.
  package func put(_ record: RunRecord) async throws -> Bool {
    let bytes = record.encoded
    var from = 0
    while true {
      let part = Array(bytes.dropFirst(from).prefix(RecordPart.bytesMax))
      let upload = RecordUpload(from: from, bytes: part, total: bytes.count)
      from += part.count
      let isKnown = try await node.ask(.putRecord(upload))
      if isKnown || from >= bytes.count { return isKnown }
    }
  }

  private func readOnce(_ summary: RecordSummary) async throws -> RunRecord? {
    var bytes: [UInt8] = []
    var version: UInt64?
    while true {
      let part = try await node.ask(.record(summary.runID, from: bytes.count))
      guard version == nil || version == part.version, part.from == bytes.count, !part.bytes.isEmpty else { return nil }
      version = part.version
      bytes += part.bytes
      if bytes.count >= part.total { break }
    }
    guard let body = RecordBody(encoded: bytes) else {
      throw RunBusError(.store, "the record cannot be read: it was written by another version of RunBus")
    }
    return RunRecord(summary: summary, body: body)
  }
}
