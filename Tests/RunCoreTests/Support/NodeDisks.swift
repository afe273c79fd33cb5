import RunCore
import Simulation

/// What a disk holds of what was sent and received: every operation as its comment says, slow and obvious. What no node
/// should ever write is a fault.
struct DeliveryDisk {
  private(set) var history = DeliveryHistory()
  private(set) var faults: [String] = []

  func rows(_ stream: OutboundStreamID) -> [OutboxRow] { history.rows.filter { $0.stream == stream } }

  mutating func apply(_ operation: StoreOperation) {
    switch operation {
    case .setWatermark(let stream, let mark):
      if let known = history.watermarks[stream], mark.sequence < known.sequence {
        faults.append("\(stream.kind) watermark \(mark.sequence) after \(known.sequence)")
      }
      history.watermarks[stream] = mark
    case .forgetStream(let stream): history.watermarks[stream] = nil
    case .enqueue(let row): enqueue(row)
    case .acknowledge(let stream, let sequence):
      history.acknowledged[stream] = max(history.acknowledged[stream] ?? 0, sequence)
      if stream.kind != .commands { history.rows.removeAll { $0.stream == stream && $0.sequence <= sequence } }
    case .remove(let stream, let sequence):
      history.rows.removeAll { $0.stream == stream && $0.sequence == sequence }
    case .tombstone(let stream, let sequence):
      change { if $0.stream == stream, $0.sequence == sequence { $0.item = nil } }
    case .countTries(let stream, let from, let through):
      change { if $0.stream == stream, (from...through).contains($0.sequence) { $0.tries += 1 } }
    case .renumber(let stream, let target): renumber(stream, to: target)
    case .drop(let stream):
      history.rows.removeAll { $0.stream == stream }
      history.acknowledged[stream] = nil
    case .shiftRows(let span):
      change {
        $0.since = $0.since + span
        $0.isUncertain = true
      }
    case .quarantine(let message): history.quarantine.append(message)
    case .unquarantine(let id): history.quarantine.removeAll { $0.message.id == id }
    case .setLatest(let row):
      history.latestSent.removeAll { $0.device == row.device && $0.key == row.key }
      history.latestSent.append(row)
    case .receiveLatest(let row):
      history.latestReceived.removeAll { $0.device == row.device && $0.key == row.key }
      history.latestReceived.append(row)
    case .forgetDevice(let device):
      history.latestSent.removeAll { $0.device == device }
      history.latestReceived.removeAll { $0.device == device }
    default: break
    }
  }

  private mutating func enqueue(_ row: OutboxRow) {
    func order(_ row: OutboxRow) -> (StoreID, String, UInt64) {
      (row.stream.receiver, row.stream.kind.rawValue, row.sequence)
    }
    let index = history.rows.lastIndex { order($0) <= order(row) } ?? -1
    guard index >= 0, order(history.rows[index]) == order(row) else {
      return history.rows.insert(row, at: index + 1)
    }
    if history.rows[index].item != nil, history.rows[index].item != row.item {
      faults.append("\(row.stream.kind) \(row.sequence) was taken twice")
    }
    history.rows[index] = row
  }

  private mutating func renumber(_ stream: OutboundStreamID, to target: OutboundStreamID) {
    let moved = rows(stream)
    history.rows.removeAll { $0.stream == stream }
    history.acknowledged[stream] = nil
    var last = rows(target).last?.sequence ?? 0
    for var row in moved {
      last += 1
      (row.stream, row.sequence) = (target, last)
      enqueue(row)
    }
  }

  private mutating func change(_ body: (inout OutboxRow) -> Void) {
    for index in history.rows.indices { body(&history.rows[index]) }
  }
}

/// The disk of a peer.
struct PeerDisk {
  private(set) var storeID: StoreID
  private(set) var delivery = DeliveryDisk()
  private(set) var records = WorldRecordDisk()
  private var kept = PeerHistory()
  var bootID = "boot"

  init(storeID: StoreID) { self.storeID = storeID }

  var faults: [String] { delivery.faults + records.faults }

  mutating func commit(_ operations: [StoreOperation], wallSeconds: Double = 0) {
    for operation in operations {
      switch operation {
      case .setTerm(let term): kept.term = term
      case .setClock(let real, let bus):
        kept.clock = ClockMark(real: real, bus: bus, bootID: bootID, wallSeconds: wallSeconds)
      case .setStoreID(let id): storeID = id
      case .setHub(let store, let device): kept.hub = (store, device)
      case .setView(let view): kept.view = view
      case .setFailureMark(let mark): kept.failureMark = mark
      default: if !records.apply(operation) { delivery.apply(operation) }
      }
    }
  }

