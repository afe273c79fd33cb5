import Foundation
import RunCore
import Synchronization

/// A store in memory, which is lost with its owner: a `NodeStore` or a ``StoreMemory``.
final class MemoryStore: StoreBackend {
  private struct State: Sendable {
    var role: StoreRole?
    /// The id that a node has given the store; `nil` for its first one.
    var storeID: StoreID?
    var history = HubHistory()
    var journals: [RunID: [LedgerEntry]] = [:]
    /// Runs of which only the transitions are still read.
    var dropped: Set<RunID> = []
    var bodies: [RunID: RecordBody] = [:]
    var transitions = MemoryTransitions()
    var delivery = MemoryDelivery()
    var devices: [DeviceID: KnownDevice] = [:]
    var hub: (storeID: StoreID, deviceID: DeviceID)?
    var view: Snapshot?
    var failureMark = HubFailureMark()
    var recordsThrough: UInt64 = 0
  }
  private let options: StoreOptions
  private let state = Mutex(State())

  init(options: StoreOptions) { self.options = options }

  /// The id that a node has given the store; `nil` for its first one.
  var storeID: StoreID? { state.withLock { $0.storeID } }

  func commit(_ operations: [StoreOperation]) throws(StoreFault) {
    for case .enqueue(let row) in operations { try OutboxKey.check(row) }
    try options.beforeCommit?(operations)
    state.withLock { state in
      for operation in operations { Self.apply(operation, to: &state) }
    }
  }

  func claim(for role: StoreRole) throws(StoreFault) -> StoreRole {
    state.withLock { state in
      let stored = state.role ?? role
      state.role = stored
      return stored
    }
  }

  func history() throws(StoreFault) -> (history: HubHistory, notices: [String]) {
    state.withLock { state in
      var history = state.history
      history.transitions = state.transitions.all
      history.delivery = state.delivery.history
      history.devices = state.devices.values.sorted { $0.deviceID < $1.deviceID }
      history.journal = history.presentRun.map { Self.journal(of: $0, state) } ?? []
      return (history, [])
    }
  }

  func peerHistory() throws(StoreFault) -> (history: PeerHistory, notices: [String]) {
    state.withLock { state in
      var history = PeerHistory()
      history.term = state.history.term
      history.clock = state.history.clock
      history.hub = state.hub
      history.view = state.view
      history.failureMark = state.failureMark
      history.delivery = state.delivery.history
      history.records = state.history.records
      history.removedRecords = state.history.removedRecords
      history.recordsThrough = state.recordsThrough
      return (history, [])
    }
  }

  func term() throws(StoreFault) -> UInt64 { state.withLock { $0.history.term } }
  func journal(of run: RunID) throws(StoreFault) -> [LedgerEntry] { state.withLock { Self.journal(of: run, $0) } }

  func recordPart(of run: RunID, from: Int) throws(StoreFault) -> StoredRecord? {
    state.withLock { state in
      guard let body = state.bodies[run], let summary = state.history.records.first(where: { $0.runID == run }) else {
        return nil
      }
      let bytes = body.encoded
      return StoredRecord(
        change: state.history.recordChanges[run] ?? 0, summary: summary,
        part: RecordPart(
          runID: run, version: summary.version, from: from,
          bytes: Array(bytes.dropFirst(from).prefix(RecordPart.bytesMax)), total: bytes.count))
    }
  }

  func tidy() throws(StoreFault) -> Bool { false }
  func close() {}

