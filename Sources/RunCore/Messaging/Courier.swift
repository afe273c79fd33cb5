import DequeModule

/// Carries an app's messages to and from one other node: the numbered stream either way, and the newest values by key.
/// Hub and peer have the same courier; what they do with its actions is the same, too.
struct Courier: Sendable {
  /// What it wants done, in order.
  enum Action: Sendable {
    case send(DeliveryMessage)
    /// Make this durable; soon, or with whatever is written next. Then the effect, if there is one.
    case write([StoreOperation], isUrgent: Bool, then: Effect?)
    /// Hand it to the app; see ``HandlerCall``.
    case hand(HandlerCall)
    /// The other device's handler, or the one here, has processed a message of the stream, and that is durable there.
    case processed(AppMessage, isIncoming: Bool)
    /// One of the messages given here reached a stage.
    case receipt(MessageReceipt)
    case note(String)
  }

  /// What may follow once a write is durable.
  enum Effect: Sendable {
    /// Rows up to here may be sent.
    case sendable(through: UInt64, durabilityGeneration: UInt64, MessageReceipt?)
    /// The value of a key may be sent, if no newer one has taken its place; and the older one that it replaces.
    case latestSendable(LatestRow, replaced: MessageID?)
    /// The value of a key may be sent again, under a version above the one that the receiver has.
    case latestAgain(LatestRow)
    /// A stage has become durable.
    case tell(MessageReceipt)
    /// What came in is processed up to here, in the streams of this bindingGeneration: these messages.
    case processed(StreamMark, [AppMessage], bindingGeneration: UInt64)
    /// The newest value of a key has come in.
    case latestReceived(LatestReceived)
  }

  /// A message whose handler has failed this often is set aside.
  static let failuresMax = 5
  /// What was never sent in this time is not worth sending.
  static let lifetime = BusDuration.seconds(30 * 86_400)
  /// Keys that one node keeps values of; a setting has a name, not a number.
  static let keysMax = 1024

  /// How many newest values may be kept in all, and how many bytes they may take.
  struct ValueRoom: Sendable {
    var keys = Courier.keysMax
    var bytes = Int.max
  }

  /// Keeps a frame under the 64 KiB that a frame may have.
  private static let frameBytesMax = 48 << 10
  private static let frameRowsMax = 512
  /// No node gives a key so many values; versions go up to 2^62.
  private static let versionMax: UInt64 = 1 << 61

  private struct Value: Sendable {
    var row: LatestRow
    var isDurable = true
    var isSent = false
  }

