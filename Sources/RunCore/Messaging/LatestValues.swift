/// The newest values by key between this node and one other node, in both directions.
///
/// This part decides which version a value gets, when it is sent and sent again, and which received values are kept,
/// acknowledged, or refused for lack of room. The courier opens and closes it together with the session.
struct LatestValues: Sendable {
  /// How many received values may be kept, and their total size in bytes.
  struct Room: Sendable {
    var keys = LatestValues.keysMax
    var bytes = Int.max
  }

  /// The most keys for which one node keeps values. Keys are meant to be names of settings, not ids.
  static let keysMax = 1024
  /// Higher versions are not believed: no node gives a key so many values. The wire carries versions up to 2^62.
  private static let versionMax: UInt64 = 1 << 61
  /// How long an acknowledgement may take before the values are sent again.
  private static let patience = BusDuration.seconds(5)

  /// A value that this node's app posted. One that is acknowledged in its row is not sent, whatever its stage is.
  private struct Posted: Sendable {
    enum Stage {
      /// Its row is not durable yet. Can go to: waiting.
      case storing
      /// It is sent next. Can go to: sent.
      case waiting
      /// It was sent in this session. Can go to: waiting, when it is sent again.
      case sent
    }
    var row: LatestRow
    var stage: Stage
  }

  /// The newest value of a key that was received.
  private struct Received: Sendable {
    var row: LatestReceived
    var isDurable = true
    /// When it came, real time; `nil` when that was before the node began.
    var since: BusTime?
  }

  /// The device in the rows of posted values; `nil` on a peer, whose hub can become another device.
  private var receiver: DeviceID?
  private var posted: [String: Posted] = [:]
  private var received: [String: Received] = [:]
  /// The size of the received values in bytes, on disk and in memory.
  private(set) var receivedBytes = 0
  /// When ``retry(by:in:)`` has something to do.
  private(set) var retryAt: BusTime?

  init(receiver: DeviceID?, posted: [LatestRow] = [], received: [LatestReceived] = []) {
    self.receiver = receiver
    for row in posted { self.posted[row.key] = Posted(row: row, stage: .waiting) }
    for row in received { keep(row) }
  }

  /// How many received values there are.
  var receivedCount: Int { received.count }

  /// The newest values that this node's app posted and that are not acknowledged, by key.
  var waiting: [LatestRow] {
    posted.values.map(\.row).filter { !$0.isAcknowledged }.sorted { $0.key < $1.key }
  }

  /// Whether every posted value is acknowledged.
  var hasNothingWaiting: Bool { posted.values.allSatisfy(\.row.isAcknowledged) }

  /// The newest value of a key that was received.
  func received(_ key: String) -> AppMessage? { received[key]?.row.message }

  /// The received values by key, without their content.
  ///
  /// - Parameter now: real time.
  func reports(from device: DeviceID, at now: BusTime) -> [ValueReport] {
    received.values.sorted { $0.row.key < $1.row.key }.map { value in
      ValueReport(
        key: value.row.key, from: device, name: value.row.message.name, bytes: UInt64(value.row.message.body.count),
        age: value.since.map { max(.zero, now - $0) })
    }
  }

  // MARK: Stores of a device

  /// The receiving device is known from now on.
  mutating func belong(to device: DeviceID) { receiver = device }

  /// The device has another name: the rows are written under it.
  mutating func rename(to device: DeviceID) -> [StoreOperation] {
    receiver = device
    for key in posted.keys { posted[key]?.row.device = device }
    for key in received.keys { received[key]?.row.device = device }
    return posted.values.sorted { $0.row.key < $1.row.key }.map { .setLatest($0.row) }
      + received.values.sorted { $0.row.key < $1.row.key }.map { .receiveLatest($0.row) }
  }

  /// Copies the values received from another store of the device, which is gone for good, where this one has none.
  mutating func inherit(from other: LatestValues) {
    for (key, value) in other.received where received[key] == nil { keep(value.row) }
  }

  private mutating func keep(_ row: LatestReceived) {
    received[row.key] = Received(row: row)
    receivedBytes += row.size
  }