  private static func apply(_ operation: StoreOperation, to state: inout State) {
    switch operation {
    case .setTerm(let term): state.history.term = term
    case .accept(let press, let admission):
      state.history.accepted.removeAll { $0.press.command.id == press.command.id }
      state.history.accepted.append((press, admission))
    case .claim(let id, let store):
      var stores = state.history.claims[id, default: []]
      stores.removeAll { $0 == store }
      state.history.claims[id] = (stores + [store]).sorted()
    case .reclassify(let id, let admission):
      guard let index = state.history.accepted.firstIndex(where: { $0.press.command.id == id }) else { break }
      state.history.accepted[index].class = admission
    case .judge(let verdict, let press, let judgedAt):
      state.history.accepted.removeAll { $0.press.command.id == press.command.id }
      state.history.claims[press.command.id] = nil
      state.history.verdicts.removeAll { $0.press.command.id == press.command.id }
      state.history.verdicts.append((verdict, press, judgedAt))
    case .forgetVerdicts(let moment): state.history.verdicts.removeAll { $0.judgedAt < moment }
    case .append(let runID, let entry): append(entry, to: runID, &state)
    case .setAlias(let alias, let runID): state.history.aliases[alias] = runID
    case .setUnanswered(let runID, let since): state.history.unanswered[runID] = since
    case .discard(let runID): state.history.discarded.insert(runID)
    case .settle(let window):
      state.history.windows.append(window)
      let excess = state.history.windows.count - ControlHistory.windowsMax
      if excess > 0 { state.history.windows.removeFirst(excess) }
    case .setClock(let real, let bus): state.history.clock = .now(real: real, bus: bus)
    case .setStoreID(let storeID): state.storeID = storeID
    case .setHub(let storeID, let deviceID): state.hub = (storeID, deviceID)
    case .setView(let view): state.view = view
    case .setFailureMark(let mark): state.failureMark = mark
    case .endJournal(let run, let moment):
      if state.journals[run] != nil, !state.dropped.contains(run) { state.history.endedJournals[run] = moment }
    case .dateRun(let run, let wallSeconds):
      if state.journals[run] != nil, !state.dropped.contains(run) { state.history.runDates[run] = wallSeconds }
    case .dropJournal(let run):
      state.history.aliases = state.history.aliases.filter { $0.value != run }
      guard state.journals[run] != nil else { break }
      state.dropped.insert(run)
      state.journals[run] = journal(of: run, state)
      state.history.endedJournals[run] = nil
      state.history.runDates[run] = nil
    case .meet(let device): state.devices[device.deviceID] = device
    case .own(let store, let identity): state.history.storeOwners[store] = identity
    case .disown(let store): state.history.storeOwners[store] = nil
    case .pair(let device):
      state.history.members.devices.removeAll { $0.key == device.key }
      state.history.members.devices.append(device)
      state.history.members.devices.sort { $0.key < $1.key }
    case .unpair(let key): state.history.members.devices.removeAll { $0.key == key }
    case .setMemberVersion(let version, let heard):
      (state.history.members.version, state.history.members.versionHeard) = (version, heard)
    case .forgetDevice(let device):
      state.devices[device] = nil
      state.delivery.apply(operation)
    case .expectRecord(let record):
      state.history.expectedRecords.removeAll { $0.runID == record.runID }
      state.history.expectedRecords.append(record)
    case .forgetExpected(let run): state.history.expectedRecords.removeAll { $0.runID == run }
    case .keepRecord(let record, let change):
      state.history.recordChanges[record.runID] = change
      state.history.expectedRecords.removeAll { $0.runID == record.runID }
      state.history.removedRecords[record.runID] = nil
      state.bodies[record.runID] = record.body
      keep(record.summary, &state)
    case .editRecord(let summary, let change):
      guard state.bodies[summary.runID] != nil else { break }
      state.history.recordChanges[summary.runID] = change
      keep(summary, &state)
    case .removeRecord(let run, let version, let change):
      state.history.recordChanges[run] = change
      state.history.records.removeAll { $0.runID == run }
      state.history.removedRecords[run] = version
      state.bodies[run] = nil
    case .setRecordsThrough(let change): state.recordsThrough = change
    case .skipChanges(let after, let through): state.history.skippedChanges[after] = through
    case .setWatermark, .forgetStream, .enqueue, .acknowledge, .remove, .tombstone, .countTries, .renumber, .drop,
      .shiftRows,
      .quarantine, .unquarantine, .setLatest, .receiveLatest:
      state.delivery.apply(operation)
    }
  }

  private static func keep(_ summary: RecordSummary, _ state: inout State) {
    if let index = state.history.records.firstIndex(where: { $0.runID == summary.runID }) {
      state.history.records[index] = summary
    } else {
      state.history.records.append(summary)
    }
  }

  private static func journal(of run: RunID, _ state: State) -> [LedgerEntry] {
    let entries = state.journals[run] ?? []
    guard state.dropped.contains(run) else { return entries }
    return entries.filter(\.event.isOfTimeLine)
  }

  private static func append(_ entry: LedgerEntry, to runID: RunID, _ state: inout State) {
    state.journals[runID, default: []].append(entry)
    state.history.lastPosition = max(state.history.lastPosition, entry.position)
    guard case .transition(let transition) = entry.event else { return }
    state.transitions.append(PastTransition(transition, runID: runID, effectiveAt: entry.time))
  }
}

/// The last transitions with a revision and the last amendments, as many of each as ``ControlState`` remembers.
private struct MemoryTransitions: Sendable {
  private var made: [(place: Int, transition: PastTransition)] = []
  private var amended: [(place: Int, transition: PastTransition)] = []
  private var revision: UInt64 = 0
  private var place = 0

  var all: [PastTransition] { (made + amended).sorted { $0.place < $1.place }.map(\.transition) }

  mutating func append(_ transition: PastTransition) {
    place += 1
    if transition.revision > revision {
      revision = transition.revision
      Self.append((place, transition), to: &made)
    } else {
      Self.append((place, transition), to: &amended)
    }
  }

  private static func append<Element>(_ element: Element, to list: inout [Element]) {
    list.append(element)
    if list.count > ControlHistory.transitionsMax { list.removeFirst() }
  }
}

extension PastTransition {
  /// A transition from the journal.
  init(_ transition: Transition, runID: RunID, effectiveAt: BusTime) {
    self.init(
      kind: transition.kind, revision: transition.revision, change: transition.change, runID: runID,
      effectiveAt: effectiveAt)
  }
}

extension ClockMark {
  /// A mark of the present boot with the present wall time.
  static func now(real: BusTime, bus: BusTime) -> ClockMark {
    ClockMark(real: real, bus: bus, bootID: MachineBoot.id, wallSeconds: Date().timeIntervalSince1970)
  }
}
