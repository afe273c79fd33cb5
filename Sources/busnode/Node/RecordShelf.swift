import Foundation
import RunBus

/// The records of a bus on this machine: of its hub, whether it runs or not.
struct RecordShelf {
  /// A record and the device that keeps it.
  struct Entry {
    let device: DeviceID
    let summary: RecordSummary
  }

  private let devices: LocalDevices
  /// Every record once, in its newest version, oldest first.
  private(set) var entries: [Entry] = []
  /// The devices that keep records, by name.
  private(set) var keepers: [DeviceID] = []

  /// Asks every device of the bus, or the one named.
  ///
  /// Throws ``Failure`` with 69 when none of them keeps records, with 75 when one cannot be looked into.
  init(_ location: BusLocation, device: DeviceID? = nil) async throws {
    devices = LocalDevices(location: location)
    var found: [RunID: Entry] = [:]
    for keeper in devices.all where device == nil || device == keeper {
      guard let summaries = try await Self.list(of: keeper, devices) else { continue }
      keepers.append(keeper)
      for summary in summaries where summary.version > found[summary.runID]?.summary.version ?? 0 {
        found[summary.runID] = Entry(device: keeper, summary: summary)
      }
    }
    guard !keepers.isEmpty else {
      throw Failure(
        code: "noBus", message: "no phone of bus \"\(location.displayName)\" has kept anything on this machine",
        exitStatus: ExitStatus.noBus)
    }
    entries = found.values.sorted {
      ($0.summary.startedAtUnixSeconds, $0.summary.runID) < ($1.summary.startedAtUnixSeconds, $1.summary.runID)
    }
  }

  /// All pages of a device's list; `nil` when it keeps no records.
  private static func list(of device: DeviceID, _ devices: LocalDevices) async throws -> [RecordSummary]? {
    try await devices.converse(with: device) { ask in
      var summaries: [RecordSummary] = []
      while true {
        guard case .records(let page, let total) = try await ask(.records(from: summaries.count)) else { return nil }
        summaries += page
        if page.isEmpty || summaries.count >= total { return summaries }
      }
    }
  }

  /// The record whose id begins so; without an id, the last run.
  func entry(_ prefix: IDPrefix?) throws(Failure) -> Entry {
    guard let prefix else {
      guard let last = entries.last else {
        throw Failure(code: "unknownId", message: "no run is kept here", exitStatus: ExitStatus.failure)
      }
      return last
    }
    let id = try prefix.match(entries.map(\.summary.runID.description), where: "that is kept here")
    guard let entry = entries.first(where: { $0.summary.runID.description == id }) else {
      throw Failure(code: "unknownId", message: "no run \(id) is kept here", exitStatus: ExitStatus.failure)
    }
    return entry
  }

  /// A record with its body, which comes in parts.
  func record(_ entry: Entry) async throws -> RunRecord {
    // A new version can take its place between two parts; then it begins anew.
    let record: RunRecord? = try await devices.converse(with: entry.device) { ask in
      for _ in 0..<8 {
        if let record = try await readOnce(entry, ask) { return record }
      }
      return nil
    }
    if let record { return record }
    throw Failure(
      code: "busy", message: "the record changes all the time: try again", exitStatus: ExitStatus.busHeld)
  }

  private func readOnce(
    _ entry: Entry, _ ask: (Inquiry) async throws -> InquiryAnswer
  ) async throws -> RunRecord? {
    var bytes: [UInt8] = []
    var version: UInt64?
    repeat {
      let part: RecordPart
      switch try await ask(.record(entry.summary.runID, from: bytes.count)) {
      case .record(let answer): part = answer
      case .failed(let reason): throw Failure(code: "failure", message: reason, exitStatus: ExitStatus.failure)
      case .peers, .outbox, .quarantine, .done, .report, .route, .records, .taken: throw Self.noAnswer(entry.device)
      }
      guard version == nil || version == part.version, part.from == bytes.count, !part.bytes.isEmpty else { return nil }
      version = part.version
      bytes += part.bytes
      if bytes.count >= part.total { break }
    } while true
    guard let body = RecordBody(encoded: bytes) else {
      throw Failure(
        code: "failure", message: "the record cannot be read: it was written by another version of RunBus",
        exitStatus: ExitStatus.failure)
    }
    return RunRecord(summary: entry.summary, body: body)
  }

  /// Changes something of a record.
  func change(_ inquiry: Inquiry, of entry: Entry) async throws {
    switch try await devices.ask(inquiry, of: entry.device) {
    case .done: break
    case .failed(let reason): throw Failure(code: "failure", message: reason, exitStatus: ExitStatus.failure)
    case .peers, .outbox, .quarantine, .report, .route, .records, .record, .taken: throw Self.noAnswer(entry.device)
    }
  }

  /// Gives a record to whoever keeps records here; whether it was known already.
  func put(_ record: RunRecord) async throws -> Bool {
    guard let keeper = entries.last?.device ?? keepers.first else { throw Self.noAnswer(RecordImport.device) }
    let bytes = record.encoded
    return try await devices.converse(with: keeper) { ask in
      var from = 0
      while true {
        let part = Array(bytes.dropFirst(from).prefix(RecordPart.bytesMax))
        let upload = RecordUpload(from: from, bytes: part, total: bytes.count)
        from += part.count
        switch try await ask(.putRecord(upload)) {
        case .taken(let isKnown): if from >= bytes.count { return isKnown }
        case .failed(let reason): throw Failure(code: "failure", message: reason, exitStatus: ExitStatus.failure)
        case .peers, .outbox, .quarantine, .done, .report, .route, .records, .record: throw Self.noAnswer(keeper)
        }
      }
    }
  }

  private static func noAnswer(_ device: DeviceID) -> Failure {
    Failure(code: "failure", message: "\(device) has no answer to that", exitStatus: ExitStatus.failure)
  }
}
