import RunCore
import Simulation

/// The disk of a hub. Unlike the disk of a simulated hub it accepts histories that no whole world makes, such as a term
/// that is set again.
struct HubDisk {
  private var disk = WorldDisk()
  private let firstStoreID: StoreID
  /// Every verdict that was ever written.
  private(set) var verdicts: [CommandID: Verdict] = [:]
  /// Commands that made a transition or a mark, as often as they did.
  private(set) var effects: [CommandID: Int] = [:]
  private(set) var ownFaults: [String] = []

  init(storeID: StoreID = HubStage.storeID) { firstStoreID = storeID }

  var storeID: StoreID { disk.state.storeID ?? firstStoreID }
  var delivery: StoredDelivery { disk.state.delivery }
  var records: StoredRecords { disk.state.records }
  var history: HubHistory { disk.state.hubHistory }
  var faults: [String] { ownFaults + disk.faults }

  func journal(of run: RunID) -> [LedgerEntry] { disk.state.runs.journal(of: run) }

  mutating func commit(_ operations: [StoreOperation]) {
    for operation in operations {
      check(operation)
      disk.apply(operation)
    }
  }

  private mutating func check(_ operation: StoreOperation) {
    switch operation {
    case .accept(let press, _):
      if verdicts[press.command.id] != nil { ownFaults.append("\(press.command.id) was accepted after its verdict") }
    case .judge(let verdict, _, _):
      if verdicts[verdict.commandID] != nil { ownFaults.append("\(verdict.commandID) was judged twice") }
      verdicts[verdict.commandID] = verdict
    case .append(_, let entry):
      switch entry.event {
      case .transition(let transition): effects[transition.change.commandID, default: 0] += 1
      case .lap(let change): effects[change.commandID, default: 0] += 1
      case .sample, .gap, .setup: break
      }
    default: break
    }
  }
}
