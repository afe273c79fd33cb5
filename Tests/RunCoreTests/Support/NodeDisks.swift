import RunCore
import Simulation

/// The disk of a hub. Unlike the disk of a simulated hub it accepts histories that no whole world makes, such as a term
/// that is set again.
struct HubDisk {
  private(set) var storeID: StoreID
  private(set) var delivery = WorldDelivery()
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
    case .dateRun(let run, let wallSeconds): kept.runDates[run] = wallSeconds
    case .dropJournal(let run):
      kept.endedJournals[run] = nil
      kept.runDates[run] = nil
      entries.removeAll { if case .transition = $0.entry.event { false } else { $0.run == run } }
    case .meet(let device):
      kept.devices.removeAll { $0.deviceID == device.deviceID }
      kept.devices.append(device)
    case .own(let store, let identity): kept.storeOwners[store] = identity
    case .disown(let store): kept.storeOwners[store] = nil
    case .pair(let device):
      kept.members.devices.removeAll { $0.key == device.key }
      kept.members.devices.append(device)
    case .unpair(let key): kept.members.devices.removeAll { $0.key == key }
    case .setMemberVersion(let version, let heard): (kept.members.version, kept.members.versionHeard) = (version, heard)
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
