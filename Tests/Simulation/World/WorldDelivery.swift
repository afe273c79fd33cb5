package import RunCore

/// What a simulated disk holds of streams and values, for hub and peers: each operation does exactly what its comment
/// in `StoreOperation` says.
package struct WorldDelivery {
  struct Place: Hashable {
    let device: DeviceID?
    let key: String

    static func precedes(_ left: Place, _ right: Place) -> Bool {
      (left.device?.rawValue ?? "", left.key) < (right.device?.rawValue ?? "", right.key)
    }
  }

  package private(set) var rows: [OutboundStreamID: [OutboxRow]] = [:]
  package private(set) var acknowledged: [OutboundStreamID: UInt64] = [:]
  package private(set) var watermarks: [StreamID: StreamMark] = [:]
  private(set) var quarantine: [QuarantinedMessage] = []
  private(set) var latestSent: [Place: LatestRow] = [:]
  private(set) var latestReceived: [Place: LatestReceived] = [:]
  package private(set) var faults: [String] = []

  package init() {}

  /// The row of a sequence number; `nil` if it was removed.
  func row(_ stream: OutboundStreamID, _ sequence: UInt64) -> OutboxRow? {
    rows[stream]?.first { $0.sequence == sequence }
  }

  /// The row of the item with an id.
  func row(of id: MessageID) -> OutboxRow? {
    for rows in rows.values {
      if let row = rows.first(where: { $0.item?.id == id }) { return row }
    }
    return nil
  }

  /// How many rows of a kind hold an item; tombstones do not count.
  func owed(_ kind: StreamID.Kind) -> Int {
    rows.filter { $0.key.kind == kind }.values.reduce(0) { sum, rows in sum + rows.count { $0.item != nil } }
  }

  /// How many rows of a kind are owed to a store, tombstones included.
  func owed(to store: StoreID, _ kind: StreamID.Kind) -> Int {
    rows[OutboundStreamID(receiver: store, kind: kind)]?.count ?? 0
  }

  package mutating func apply(_ operation: StoreOperation) {
    switch operation {
    case .setWatermark(let stream, let mark):
      if let known = watermarks[stream], mark.sequence < known.sequence {
        faults.append("\(stream.kind) watermark \(mark.sequence) after \(known.sequence)")
      }
      watermarks[stream] = mark
    case .forgetStream(let stream): watermarks[stream] = nil
    case .enqueue(let row): enqueue(row)
    case .acknowledge(let stream, let sequence):
      acknowledged[stream] = max(acknowledged[stream] ?? 0, sequence)
      if stream.kind != .commands { rows[stream]?.removeAll { $0.sequence <= sequence } }
    case .remove(let stream, let sequence): rows[stream]?.removeAll { $0.sequence == sequence }
    case .tombstone(let stream, let sequence): change(stream) { if $0.sequence == sequence { $0.item = nil } }
    case .countTries(let stream, let first, let last):
      change(stream) { if (first...last).contains($0.sequence) { $0.tries += 1 } }
    case .renumber(let stream, let target):
      let moved = rows.removeValue(forKey: stream) ?? []
      acknowledged[stream] = nil
      var last = rows[target]?.last?.sequence ?? 0
      for var row in moved {
        last += 1
        (row.stream, row.sequence) = (target, last)
        rows[target, default: []].append(row)
      }
    case .drop(let stream): (rows[stream], acknowledged[stream]) = (nil, nil)
    case .shiftRows(let span):
      for stream in rows.keys {
        change(stream) { ($0.since, $0.isUncertain) = ($0.since + span, true) }
      }
      for index in quarantine.indices { quarantine[index].since = quarantine[index].since + span }
    case .quarantine(let message): quarantine.append(message)
    case .unquarantine(let id): quarantine.removeAll { $0.message.id == id }
    case .setLatest(let row): latestSent[Place(device: row.device, key: row.key)] = row
    case .forgetDevice(let device):
      latestSent = latestSent.filter { $0.key.device != device }
      latestReceived = latestReceived.filter { $0.key.device != device }
    case .receiveLatest(let row): latestReceived[Place(device: row.device, key: row.key)] = row
    case .setTerm, .accept, .claim, .reclassify, .judge, .forgetVerdicts, .append, .setAlias, .settle, .setClock,
      .setStoreID, .setHub, .setView, .setFailureMark, .meet, .own, .disown, .setUnanswered, .discard,
      .expectRecord, .forgetExpected, .keepRecord, .editRecord, .removeRecord, .skipChanges, .setRecordsThrough,
      .endJournal, .dateRun, .dropJournal, .pair, .unpair, .setMemberVersion:
      break
    }
  }

  private mutating func enqueue(_ row: OutboxRow) {
    var present = rows.removeValue(forKey: row.stream) ?? []
    // New rows come in order, so the search from the end is short.
    let index = (present.lastIndex { $0.sequence < row.sequence } ?? -1) + 1
    if index < present.count, present[index].sequence == row.sequence {
      if let old = present[index].item, old != row.item { faults.append("a row takes another's place") }
      present[index] = row
    } else {
      present.insert(row, at: index)
    }
    if present.count > Self.rowsMax(row.stream.kind) { faults.append("\(present.count) \(row.stream.kind) are owed") }
    rows[row.stream] = present
  }

  /// Bounds that docs/guarantees.md promises; reserved sequence numbers of samples are extra tombstones.
  private static func rowsMax(_ kind: StreamID.Kind) -> Int {
    switch kind {
    case .commands, .verdicts: 1024
    case .samples: 36_000 + 16
    case .messages: 16_384
    }
  }

  private mutating func change(_ stream: OutboundStreamID, _ body: (inout OutboxRow) -> Void) {
    guard var changed = rows[stream] else { return }
    for index in changed.indices { body(&changed[index]) }
    rows[stream] = changed
  }

  package var history: DeliveryHistory {
    var history = DeliveryHistory()
    let streams = rows.keys.sorted { ($0.receiver, $0.kind.rawValue) < ($1.receiver, $1.kind.rawValue) }
    history.rows = streams.flatMap { rows[$0] ?? [] }
    history.acknowledged = acknowledged
    history.watermarks = watermarks
    history.quarantine = quarantine
    history.latestSent = latestSent.sorted { Place.precedes($0.key, $1.key) }.map(\.value)
    history.latestReceived = latestReceived.sorted { Place.precedes($0.key, $1.key) }.map(\.value)
    return history
  }
}

