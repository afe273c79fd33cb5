package import RunCore

/// Reads a node's records in parts, by inquiries: of the own node, or of another one over its admin socket.
package struct KeptRecords {
  private let ask: (Inquiry) async throws -> InquiryAnswer

  /// The records of the node that answers `ask`.
  package init(_ ask: @escaping (Inquiry) async throws -> InquiryAnswer) { self.ask = ask }

  /// The summaries of all records, oldest first; `nil` when this node keeps no records.
  ///
  /// - Throws: What `ask` throws.
  package func summaries() async throws -> [RecordSummary]? { try await list()?.kept }

  /// The summaries of all records, oldest first, and the runs that were removed; `nil` when this node keeps no records.
  ///
  /// - Throws: What `ask` throws.
  package func list() async throws -> (kept: [RecordSummary], removed: [RecordRemoval])? {
    var (kept, removed): ([RecordSummary], [RecordRemoval]) = ([], [])
    while true {
      let from = kept.count + removed.count
      guard case .records(let page, let removals, let total) = try await ask(.records(from: from)) else { return nil }
      kept += page
      removed += removals
      if page.isEmpty && removals.isEmpty || kept.count + removed.count >= total { return (kept, removed) }
    }
  }

  /// A record with its body, which is read in parts.
  ///
  /// - Throws: ``RunBusError/Code/notFound`` when there is no record of the run, ``RunBusError/Code/store`` when it
  ///   cannot be read, and what `ask` throws.
  package func record(_ summary: RecordSummary) async throws -> RunRecord {
    // A new version may replace the record between two parts; reading then starts over.
    for _ in 0..<8 {
      if let record = try await readOnce(summary) { return record }
    }
    throw RunBusError(.store, "the record of \(summary.runID) changes all the time: try again")
  }

  /// Gives a record to the hub that answers `ask`, in parts.
  ///
  /// - Returns: Whether the hub had the record already.
  /// - Throws: ``RunBusError/Code/badInput`` when the hub refuses the record, and what `ask` throws.
  package func put(_ record: RunRecord) async throws -> Bool {
    let bytes = record.encoded
    var from = 0
    while true {
      let part = Array(bytes.dropFirst(from).prefix(RecordPart.bytesMax))
      let upload = RecordUpload(from: from, bytes: part, total: bytes.count)
      from += part.count
      switch try await ask(.putRecord(upload)) {
      case .taken(let isKnown): if isKnown || from >= bytes.count { return isKnown }
      case .failed(let reason): throw RunBusError(.badInput, reason)
      case .peers, .outbox, .quarantine, .done, .report, .route, .series, .records, .record, .devices, .pairing:
        throw RunBusError(.badInput, "this node keeps no records")
      }
    }
  }

  private func readOnce(_ summary: RecordSummary) async throws -> RunRecord? {
    var bytes: [UInt8] = []
    var version: UInt64?
    while true {
      let part: RecordPart
      switch try await ask(.record(summary.runID, from: bytes.count)) {
      case .record(let answer): part = answer
      case .failed(let reason): throw RunBusError(refusal: reason)
      case .peers, .outbox, .quarantine, .done, .report, .route, .series, .records, .taken, .devices, .pairing:
        throw RunBusError(.badInput, "this node keeps no records")
      }
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
