/// What a store holds of outgoing and incoming streams and of the newest values, hub's and peer's alike.
package struct StoredDelivery: Sendable {
  /// Where a newest value is kept.
  package struct Place: Hashable, Sendable {
    /// The other device; `nil` on a peer, which sends to whatever hub it has.
    package let device: DeviceID?
    /// The key.
    package let key: String

    /// A place from its parts.
    package init(device: DeviceID?, key: String) {
      self.device = device
      self.key = key
    }

    /// The order in which a store returns values.
    fileprivate static func precedes(_ left: Place, _ right: Place) -> Bool {
      (left.device?.rawValue ?? "", left.key) < (right.device?.rawValue ?? "", right.key)
    }
  }

  /// The rows of each stream, ordered by sequence.
  package private(set) var rows: [OutboundStreamID: [OutboxRow]] = [:]
  /// Up to where the receiver of each stream has acknowledged it.
  package private(set) var acknowledged: [OutboundStreamID: UInt64] = [:]
  /// Up to where each stream from another store was durably processed.
  package private(set) var watermarks: [StreamID: StreamMark] = [:]
  /// The messages in quarantine, oldest first.
  package private(set) var quarantine: [QuarantinedMessage] = []
  /// The newest values that this node's app posted.
  package private(set) var latestSent: [Place: LatestRow] = [:]
  /// The newest values that were received.
  package private(set) var latestReceived: [Place: LatestReceived] = [:]

  /// What a new store holds.
  package init() {}

  /// What a starting node reads of it.
  package var history: DeliveryHistory {
    var history = DeliveryHistory()
    history.rows = rows.sorted { $0.key < $1.key }.flatMap(\.value)
    history.acknowledged = acknowledged
    history.watermarks = watermarks
    history.quarantine = quarantine
    history.latestSent = latestSent.sorted { Place.precedes($0.key, $1.key) }.map(\.value)
    history.latestReceived = latestReceived.sorted { Place.precedes($0.key, $1.key) }.map(\.value)
    return history
  }

  /// The row of a sequence number; `nil` if it was removed.
  package func row(_ stream: OutboundStreamID, _ sequence: UInt64) -> OutboxRow? {
    index(stream, sequence).flatMap { rows[stream]?[$0] }
  }

  /// Applies an operation of delivery; all others have no effect here.
  package mutating func apply(_ operation: StoreOperation) {
    switch operation {
    case .setWatermark(let stream, let mark): watermarks[stream] = mark
    case .forgetStream(let stream): watermarks[stream] = nil
    case .enqueue(let row): enqueue(row)
    case .acknowledge(let stream, let sequence):
      acknowledged[stream] = max(acknowledged[stream] ?? 0, sequence)
      guard stream.kind != .commands, let present = rows[stream] else { break }
      let count = present.prefix { $0.sequence <= sequence }.count
      if count > 0 { rows[stream]?.removeFirst(count) }
    case .remove(let stream, let sequence):
      if let index = index(stream, sequence) { rows[stream]?.remove(at: index) }
    case .tombstone(let stream, let sequence):
      if let index = index(stream, sequence) { rows[stream]?[index].item = nil }
    case .countTries(let stream, let first, let last):
      change(stream) { row in
        guard row.sequence >= first, row.sequence <= last, row.tries < .max else { return }
        row.tries += 1
      }
    case .renumber(let stream, let target): renumber(stream, to: target)
    case .drop(let stream): (rows[stream], acknowledged[stream]) = (nil, nil)
    case .shiftRows(let span): shift(by: span)
    case .quarantine(let message):
      quarantine.removeAll { $0.message.id == message.message.id }
      quarantine.append(message)
    case .unquarantine(let id): quarantine.removeAll { $0.message.id == id }
    case .setLatest(let row): latestSent[Place(device: row.device, key: row.key)] = row
    case .receiveLatest(let row): latestReceived[Place(device: row.device, key: row.key)] = row
    case .forgetDevice(let device):
      latestSent = latestSent.filter { $0.key.device != device }
      latestReceived = latestReceived.filter { $0.key.device != device }
    case .setTerm, .accept, .claim, .reclassify, .judge, .forgetVerdicts, .append, .setAlias, .settle, .setClock,
      .setStoreID, .setHub, .setView, .setFailureMark, .meet, .own, .disown, .setUnanswered, .discard, .expectRecord,
      .forgetExpected, .keepRecord, .editRecord, .removeRecord, .skipChanges, .setRecordsThrough, .endJournal, .dateRun,
      .dropJournal, .pair, .unpair, .setMemberVersion, .keepRoom, .forgetRoom:
      break
    }
  }

  private mutating func enqueue(_ row: OutboxRow) {
    let place = firstIndex(row.stream, from: row.sequence)
    if index(row.stream, row.sequence) != nil {
      rows[row.stream]?[place] = row
    } else {
      rows[row.stream, default: []].insert(row, at: place)
    }
  }

  private mutating func renumber(_ stream: OutboundStreamID, to target: OutboundStreamID) {
    let moved = rows.removeValue(forKey: stream) ?? []
    acknowledged[stream] = nil
    guard !moved.isEmpty else { return }
    var sequence = rows[target]?.last?.sequence ?? 0
    for var row in moved {
      sequence += 1
      row.stream = target
      row.sequence = sequence
      rows[target, default: []].append(row)
    }
  }

  private mutating func shift(by span: BusDuration) {
    for stream in rows.keys {
      change(stream) { row in
        row.since = Self.moved(row.since, by: span)
        row.isUncertain = true
      }
    }
    for index in quarantine.indices { quarantine[index].since = Self.moved(quarantine[index].since, by: span) }
  }

  private static func moved(_ moment: BusTime, by span: BusDuration) -> BusTime {
    BusTime(nanoseconds: StoredNumber.nanoseconds(moment + span))
  }

  private mutating func change(_ stream: OutboundStreamID, _ body: (inout OutboxRow) -> Void) {
    for index in rows[stream]?.indices ?? 0..<0 {
      guard var row = rows[stream]?[index] else { break }
      body(&row)
      rows[stream]?[index] = row
    }
  }

  /// The index of the first row at or above a sequence. Rows are mostly appended, so the end is checked first.
  private func firstIndex(_ stream: OutboundStreamID, from sequence: UInt64) -> Int {
    guard let present = rows[stream] else { return 0 }
    var (low, high) = (0, present.count)
    if let last = present.last, last.sequence < sequence { return high }
    while low < high {
      let middle = (low + high) / 2
      if present[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func index(_ stream: OutboundStreamID, _ sequence: UInt64) -> Int? {
    let index = firstIndex(stream, from: sequence)
    guard let present = rows[stream], index < present.count, present[index].sequence == sequence else { return nil }
    return index
  }
}