/// The disk of a simulated peer.
package struct WorldPeerStore {
  package private(set) var storeID: StoreID
  package private(set) var delivery = WorldDelivery()
  private var term: UInt64 = 0
  private var clock: ClockMark?
  private(set) var hub: (storeID: StoreID, deviceID: DeviceID)?
  private var view: Snapshot?
  private(set) var failureMark = HubFailureMark()
  package private(set) var records = WorldRecordDisk()

  package init(storeID: StoreID) { self.storeID = storeID }

  package var faults: [String] { delivery.faults + records.faults }

  /// The hub has lost its store: the peer fetches records again.
  mutating func hearsAgain() { records.hearsAgain() }

  package mutating func commit(_ operations: [StoreOperation], bootID: String, wallSeconds: Double) {
    for operation in operations {
      switch operation {
      case .setTerm(let term): self.term = term
      case .setClock(let real, let bus):
        clock = ClockMark(real: real, bus: bus, bootID: bootID, wallSeconds: wallSeconds)
      case .setStoreID(let id): storeID = id
      case .setHub(let store, let device): hub = (store, device)
      case .setView(let view): self.view = view
      case .setFailureMark(let mark): failureMark = mark
      default: if !records.apply(operation) { delivery.apply(operation) }
      }
    }
  }

  package var history: PeerHistory {
    var history = PeerHistory()
    history.term = term
    history.clock = clock
    history.hub = hub
    history.view = view
    history.failureMark = failureMark
    history.delivery = delivery.history
    records.fill(&history)
    return history
  }
}