  /// Moves the posted value of a key, which was for another store of the device, to this one, unless this one has a
  /// newer value.
  mutating func adopt(_ key: String, from other: inout LatestValues) {
    guard let value = other.posted.removeValue(forKey: key), posted[key]?.row.version ?? 0 < value.row.version else {
      return
    }
    posted[key] = value
  }

  // MARK: Posting

  /// Replaces the value of a key; `false` when there is no room for another key.
  mutating func post<Action>(
    _ message: AppMessage, key: String, by way: Way<Action>, in turn: inout Turn<Action>
  ) -> Bool {
    guard posted[key] != nil || posted.count < Self.keysMax else { return false }
    let old = posted[key]?.row
    let row = LatestRow(device: receiver, key: key, version: (old?.version ?? 0) + 1, message: message)
    var then: [Durable<Action>] = []
    if let old, !old.isAcknowledged {
      then.append(.act(.messageReceipt(MessageReceipt(messageID: old.message.id, stage: .replaced))))
    }
    then.append(.act(.messageReceipt(MessageReceipt(messageID: message.id, stage: .queued))))
    store(row, then: then, by: way, in: &turn)
    return true
  }

  private mutating func store<Action>(
    _ row: LatestRow, then: [Durable<Action>] = [], by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    posted[row.key] = Posted(row: row, stage: .storing)
    turn.write(
      [.setLatest(row)], then: then + [.valueSendable(way.store, key: row.key, version: row.version)])
  }

  // MARK: Sending

  /// A session has begun: sends every value that is not acknowledged.
  mutating func open<Action>(by way: Way<Action>, in turn: inout Turn<Action>) {
    sendAgain(by: way, in: &turn)
  }

  /// The session has ended.
  mutating func close() { retryAt = nil }

  /// Sends the values again whose acknowledgement is overdue.
  mutating func retry<Action>(by way: Way<Action>, in turn: inout Turn<Action>) {
    guard let due = retryAt, due <= turn.monotonic else { return }
    sendAgain(by: way, in: &turn)
  }