  /// Who is at the other end; `nil` on a peer that has not met its hub.
  var device: DeviceID?
  /// How the rows of newest values name it; `nil` on a peer, whose hub may come to be another device.
  private var rowDevice: DeviceID?
  private(set) var stream: OutboundStream
  private(set) var inbox: InboundStream
  private var values: [String: Value] = [:]
  private var received: [String: LatestReceived] = [:]
  /// What they take, on the disk as in memory.
  private(set) var receivedBytes = 0
  /// How many there are.
  var receivedCount: Int { received.count }
  /// The keys whose newest value is on its way to the disk.
  private var receiving: Set<String> = []
  private var failures: (sequence: UInt64, count: Int) = (0, 0)
  private var valuesRetryAt: BusTime?
  /// The other side was said to have what lies up to here; that is told once.
  private var toldDelivered: UInt64 = 0
  private var isOpen = false
  /// The app takes messages.
  private var isHandling = false
  /// Counts how often what was handed over was taken back, to be handed over again.
  private var handlerGeneration: UInt64 = 0
  /// Counts how often both streams have begun anew: marks of the old ones say nothing of the new.
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
    // Nor has a write of an earlier courier the bindingGeneration of this one.
    bindingGeneration = stream.durabilityGeneration
    for row in latestSent { values[row.key] = Value(row: row) }
    for row in latestReceived {
      received[row.key] = row
      receivedBytes += row.size
    }
  }

  /// The next moment at which ``meetDeadlines(at:generator:into:)`` has something to do.
  var deadline: BusTime? { isOpen ? BusTime.earliest(stream.retryAt, valuesRetryAt) : nil }

  /// The newest values that were given here and have not arrived.
  var waitingValues: [LatestRow] {
    values.values.map(\.row).filter { !$0.isAcknowledged }.sorted { $0.key < $1.key }
  }

  /// Nothing that was given here waits to arrive.
  var hasNothingWaiting: Bool { waitingValues.isEmpty && !stream.rows.contains { $0.item != nil } }

  /// Nothing ever went either way.
  var isUnused: Bool { isEmpty && stream.assigned == 0 && inbox.handled.sequence == 0 }

  /// The store that it carries to has come, and says whose it is.
  mutating func belong(to device: DeviceID) {
    guard self.device == nil else { return }
    (self.device, rowDevice) = (device, device)
  }

  /// Another store of the device is gone for good: what was kept of it is this one's.
  mutating func inherit(from other: Courier) {
    for (key, row) in other.received where received[key] == nil {
      received[key] = row
      receivedBytes += row.size
    }
  }

  /// Another store of the device was to be sent the newest value of a key: from now on this one is.
  mutating func adoptValue(of key: String, from other: inout Courier) {
    guard let value = other.values.removeValue(forKey: key), values[key]?.row.version ?? 0 < value.row.version else {
      return
    }
    values[key] = value
  }

  /// Nothing waits either way, and no value is kept.
  var isEmpty: Bool { hasNothingWaiting && received.isEmpty && inbox.isIdle }

  /// The newest value of a key that came in.
  func value(of key: String) -> AppMessage? { received[key]?.message }

  // MARK: What is given here

  /// A message to be delivered by its class. Why it is not taken, when it is not; then nothing was changed.
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

  /// Takes back what was never sent; `false` when it may have been, or is not there.
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

  /// Where its streams stand, as the other side's hello or welcome said; what waits goes out.
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
      // Whatever may have been sent can not be cancelled by a later life, which knows only what is durable.
      stream.blockUntilDurable()
      actions.append(
        .write(
          [.countTries(stream.id, from: range.lowerBound, through: range.upperBound)], isUrgent: true,
          then: .sendable(through: stream.assigned, durabilityGeneration: stream.durabilityGeneration, nil)))
    } else if stream.isHeld {
      // All of it may have been sent before its stream was renumbered.
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

  /// The session is over.
  mutating func close() {
    isOpen = false
    stream.close()
    valuesRetryAt = nil
  }

  /// Both streams begin anew between other stores: what is owed is numbered from 1, and every value goes again. The
  /// writes that make the latter durable.
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

  /// The clock has another origin: see ``OutboundStream/shift(by:)``.
  mutating func shift(by span: BusDuration) { stream.shift(by: span) }

  /// The app takes messages from now on, or does not any more.
  mutating func setHandling(_ value: Bool, into actions: inout [Action]) {
    isHandling = value
    if !value {
      inbox.giveBack()
      handlerGeneration += 1
    } else if isOpen, inbox.handled.sequence < .max {
      actions.append(.send(.goBack(.messages, to: inbox.handled.sequence + 1, failure: nil)))
    }
  }

  /// Time has passed.
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

  /// The link could not take something.
  mutating func postpone(to time: BusTime) {
    stream.postpone(to: time)
    if values.values.contains(where: { $0.isSent && !$0.row.isAcknowledged }) { valuesRetryAt = time }
  }

  // MARK: What the other side says

  /// What the other side owes, or says of what is owed to it.
  ///
  /// - Parameter room: for the newest values that come in.
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
      // Not sent again, until it is replaced or another store of a hub may have room.
      value.row.isAcknowledged = true
      values[key] = value
      if waitingValues.isEmpty { valuesRetryAt = nil }
      let receipt = MessageReceipt(messageID: value.row.message.id, stage: .rejected(.busy))
      actions.append(.write([.setLatest(value.row)], isUrgent: true, then: .tell(receipt)))
    case .live(let message):
      guard isHandling else { return actions.append(.note("nobody takes messages here: a live one was dropped")) }
      hand(message, .live, place: nil, into: &actions)
    case .verdicts: break
    }
  }

  /// The app's handler has returned for messages up to here; of an earlier turn it says nothing, they are handed over again.
  mutating func handle(through sequence: UInt64, handlerGeneration: UInt64? = nil, into actions: inout [Action]) {
    guard handlerGeneration == nil || handlerGeneration == self.handlerGeneration else { return }
    if let messages = inbox.handle(through: sequence) { noteHandled(messages, into: &actions) }
  }

  /// The app's handler has failed for one.
  mutating func fail(_ sequence: UInt64, _ reason: String, into actions: inout [Action]) {
    guard inbox.fail(sequence) else { return }
    handlerGeneration += 1
    if isOpen { actions.append(.send(.goBack(.messages, to: sequence, failure: reason))) }
  }

  /// A write is durable.
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
      // A place of streams that have ended says nothing about those of now.
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
    // Nobody takes messages here: they stay with their sender, which tries again.
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
    // The same version of another value comes from a sender that has lost history since.
    if let known = received[key], known.store == store,
      known.version > version || known.version == version && known.message.id == message.id
    {
      // Not durable yet: the sender hears of it when it is.
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

  /// The receiver has a higher version of this key than was ever given here: this store has lost history. Its value takes
  /// a version above that and goes again.
  private mutating func overtake(_ key: String, _ version: UInt64, into actions: inout [Action]) {
    // Beyond this it is no count of values, and leaves no room above it.
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
      // 1, 2, 4, 8 seconds: a handler that fails now may not fail then.
      let wait = generator.jittered(.seconds(Int64(1) << Int64(failures.count - 1)))
      return stream.goBack(to: place, retryAt: now + wait)
    }
    stream.tombstone(place)
    let quarantined = QuarantinedMessage(message: message, receiver: stream.id.receiver, reason: failure, since: now)
    // The receiver hears that nothing stands there once that is durable, or a later life would think it processed.
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

  /// Sends what may go, in frames that fit.
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
  /// About how many bytes it takes, with what is kept around it.
  fileprivate var size: Int { 256 + key.utf8.count + OutboxItem.message(message).size }
}
