public import RunCore

/// Reads a node's records in parts, by inquiries: of the own node, or of another one over its admin socket.
public struct KeptRecords {
  private let ask: (Inquiry) async throws -> InquiryAnswer

  /// The records of the node that answers `ask`.
  public init(_ ask: @escaping (Inquiry) async throws -> InquiryAnswer) { self.ask = ask }

  /// The summaries of all records, oldest first; `nil` when this node keeps no records.
  ///
  /// - Throws: What `ask` throws.
  public func summaries() async throws -> [RecordSummary]? {
    var summaries: [RecordSummary] = []
    while true {
      guard case .records(let page, let total) = try await ask(.records(from: summaries.count)) else { return nil }
      summaries += page
      if page.isEmpty || summaries.count >= total { return summaries }
    }
  }

  /// A record with its body, which is read in parts.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` when there is no record of the run, ``RunBusError/Code/store`` when it
  ///   cannot be read, and what `ask` throws.
  public func record(_ summary: RecordSummary) async throws -> RunRecord {
    // A new version may replace the record between two parts; reading then starts over.
    for _ in 0..<8 {
      if let record = try await readOnce(summary) { return record }
    }
    throw RunBusError(.store, "the record of \(summary.runID) changes all the time: try again")
  }

  private func readOnce(_ summary: RecordSummary) async throws -> RunRecord? {
    var bytes: [UInt8] = []
    var version: UInt64?
    while true {
      let part: RecordPart
      switch try await ask(.record(summary.runID, from: bytes.count)) {
      case .record(let answer): part = answer
      case .failed(let reason): throw RunBusError(.badInput, reason)
      case .peers, .outbox, .quarantine, .done, .report, .route, .records, .taken:
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

extension Node {
  /// The summaries of the records that this node keeps, oldest first: on a hub all of the bus, on a peer those that it
  /// has received. Empty when the node does not run.
  public func records() async throws(RunBusError) -> [RecordSummary] {
    try await rethrowing { try await KeptRecords { await self.ask($0) }.summaries() } ?? []
  }

  /// The record of a run with its splits, laps, route and series; `nil` when this node keeps none or does not run.
  ///
  /// - Throws: ``RunBusError/Code/store`` when it cannot be read.
  public func record(of run: RunID) async throws(RunBusError) -> RunRecord? {
    guard let summary = try await records().first(where: { $0.runID == run }) else { return nil }
    return try await rethrowing { try await KeptRecords { await self.ask($0) }.record(summary) }
  }

  private func rethrowing<Value>(_ body: () async throws -> Value) async throws(RunBusError) -> Value {
    do {
      return try await body()
    } catch {
      throw error as? RunBusError ?? RunBusError(.store, "\(error)")
    }
  }
}
