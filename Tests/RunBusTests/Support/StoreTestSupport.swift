import Foundation
import RunCore
import Synchronization
import Testing

@testable import RunBus

/// A directory of its own, gone with its owner.
final class ScratchDirectory: Sendable {
  let path: String

  init() throws {
    // Short, so that sockets fit.
    var template = Array("/tmp/rb-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw RunBusError(.store, "no scratch directory") }
    path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
  }
  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }
  /// Copies the files of a store as a power cut would leave them: no close, no checkpoint.
  func takeFiles(of source: ScratchDirectory) throws {
    for name in try source.names() where name != "lock" {
      try FileManager.default.copyItem(atPath: source.file(name), toPath: file(name))
    }
  }
  /// The bytes of all files, by their path in the directory.
  func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: file(name), isDirectory: &isDirectory), !isDirectory.boolValue else {
        continue
      }
      contents[name] = try Data(contentsOf: URL(filePath: file(name)))
    }
    return contents
  }
  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}

/// What became of commits, from the store's own thread.
final class Results: Sendable {
  private let failed = Mutex(false)
  var hasFailure: Bool { failed.withLock { $0 } }
  func append(_ result: Result<Void, StoreFault>) {
    if case .failure = result { failed.withLock { $0 = true } }
  }
}

extension NodeStore {
  /// Commits and waits for the completion.
  func commit(_ operations: [StoreOperation]) async throws(StoreFault) {
    let result = await withCheckedContinuation { continuation in
      commit(operations) { continuation.resume(returning: $0) }
    }
    try result.get()
  }
}

/// The permission bits of a file.
func mode(of path: String) throws -> Int {
  let attributes = try FileManager.default.attributesOfItem(atPath: path)
  return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
}

/// A history in which everything can be compared. Wall time and boot are the machine's and left out.
struct ComparableHistory: Equatable {
  struct Accepted: Equatable {
    let press: AcceptedCommand
    let pressClass: Admission
  }
  struct Judged: Equatable {
    let verdict: Verdict
    let press: AcceptedCommand
    let judgedAt: BusTime
  }
  let term: UInt64
  let transitions: [PastTransition]
  let windows: [SettledWindow]
  let accepted: [Accepted]
  let claims: [CommandID: [StoreID]]
  let verdicts: [Judged]
  let delivery: ComparableDelivery
  let devices: [KnownDevice]
  let storeOwners: [StoreID: ConnectionIdentity]
  let records: [RecordSummary]
  let endedJournals: [RunID: BusTime]
  let runDates: [RunID: Double]
  let removedRecords: [RunID: UInt64]
  let skippedChanges: [UInt64: UInt64]
  let expectedRecords: [ExpectedRecord]
  let aliases: [RunID: RunID]
  let unanswered: [RunID: BusTime]
  let discarded: Set<RunID>
  let journal: [LedgerEntry]
  let lastPosition: UInt64
  let clock: [BusTime]

  init(_ history: HubHistory) {
    term = history.term
    transitions = history.transitions
    windows = history.windows
    claims = history.claims
    accepted = history.accepted.map { Accepted(press: $0.press, pressClass: $0.class) }
    verdicts = history.verdicts.map { Judged(verdict: $0.verdict, press: $0.press, judgedAt: $0.judgedAt) }
    delivery = ComparableDelivery(history.delivery)
    devices = history.devices
    storeOwners = history.storeOwners
    endedJournals = history.endedJournals
    runDates = history.runDates
    records = history.records.sorted { $0.runID < $1.runID }
    removedRecords = history.removedRecords
    skippedChanges = history.skippedChanges
    expectedRecords = history.expectedRecords.sorted { $0.runID < $1.runID }
    aliases = history.aliases
    unanswered = history.unanswered
    discarded = history.discarded
    journal = history.journal
    lastPosition = history.lastPosition
    clock = history.clock.map { [$0.real, $0.bus] } ?? []
  }
}

/// The same for a peer's.
struct ComparablePeerHistory: Equatable {
  let term: UInt64
  let clock: [BusTime]
  let hubStore: StoreID?
  let hubDevice: DeviceID?
  let view: Snapshot?
  let failureMark: HubFailureMark
  let delivery: ComparableDelivery

  init(_ history: PeerHistory) {
    term = history.term
    clock = history.clock.map { [$0.real, $0.bus] } ?? []
    hubStore = history.hub?.storeID
    hubDevice = history.hub?.deviceID
    view = history.view
    failureMark = history.failureMark
    delivery = ComparableDelivery(history.delivery)
  }
}

/// What was sent and received, in the order in which it is told.
struct ComparableDelivery: Equatable {
  let rows: [OutboxRow]
  let acknowledged: [OutboundStreamID: UInt64]
  let watermarks: [StreamID: StreamMark]
  let quarantine: [QuarantinedMessage]
  let latestSent: [LatestRow]
  let latestReceived: [LatestReceived]

  init(_ history: DeliveryHistory) {
    rows = history.rows
    acknowledged = history.acknowledged
    watermarks = history.watermarks
    quarantine = history.quarantine
    latestSent = history.latestSent
    latestReceived = history.latestReceived
  }
}
