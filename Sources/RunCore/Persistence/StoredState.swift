/// What a store holds, hub's or peer's, in memory.
///
/// ``apply(_:bootID:wallSeconds:)`` is the one meaning of every ``StoreOperation``. The store in memory and the disks of
/// tests and simulated worlds keep their state here; `SQLiteStore` is compared with it.
package struct StoredState: Sendable {
  /// The id that the node has given its store; `nil` while the store has its first one.
  package private(set) var storeID: StoreID?
  /// The hub's term; on a peer the highest one that it has seen.
  package private(set) var term: UInt64 = 0
  /// The last clock mark.
  package private(set) var clock: ClockMark?
  /// On a hub: commands, and what was decided about them.
  package private(set) var commands = StoredCommands()
  /// On a hub: runs and their journals.
  package private(set) var runs = StoredRuns()
  /// Records.
  package private(set) var records = StoredRecords()
  /// Streams and newest values.
  package private(set) var delivery = StoredDelivery()
  /// On a hub: the known devices.
  package private(set) var devices: [DeviceID: KnownDevice] = [:]
  /// On a hub: the identity that each device's store belongs to.
  package private(set) var storeOwners: [StoreID: ConnectionIdentity] = [:]
  /// On a hub: the paired devices, in the order in which they were paired.
  package private(set) var members = MemberHistory()
  /// On a hub: what is kept of rooms.
  package private(set) var rooms: [RoomID: [RoomRow]] = [:]
  /// On a peer: the hub's store and device.
  package private(set) var hub: (storeID: StoreID, deviceID: DeviceID)?
  /// On a peer: the last snapshot.
  package private(set) var view: Snapshot?
  /// On a peer: what the hub's next silence leads to, and the last alarm.
  package private(set) var failureMark = HubFailureMark()

  /// What a new store holds.
  package init() {}

  /// Applies an operation.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - bootID: The machine's boot, which a store adds to a clock mark.
  ///   - wallSeconds: The wall time, which it adds as well, in seconds since 1970.
  package mutating func apply(_ operation: StoreOperation, bootID: String, wallSeconds: Double) {
    switch operation {
    case .setTerm(let term): self.term = term
    case .setClock(let real, let bus):
      clock = ClockMark(real: real, bus: bus, bootID: bootID, wallSeconds: wallSeconds)
    case .setStoreID(let storeID): self.storeID = storeID
    case .setHub(let storeID, let deviceID): hub = (storeID, deviceID)
    case .setView(let view): self.view = view
    case .setFailureMark(let mark): failureMark = mark
    case .accept(let press, let admission): commands.accept(press, admission)
    case .claim(let id, let store): commands.claim(id, by: store)
    case .reclassify(let id, let admission): commands.reclassify(id, admission)
    case .judge(let verdict, let press, let moment): commands.judge(verdict, press, at: moment)
    case .forgetVerdicts(let moment): commands.forgetVerdicts(before: moment)
    case .settle(let window): commands.settle(window)
    case .append(let run, let entry): runs.append(entry, to: run)
    case .endJournal(let run, let moment): runs.end(run, at: moment)
    case .dateRun(let run, let wallSeconds): runs.date(run, wallSeconds)
    case .dropJournal(let run): runs.drop(run)
    case .setAlias(let alias, let run): runs.name(alias, of: run)
    case .setUnanswered(let run, let since): runs.ask(about: run, since: since)
    case .discard(let run): runs.discard(run)
    case .expectRecord(let record): records.expect(record)
    case .forgetExpected(let run): records.forgetExpected(run)
    case .keepRecord(let record, let change): records.keep(record, change: change)
    case .editRecord(let summary, let change): records.edit(summary, change: change)
    case .removeRecord(let run, let version, let change): records.remove(run, version: version, change: change)
    case .skipChanges(let after, let through): records.skip(after: after, through: through)
    case .setRecordsThrough(let change): records.setThrough(change)
    case .meet(let device): devices[device.deviceID] = device
    case .own(let store, let identity): storeOwners[store] = identity
    case .disown(let store): storeOwners[store] = nil
    case .forgetDevice(let device):
      devices[device] = nil
      delivery.apply(operation)
    case .pair(let device):
      members.devices.removeAll { $0.key == device.key }
      members.devices.append(device)
    case .unpair(let key): members.devices.removeAll { $0.key == key }
    case .keepRoom(let room, let rows): rooms[room, default: []] += rows
    case .forgetRoom(let room): rooms[room] = nil
    case .setMemberVersion(let version, let heard): (members.version, members.versionHeard) = (version, heard)
    case .setWatermark, .forgetStream, .enqueue, .acknowledge, .remove, .tombstone, .countTries, .renumber, .drop,
      .shiftRows, .quarantine, .unquarantine, .setLatest, .receiveLatest:
      delivery.apply(operation)
    }
  }

  /// What a starting hub reads.
  package var hubHistory: HubHistory {
    var history = HubHistory()
    history.term = term
    history.clock = clock
    commands.fill(&history)
    runs.fill(&history)
    records.fill(&history)
    history.delivery = delivery.history
    history.devices = devices.values.sorted { $0.deviceID < $1.deviceID }
    history.storeOwners = storeOwners
    history.members = members
    history.members.devices.sort { $0.key < $1.key }
    history.rooms = rooms
    return history
  }

  /// What a starting peer reads.
  package var peerHistory: PeerHistory {
    var history = PeerHistory()
    history.term = term
    history.clock = clock
    history.hub = hub
    history.view = view
    history.failureMark = failureMark
    records.fill(&history)
    history.delivery = delivery.history
    return history
  }
}
