import DequeModule

/// Sends an app's messages to one other node and receives that node's messages: a numbered stream in each direction,
/// and the newest values by key. Hub and peer use the same courier and carry out its actions in the same way.
struct Courier: Sendable {
  /// What the node has to do, in order.
  enum Action: Sendable {
    case send(DeliveryMessage)
    /// Commit these writes, at once if urgent, else with a later write. Call ``Courier/perform(_:at:generator:into:)``
    /// with the effect when they are durable.
    case write([StoreOperation], isUrgent: Bool, then: Effect?)
    /// Hand a message to the app; see ``HandlerCall``.
    case hand(HandlerCall)
    /// The handler of the other device, or of this one, has processed a message of the stream durably.
    case processed(AppMessage, isIncoming: Bool)
    /// A message that this node's app posted has reached a stage.
    case receipt(MessageReceipt)
    case note(String)
  }

  /// What the courier does when a write is durable.
  enum Effect: Sendable {
    /// Rows up to here may be sent.
    case sendable(through: UInt64, durabilityGeneration: UInt64, MessageReceipt?)
    /// The value of a key may be sent, unless a newer one has replaced it. `replaced` is the older, undelivered value
    /// that it replaces.
    case latestSendable(LatestRow, replaced: MessageID?)
    /// The value of a key may be sent again, under a version above the one that the receiver has.
    case latestAgain(LatestRow)
    /// The stage of a message is durable: tell the app.
    case tell(MessageReceipt)
    /// The inbound stream of this binding generation is processed up to here; these are the newly processed messages.
    case processed(StreamMark, [AppMessage], bindingGeneration: UInt64)
    /// The received value of a key is durable.
    case latestReceived(LatestReceived)
  }

  /// After this many failures of the receiver's handler a message is put in quarantine.
  static let failuresMax = 5
  /// A message that was not sent within this time (real time) expires.
  static let lifetime = BusDuration.seconds(30 * 86_400)
  /// The most keys for which one node keeps values. Keys are meant to be names of settings, not ids.
  static let keysMax = 1024

  /// How many received values the courier may keep, and their total size in bytes.
  struct ValueRoom: Sendable {
    var keys = Courier.keysMax
    var bytes = Int.max
  }

  /// Keeps a frame below the limit of 64 KiB.
  private static let frameBytesMax = 48 << 10
  private static let frameRowsMax = 512
  /// Higher versions are not believed: no node gives a key so many values. The wire carries versions up to 2^62.
  private static let versionMax: UInt64 = 1 << 61

  private struct Value: Sendable {
    var row: LatestRow
    var isDurable = true
    var isSent = false
  }

  /// The other node's device; `nil` on a peer that has not met its hub.
  var device: DeviceID?
  /// The device in the rows of newest values; `nil` on a peer, whose hub can become another device.
  private var rowDevice: DeviceID?
  private(set) var stream: OutboundStream
  private(set) var inbox: InboundStream
  private var values: [String: Value] = [:]
  private var received: [String: LatestReceived] = [:]
  /// The size of the received values in bytes, on disk and in memory.
  private(set) var receivedBytes = 0
  /// How many received values there are.
  var receivedCount: Int { received.count }
  /// The keys whose newest received value is not durable yet.
  private var receiving: Set<String> = []
  private var failures: (sequence: UInt64, count: Int) = (0, 0)
  private var valuesRetryAt: BusTime?
  /// Up to where the app was told that messages are delivered, so that it is told once for each.
  private var toldDelivered: UInt64 = 0
  private var isOpen = false
  /// Whether the app has a message handler.
  private var isHandling = false
  /// Grows whenever messages that were handed to the app will be handed over again. Answers of an earlier generation
  /// are ignored.
  private var handlerGeneration: UInt64 = 0
  /// Grows whenever both streams begin anew. Completions of writes for the earlier streams are ignored.
  private var bindingGeneration: UInt64 = 0

  init(
    device: DeviceID?, rowDevice: DeviceID? = nil, stream: OutboundStream, inbox: InboundStream,
    latestSent: [LatestRow] = [],
    latestReceived: [LatestReceived] = [], isHandling: Bool = false
  ) {
    self.device = device
    self.rowDevice = rowDevice
    self.stream = stream
    self.inbox = inbox
    self.isHandling = isHandling
    // A hub gives each new stream a generation of its own, so no write of an earlier courier has this one.
    bindingGeneration = stream.durabilityGeneration
    for row in latestSent { values[row.key] = Value(row: row) }
    for row in latestReceived {
      received[row.key] = row
      receivedBytes += row.size
    }
  }