  var history: PeerHistory {
    var history = kept
    history.delivery = delivery.history
    records.fill(&history)
    return history
  }
}

/// The disk of a hub.
struct HubDisk {
  private(set) var storeID: StoreID
  private(set) var delivery = DeliveryDisk()
  private(set) var verdicts: [CommandID: Verdict] = [:]
  /// Commands that made a transition or a mark, as often as they did.
  private(set) var effects: [CommandID: Int] = [:]
  private(set) var ownFaults: [String] = []
  private(set) var records = WorldRecordDisk()
  private var kept = HubHistory()
  private var entries: [(run: RunID, entry: LedgerEntry)] = []

  init(storeID: StoreID = HubStage.storeID) { self.storeID = storeID }

  var faults: [String] { ownFaults + delivery.faults + records.faults }

  mutating func commit(_ operations: [StoreOperation]) { for operation in operations { apply(operation) } }

  private mutating func apply(_ operation: StoreOperation) {
    switch operation {
    case .setTerm(let term): kept.term = term
    case .setClock(let real, let bus): kept.clock = ClockMark(real: real, bus: bus, bootID: "boot", wallSeconds: 0)
    case .setStoreID(let id): storeID = id
    case .accept(let press, let admission):
      if verdicts[press.command.id] != nil { ownFaults.append("\(press.command.id) was accepted after its verdict") }
      if let index = kept.accepted.firstIndex(where: { $0.press.command.id == press.command.id }) {
        kept.accepted[index] = (press, admission)
      } else {
        kept.accepted.append((press, admission))
      }
    case .claim(let id, let store): kept.claims[id, default: []].append(store)
    case .reclassify(let id, let admission):
      if let index = kept.accepted.firstIndex(where: { $0.press.command.id == id }) {
        kept.accepted[index].class = admission
      }
    case .judge(let verdict, let press, let judgedAt):
      if verdicts[verdict.commandID] != nil { ownFaults.append("\(verdict.commandID) was judged twice") }
      kept.accepted.removeAll { $0.press.command.id == verdict.commandID }
      kept.claims[verdict.commandID] = nil
      verdicts[verdict.commandID] = verdict
      kept.verdicts.append((verdict, press, judgedAt))
    case .forgetVerdicts(let moment): kept.verdicts.removeAll { $0.judgedAt < moment }
    case .append(let run, let entry): append(entry, to: run)
    case .setAlias(let alias, let run): kept.aliases[alias] = run
    case .setUnanswered(let run, let since): kept.unanswered[run] = since
    case .discard(let run): kept.discarded.insert(run)
    case .settle(let window): kept.windows.append(window)
    case .endJournal(let run, let moment): kept.endedJournals[run] = moment
    case .dropJournal(let run):
      kept.endedJournals[run] = nil
      entries.removeAll { if case .transition = $0.entry.event { false } else { $0.run == run } }
    case .meet(let device):
      kept.devices.removeAll { $0.deviceID == device.deviceID }
      kept.devices.append(device)
    case .own(let store, let identity): kept.storeOwners[store] = identity
    case .disown(let store): kept.storeOwners[store] = nil
    case .forgetDevice(let device):
      kept.devices.removeAll { $0.deviceID == device }
      delivery.apply(operation)
    default: if !records.apply(operation) { delivery.apply(operation) }
    }
  }

  private mutating func append(_ entry: LedgerEntry, to run: RunID) {
    entries.append((run, entry))
    kept.lastPosition = max(kept.lastPosition, entry.position)
    switch entry.event {
    case .transition(let transition):
      effects[transition.change.commandID, default: 0] += 1
      kept.transitions.append(
        PastTransition(
          kind: transition.kind, revision: transition.revision, change: transition.change, runID: run,
          effectiveAt: entry.time))
    case .lap(let change): effects[change.commandID, default: 0] += 1
    case .sample, .gap, .setup: break
    }
  }

  var history: HubHistory {
    var history = kept
    history.delivery = delivery.history
    records.fill(&history)
    if let run = history.presentRun { history.journal = journal(of: run) }
    return history
  }

  func journal(of run: RunID) -> [LedgerEntry] {
    entries.filter { $0.run == run }.map(\.entry).sorted { $0.position < $1.position }
  }
}