  /// The transport's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) {
    if posted.values.contains(where: { $0.stage == .sent && !$0.row.isAcknowledged }) { retryAt = time }
  }

  /// The other side has begun anew and has no value: every value is sent again.
  ///
  /// - Returns: the writes that make the values unacknowledged.
  mutating func renumber() -> [StoreOperation] {
    expectNoAnswers()
    var operations: [StoreOperation] = []
    for key in posted.keys.sorted() {
      guard var row = posted[key]?.row, row.isAcknowledged else { continue }
      row.isAcknowledged = false
      posted[key]?.row = row
      operations.append(.setLatest(row))
    }
    return operations
  }

  private mutating func expectNoAnswers() {
    for key in posted.keys where posted[key]?.stage == .sent { posted[key]?.stage = .waiting }
  }

  private mutating func sendAgain<Action>(by way: Way<Action>, in turn: inout Turn<Action>) {
    let sent = posted.values.count { $0.stage == .sent && !$0.row.isAcknowledged }
    turn.tally.retransmissions += Int64(sent)
    expectNoAnswers()
    send(by: way, in: &turn)
  }

  private mutating func send<Action>(by way: Way<Action>, in turn: inout Turn<Action>) {
    var isWaiting = false
    for key in posted.keys.sorted() {
      guard let value = posted[key], value.stage != .storing, !value.row.isAcknowledged else { continue }
      isWaiting = true
      guard value.stage == .waiting else { continue }
      posted[key]?.stage = .sent
      way.send(.latest(key: key, version: value.row.version, value.row.message), in: &turn)
    }
    retryAt = isWaiting ? turn.monotonic + turn.generator.jittered(Self.patience) : nil
  }

  // MARK: Answers

  /// The receiver has stored a version of a key durably.
  mutating func acknowledge<Action>(
    _ key: String, version: UInt64, by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    guard let row = posted[key]?.row, !row.isAcknowledged else { return }
    if version > row.version { return overtake(row, version, by: way, in: &turn) }
    finish(row, version, .processed, isUrgent: false, by: way, in: &turn)
  }

  /// The receiver has no room for a version of a key. The value counts as acknowledged, so that it is not sent again
  /// until it is replaced or both sides begin anew.
  mutating func giveUp<Action>(_ key: String, version: UInt64, by way: Way<Action>, in turn: inout Turn<Action>) {
    guard let row = posted[key]?.row, !row.isAcknowledged else { return }
    finish(row, version, .rejected(.busy), isUrgent: true, by: way, in: &turn)
  }

  private mutating func finish<Action>(
    _ row: LatestRow, _ version: UInt64, _ stage: DeliveryStage, isUrgent: Bool, by way: Way<Action>,
    in turn: inout Turn<Action>
  ) {
    guard row.version == version else { return }
    var row = row
    row.isAcknowledged = true
    posted[row.key]?.row = row
    if hasNothingWaiting { retryAt = nil }
    let receipt = MessageReceipt(messageID: row.message.id, stage: stage)
    turn.write([.setLatest(row)], then: [.act(.messageReceipt(receipt))], isUrgent: isUrgent)
  }

  /// The receiver has a higher version of a key than this node ever posted, because this store has lost history. Gives
  /// the value a version above that and sends it again.
  private mutating func overtake<Action>(
    _ row: LatestRow, _ version: UInt64, by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    // A higher version cannot be a count of values and leaves no room above it.
    guard version < Self.versionMax else { return }
    var row = row
    row.version = version + 1
    store(row, by: way, in: &turn)
  }

  // MARK: Receiving

  /// Receives the value of a key, whose version the other node's store has counted.
  mutating func receive<Action>(
    _ message: AppMessage, key: String, version: UInt64, room: Room, by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    guard let device = way.other else { return }
    let known = received[key]
    // The same version with another id comes from a sender that has lost history: it counts as new.
    if let known, known.row.store == way.store,
      known.row.version > version || known.row.version == version && known.row.message.id == message.id
    {
      turn.tally.duplicates += 1
      // A value that is not durable yet is acknowledged when it is.
      if known.isDurable { way.send(.acknowledgeLatest(key: key, version: known.row.version), in: &turn) }
      return
    }
    let row = LatestReceived(device: device, store: way.store, key: key, version: version, message: message)
    let bytes = receivedBytes - (known?.row.size ?? 0) + row.size
    guard known != nil || received.count < room.keys, bytes <= room.bytes else {
      turn.act(.note("there is no room for more values of \(device): one was refused"))
      return way.send(.refuseLatest(key: key, version: version), in: &turn)
    }
    received[key] = Received(row: row, isDurable: false, since: turn.monotonic)
    receivedBytes = bytes
    turn.write([.receiveLatest(row)], then: [.valueReceived(row)])
  }

  // MARK: Durable writes

  /// A version of a key is durable: sends it, unless a newer one has replaced it.
  mutating func makeSendable<Action>(
    _ key: String, version: UInt64, by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    guard posted[key]?.row.version == version else { return }
    if posted[key]?.stage == .storing { posted[key]?.stage = .waiting }
    if way.isOpen { send(by: way, in: &turn) }
  }

  /// A received value is durable: acknowledges it to the store that has sent it.
  mutating func makeReceived<Action>(_ row: LatestReceived, by way: Way<Action>, in turn: inout Turn<Action>) {
    if received[row.key]?.row.isSameValue(as: row) == true { received[row.key]?.isDurable = true }
    guard way.isOpen, row.store == way.store else { return }
    way.send(.acknowledgeLatest(key: row.key, version: row.version), in: &turn)
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] {
    received.values.reduce(0) { $0 + $1.row.size } == receivedBytes ? [] : ["the bytes of values are miscounted"]
  }
}

extension LatestReceived {
  /// Whether another row has the same value. The device may have got another name since.
  fileprivate func isSameValue(as other: LatestReceived) -> Bool {
    store == other.store && version == other.version && message.id == other.message.id
  }

  /// Roughly how many bytes it takes, with overhead.
  fileprivate var size: Int { 256 + key.utf8.count + OutboxItem.message(message).size }
}