  /// The next moment at which ``meetDeadlines(at:generator:into:)`` has something to do.
  var deadline: BusTime? { isOpen ? BusTime.earliest(stream.retryAt, valuesRetryAt) : nil }

  /// The newest values that this node's app posted and that are not acknowledged, by key.
  var waitingValues: [LatestRow] {
    values.values.map(\.row).filter { !$0.isAcknowledged }.sorted { $0.key < $1.key }
  }

  /// Whether no message or value waits to be delivered to the other node.
  var hasNothingWaiting: Bool { waitingValues.isEmpty && !stream.rows.contains { $0.item != nil } }

  /// Whether nothing is kept and neither stream was ever used.
  var isUnused: Bool { isEmpty && stream.assigned == 0 && inbox.handled.sequence == 0 }

  /// The receiving store has connected and names its device.
  mutating func belong(to device: DeviceID) {
    guard self.device == nil else { return }
    (self.device, rowDevice) = (device, device)
  }

  /// Moves the values received from another store of the device, which is gone for good, to this courier.
  mutating func inherit(from other: Courier) {
    for (key, row) in other.received where received[key] == nil {
      received[key] = row
      receivedBytes += row.size
    }
  }

  /// Moves the value of a key, which was for another store of the device, to this courier, unless this one is newer.
  mutating func adoptValue(of key: String, from other: inout Courier) {
    guard let value = other.values.removeValue(forKey: key), values[key]?.row.version ?? 0 < value.row.version else {
      return
    }
    values[key] = value
  }

  /// Whether nothing waits in either direction and no received value is kept.
  var isEmpty: Bool { hasNothingWaiting && received.isEmpty && inbox.isIdle }

  /// The newest value of a key that was received.
  func value(of key: String) -> AppMessage? { received[key]?.message }

  // MARK: Posting

  /// Posts a message.
  ///
  /// - Returns: why the message was refused, with nothing changed; `nil` when it was accepted.
  mutating func post(
    _ message: AppMessage, by deliveryClass: DeliveryClass, at now: BusTime, into actions: inout [Action]
  ) -> PostRefusal? {
    guard message.isCarried else { return .tooLong }
    switch deliveryClass {
    case .live:
      guard isOpen else { return .unreachable }
      actions.append(.send(.live(message)))
      actions.append(.receipt(MessageReceipt(messageID: message.id, stage: .sent)))
    case .queued:
      guard !stream.isFull else { return .full }
      let row = stream.add(.message(message), since: now, isGoing: isOpen)
      actions.append(
        .write(
          [.enqueue(row)], isUrgent: true,
          then: .sendable(
            through: row.sequence, durabilityGeneration: stream.durabilityGeneration,
            MessageReceipt(messageID: message.id, stage: .queued))))
    case .latest(let key):
      guard AppMessage.isName(key) else { return .tooLong }
      guard values[key] != nil || values.count < Self.keysMax else { return .full }
      let old = values[key]?.row
      let row = LatestRow(device: rowDevice, key: key, version: (old?.version ?? 0) + 1, message: message)
      let replaced = old.flatMap { $0.isAcknowledged ? nil : $0.message.id }
      values[key] = Value(row: row, isDurable: false)
      actions.append(.write([.setLatest(row)], isUrgent: true, then: .latestSendable(row, replaced: replaced)))
    }
    return nil
  }

  /// Cancels a message that was never sent; `false` when it may have been sent, or is not in the outbox.
  mutating func cancel(_ id: MessageID, into actions: inout [Action]) -> Bool {
    guard let row = stream.rows.first(where: { $0.item?.id == id }), row.tries == 0 else { return false }
    tombstone(row, .cancelled, into: &actions)
    return true
  }

  private mutating func tombstone(_ row: OutboxRow, _ reason: RejectionReason, into actions: inout [Action]) {
    guard let id = row.item?.id else { return }
    stream.tombstone(row.sequence)
    let receipt = MessageReceipt(messageID: id, stage: .rejected(reason))
    actions.append(.write([.tombstone(stream.id, sequence: row.sequence)], isUrgent: true, then: .tell(receipt)))
  }

  // MARK: The session

  /// Begins a session with the mark in the other side's hello or welcome, and sends what waits.
  ///
  /// - Returns: whether both sides have the same history. If not, the session does not begin.
  mutating func open(
    received mark: StreamMark, at now: BusTime, generator: inout SeededGenerator, into actions: inout [Action]
  ) -> OutboundStream.HistoryCheck {
    let standing = stream.open(received: mark)
    guard standing == .good else { return standing }
    isOpen = true
    acknowledge(through: mark.sequence, at: now, generator: &generator, into: &actions)
    for row in stream.rows where row.tries == 0 && row.item != nil && now - row.since > Self.lifetime {
      tombstone(row, .expired, into: &actions)
    }
    if let range = stream.countFirstTries() {
      // Store the tries before sending: a later incarnation knows only what is durable, and must not cancel a message
      // that was sent.
      stream.blockUntilDurable()
      actions.append(
        .write(
          [.countTries(stream.id, from: range.lowerBound, through: range.upperBound)], isUrgent: true,
          then: .sendable(through: stream.assigned, durabilityGeneration: stream.durabilityGeneration, nil)))
    } else if stream.isHeld {
      // All rows have tries already, and some are not durable yet, as after a renumbering. An empty commit follows
      // their writes and releases them.
      actions.append(
        .write(
          [], isUrgent: true,
          then: .sendable(through: stream.assigned, durabilityGeneration: stream.durabilityGeneration, nil)))
    }
    for key in values.keys { values[key]?.isSent = false }
    sendValues(at: now, generator: &generator, into: &actions)
    pump(at: now, generator: &generator, into: &actions)
    return .good
  }

  /// Ends the session.
  mutating func close() {
    isOpen = false
    stream.close()
    valuesRetryAt = nil
  }

  /// Begins both streams anew between other stores: the rows are numbered from 1, and every value is sent again.
  ///
  /// - Returns: the writes that make the values unacknowledged. The caller stores the renumbering of the rows.
  mutating func renumber(to id: OutboundStreamID, from sender: StreamID) -> [StoreOperation] {
    stream.renumber(to: id)
    inbox = InboundStream(sender)
    handlerGeneration += 1
    bindingGeneration += 1
    toldDelivered = 0
    failures = (0, 0)
    var operations: [StoreOperation] = []
    for key in values.keys.sorted() {
      values[key]?.isSent = false
      guard var row = values[key]?.row, row.isAcknowledged else { continue }
      row.isAcknowledged = false
      values[key]?.row = row
      operations.append(.setLatest(row))
    }
    return operations
  }

  /// Moves times to a clock with another origin; see ``OutboundStream/shift(by:)``.
  mutating func shift(by span: BusDuration) { stream.shift(by: span) }

  /// Sets whether the app has a message handler. When it gets one, the courier asks for the unhandled messages again.
  mutating func setHandling(_ value: Bool, into actions: inout [Action]) {
    isHandling = value
    if !value {
      inbox.giveBack()
      handlerGeneration += 1
    } else if isOpen, inbox.handled.sequence < .max {
      actions.append(.send(.goBack(.messages, to: inbox.handled.sequence + 1, failure: nil)))
    }
  }

  /// Sends rows and values again whose acknowledgement is overdue.
  mutating func meetDeadlines(at now: BusTime, generator: inout SeededGenerator, into actions: inout [Action]) {
    guard isOpen else { return }
    if let due = stream.retryAt, due <= now {
      if let range = stream.retry(at: now, generator: &generator) { count(range, into: &actions) }
      pump(at: now, generator: &generator, into: &actions)
    }
    if let due = valuesRetryAt, due <= now {
      for key in values.keys { values[key]?.isSent = false }
      sendValues(at: now, generator: &generator, into: &actions)
    }
  }

  /// The transport's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) {
    stream.postpone(to: time)
    if values.values.contains(where: { $0.isSent && !$0.row.isAcknowledged }) { valuesRetryAt = time }
  }

  // MARK: Receiving

  /// Receives messages, values, or acknowledgements from the other side.
  ///
  /// - Parameter room: the room for newest values that are received.
  mutating func receive(
    _ message: DeliveryMessage, room: ValueRoom = ValueRoom(), at now: BusTime, generator: inout SeededGenerator,
    into actions: inout [Action]
  ) {
    switch message {
    case .messages(let transmissions): receive(transmissions, into: &actions)
    case .tombstones(_, let from, let through):
      switch inbox.skip(from: from, through: through) {
      case .taken: noteHandled([], into: &actions)
      case .known: sayHowFar(into: &actions)
      case .asked: break
      case .gap(let place): actions.append(.send(.goBack(.messages, to: place, failure: nil)))
      }
    case .acknowledge(_, let sequence):
      acknowledge(through: sequence, at: now, generator: &generator, into: &actions)
      pump(at: now, generator: &generator, into: &actions)
    case .delivered(let sequence):
      let sequence = min(sequence, stream.sent)
      guard sequence > toldDelivered else { return }
      for row in stream.rows(after: toldDelivered).prefix(while: { $0.sequence <= sequence }) {
        if let id = row.item?.id { actions.append(.receipt(MessageReceipt(messageID: id, stage: .delivered))) }
      }
      toldDelivered = sequence
    case .goBack(_, let place, let failure):
      goBack(to: place, failure: failure, at: now, generator: &generator, into: &actions)
    case .latest(let key, let version, let message):
      receive(message, key: key, version: version, room: room, into: &actions)
    case .acknowledgeLatest(let key, let version):
      guard var value = values[key], !value.row.isAcknowledged else { return }
      if version > value.row.version { return overtake(key, version, into: &actions) }
      guard value.row.version == version else { return }
      value.row.isAcknowledged = true
      values[key] = value
      if waitingValues.isEmpty { valuesRetryAt = nil }
      let receipt = MessageReceipt(messageID: value.row.message.id, stage: .processed)
      actions.append(.write([.setLatest(value.row)], isUrgent: false, then: .tell(receipt)))
    case .refuseLatest(let key, let version):
      guard var value = values[key], value.row.version == version, !value.row.isAcknowledged else { return }
      // Counts as acknowledged, so that it is not sent again until it is replaced or the streams begin anew.
      value.row.isAcknowledged = true
      values[key] = value
      if waitingValues.isEmpty { valuesRetryAt = nil }
      let receipt = MessageReceipt(messageID: value.row.message.id, stage: .rejected(.busy))
      actions.append(.write([.setLatest(value.row)], isUrgent: true, then: .tell(receipt)))
    case .live(let message):
      guard isHandling else { return actions.append(.note("this node handles no messages: a live one was dropped")) }
      hand(message, .live, place: nil, into: &actions)
    case .verdicts: break
    }
  }

  /// The app's handler has returned for messages up to here. A call of an earlier generation is ignored, because its
  /// messages are handed over again.
  mutating func handle(through sequence: UInt64, handlerGeneration: UInt64? = nil, into actions: inout [Action]) {
    guard handlerGeneration == nil || handlerGeneration == self.handlerGeneration else { return }
    if let messages = inbox.handle(through: sequence) { noteHandled(messages, into: &actions) }
  }

  /// The app's handler has failed for a message: asks the sender to send again from it on.
  mutating func fail(_ sequence: UInt64, _ reason: String, into actions: inout [Action]) {
    guard inbox.fail(sequence) else { return }
    handlerGeneration += 1
    if isOpen { actions.append(.send(.goBack(.messages, to: sequence, failure: reason))) }
  }

  /// Carries out the effect of a write that is durable now.
  mutating func perform(
    _ effect: Effect, at now: BusTime, generator: inout SeededGenerator, into actions: inout [Action]
  ) {
    switch effect {
    case .sendable(let sequence, let durabilityGeneration, let receipt):
      stream.makeDurable(through: sequence, durabilityGeneration: durabilityGeneration)
      if let receipt { actions.append(.receipt(receipt)) }
      pump(at: now, generator: &generator, into: &actions)
    case .latestSendable(let row, let replaced):
      if let replaced { actions.append(.receipt(MessageReceipt(messageID: replaced, stage: .replaced))) }
      actions.append(.receipt(MessageReceipt(messageID: row.message.id, stage: .queued)))
      guard values[row.key]?.row.version == row.version else { return }
      values[row.key]?.isDurable = true
      sendValues(at: now, generator: &generator, into: &actions)
    case .latestAgain(let row):
      guard values[row.key]?.row.version == row.version else { return }
      values[row.key]?.isDurable = true
      sendValues(at: now, generator: &generator, into: &actions)
    case .tell(let receipt): actions.append(.receipt(receipt))
    case .processed(let mark, let messages, let bindingGeneration):
      // Ignore completions for streams that a renumbering has replaced.
      guard bindingGeneration == self.bindingGeneration else { return }
      inbox.makeDurable(mark)
      sayHowFar(into: &actions)
      for message in messages { actions.append(.processed(message, isIncoming: true)) }
    case .latestReceived(let row):
      if received[row.key] == row { receiving.remove(row.key) }
      if isOpen, row.store == inbox.stream.sender {
        actions.append(.send(.acknowledgeLatest(key: row.key, version: row.version)))
      }
      if isHandling { hand(row.message, .latest(key: row.key), place: nil, into: &actions) }
    }
  }

  // MARK: Inside

  private mutating func receive(_ transmissions: [MessageTransmission], into actions: inout [Action]) {
    // Without a handler the messages stay with their sender, which tries again.
    guard isHandling else { return }
    switch inbox.receive(transmissions) {
    case .taken(let fresh):
      for transmission in fresh {
        hand(transmission.message, .queued, place: transmission.sequence, into: &actions)
      }
      if let last = fresh.last { actions.append(.send(.delivered(through: last.sequence))) }
    case .known: sayHowFar(into: &actions)
    case .asked: break
    case .gap(let place): actions.append(.send(.goBack(.messages, to: place, failure: nil)))
    }
  }

  private mutating func receive(
    _ message: AppMessage, key: String, version: UInt64, room: ValueRoom, into actions: inout [Action]
  ) {
    guard let device else { return }
    let store = inbox.stream.sender
    // The same version with another id comes from a sender that has lost history: it counts as new.
    if let known = received[key], known.store == store,
      known.version > version || known.version == version && known.message.id == message.id
    {
      // Not durable yet: it is acknowledged when it is.
      guard !receiving.contains(key) else { return }
      return actions.append(.send(.acknowledgeLatest(key: key, version: known.version)))
    }
    let row = LatestReceived(device: device, store: store, key: key, version: version, message: message)
    let bytes = receivedBytes - (received[key]?.size ?? 0) + row.size
    guard received[key] != nil || received.count < room.keys, bytes <= room.bytes else {
      actions.append(.note("there is no room for more values of \(device): one was refused"))
      return actions.append(.send(.refuseLatest(key: key, version: version)))
    }
    received[key] = row
    receivedBytes = bytes
    receiving.insert(key)
    actions.append(.write([.receiveLatest(row)], isUrgent: true, then: .latestReceived(row)))
  }

  /// The receiver has a higher version of a key than this node ever posted, because this store has lost history. Gives
  /// the value a version above that and sends it again.
  private mutating func overtake(_ key: String, _ version: UInt64, into actions: inout [Action]) {
    // A higher version cannot be a count of values and leaves no room above it.
    guard version < Self.versionMax, var row = values[key]?.row else { return }
    row.version = version + 1
    values[key] = Value(row: row, isDurable: false)
    actions.append(.write([.setLatest(row)], isUrgent: true, then: .latestAgain(row)))
  }

  private func hand(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, place: UInt64?, into actions: inout [Action]
  ) {
    guard let device else { return }
    actions.append(
      .hand(
        HandlerCall(
          received: ReceivedMessage(message: message, from: device, deliveryClass: deliveryClass),
          stream: inbox.stream, sequence: place, handlerGeneration: handlerGeneration)))
  }

  private func noteHandled(_ messages: [AppMessage], into actions: inout [Action]) {
    let mark = inbox.handled
    guard mark.sequence > inbox.durable.sequence else { return }
    actions.append(
      .write(
        [.setWatermark(inbox.stream, mark)], isUrgent: true,
        then: .processed(mark, messages, bindingGeneration: bindingGeneration)))
  }

  private func sayHowFar(into actions: inout [Action]) {
    if isOpen { actions.append(.send(.acknowledge(.messages, through: inbox.durable.sequence))) }
  }

  private mutating func acknowledge(
    through sequence: UInt64, at now: BusTime, generator: inout SeededGenerator, into actions: inout [Action]
  ) {
    let processed = stream.rows.prefix { $0.sequence <= sequence }.compactMap(\.item)
    guard stream.acknowledge(through: sequence, at: now, generator: &generator) else { return }
    actions.append(.write([.acknowledge(stream.id, through: stream.acknowledged)], isUrgent: false, then: nil))
    for case .message(let message) in processed {
      actions.append(.receipt(MessageReceipt(messageID: message.id, stage: .processed)))
      actions.append(.processed(message, isIncoming: false))
    }
  }

  private mutating func goBack(
    to place: UInt64, failure: String?, at now: BusTime, generator: inout SeededGenerator, into actions: inout [Action]
  ) {
    guard let failure else {
      stream.goBack(to: place)
      return pump(at: now, generator: &generator, into: &actions)
    }
    failures = failures.sequence == place ? (place, failures.count + 1) : (place, 1)
    guard let index = stream.index(of: place), case .message(let message)? = stream.rows[index].item else { return }
    guard failures.count >= Self.failuresMax else {
      count(place...place, into: &actions)
      // Wait 1, 2, 4, 8 seconds, because the handler may succeed later.
      let wait = generator.jittered(.seconds(Int64(1) << Int64(failures.count - 1)))
      return stream.goBack(to: place, retryAt: now + wait)
    }
    stream.tombstone(place)
    let quarantined = QuarantinedMessage(message: message, receiver: stream.id.receiver, reason: failure, since: now)
    // Send the tombstone only when it is durable. Otherwise a later incarnation would take its acknowledgement for that
    // of the message.
    stream.goBack(to: place)
    stream.blockUntilDurable()
    let receipt = MessageReceipt(messageID: message.id, stage: .rejected(.quarantined))
    actions.append(
      .write(
        [.quarantine(quarantined), .tombstone(stream.id, sequence: place)], isUrgent: true,
        then: .sendable(through: stream.assigned, durabilityGeneration: stream.durabilityGeneration, receipt)))
  }

  private mutating func count(_ range: ClosedRange<UInt64>, into actions: inout [Action]) {
    let range = stream.count(range)
    actions.append(
      .write(
        [.countTries(stream.id, from: range.lowerBound, through: range.upperBound)], isUrgent: false, then: nil))
  }

  /// Sends the rows that may be sent now, in frames that fit.
  private mutating func pump(at now: BusTime, generator: inout SeededGenerator, into actions: inout [Action]) {
    guard isOpen else { return }
    for batch in stream.nextBatches(at: now, generator: &generator) {
      switch batch {
      case .tombstoneRange(let range):
        actions.append(.send(.tombstones(.messages, from: range.lowerBound, through: range.upperBound)))
      case .rows(let rows):
        var frame: [MessageTransmission] = []
        var bytes = 0
        for row in rows {
          guard case .message(let message)? = row.item, let size = row.item?.size else { continue }
          if !frame.isEmpty, bytes + size > Self.frameBytesMax || frame.count >= Self.frameRowsMax {
            actions.append(.send(.messages(frame)))
            (frame, bytes) = ([], 0)
          }
          frame.append(MessageTransmission(sequence: row.sequence, message: message))
          bytes += size
        }
        if !frame.isEmpty { actions.append(.send(.messages(frame))) }
      }
    }
  }

  private mutating func sendValues(at now: BusTime, generator: inout SeededGenerator, into actions: inout [Action]) {
    guard isOpen else { return }
    var isWaiting = false
    for key in values.keys.sorted() {
      guard let value = values[key], value.isDurable, !value.row.isAcknowledged else { continue }
      isWaiting = true
      guard !value.isSent else { continue }
      values[key]?.isSent = true
      actions.append(.send(.latest(key: key, version: value.row.version, value.row.message)))
    }
    valuesRetryAt = isWaiting ? now + generator.jittered(.seconds(5)) : nil
  }
}

extension LatestReceived {
  /// Roughly how many bytes it takes, with overhead.
  fileprivate var size: Int { 256 + key.utf8.count + OutboxItem.message(message).size }
}
