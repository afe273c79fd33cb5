/// What an app sends to one other node and receives from it: queued messages (``MessageStream``), newest values by key
/// (``LatestValues``), and live messages, which are delivered now or not at all. Hub and peer use the same courier and
/// carry out its actions in the same way.
///
/// The courier knows what both parts need: the other device, and whether the app has a handler. It routes frames,
/// effects and events to the parts, and their actions to the node.
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
    case messages(MessageStream.Effect)
    case values(LatestValues.Effect)
  }

  /// The other node's device; `nil` on a peer that has not met its hub.
  var device: DeviceID?
  /// Whether the app has a message handler.
  private var isHandling: Bool
  private var messages: MessageStream
  private var values: LatestValues

  /// - Parameter rowDevice: the device in the rows of posted values; `nil` on a peer, whose hub can become another
  ///   device.
  init(
    device: DeviceID?, rowDevice: DeviceID? = nil, stream: OutboundStream, inbox: InboundStream,
    latestSent: [LatestRow] = [], latestReceived: [LatestReceived] = [], isHandling: Bool = false
  ) {
    self.device = device
    self.isHandling = isHandling
    messages = MessageStream(outbound: stream, inbound: inbox)
    values = LatestValues(receiver: rowDevice, posted: latestSent, received: latestReceived)
  }

  var stream: OutboundStream { messages.outbound }
  var inbox: InboundStream { messages.inbound }
  /// The newest values that this node's app posted and that are not acknowledged, by key.
  var waitingValues: [LatestRow] { values.waiting }
  /// How many received values there are.
  var receivedCount: Int { values.receivedCount }
  /// The size of the received values in bytes, on disk and in memory.
  var receivedBytes: Int { values.receivedBytes }

  /// The next moment at which ``meetDeadlines(at:generator:into:)`` has something to do.
  var deadline: BusTime? { messages.isOpen ? BusTime.earliest(messages.retryAt, values.retryAt) : nil }

  /// Whether nothing waits in either direction and no received value is kept.
  var isEmpty: Bool { messages.isIdle && values.hasNothingWaiting && values.receivedCount == 0 }

  /// Whether nothing is kept and neither stream was ever used.
  var isUnused: Bool { isEmpty && messages.isUnused }

  /// The newest value of a key that was received.
  func value(of key: String) -> AppMessage? { values.received(key) }

  // MARK: Stores of a device

  /// The receiving store has connected and names its device.
  mutating func belong(to device: DeviceID) {
    guard self.device == nil else { return }
    self.device = device
    values.belong(to: device)
  }

  /// The device has another name.
  ///
  /// - Returns: the writes that keep the newest values under that name.
  mutating func rename(to device: DeviceID) -> [StoreOperation] {
    self.device = device
    return values.rename(to: device)
  }

  /// Moves the values received from another store of the device, which is gone for good, to this courier.
  mutating func inherit(from other: Courier) { values.inherit(from: other.values) }

  /// Moves the value of a key, which was for another store of the device, to this courier, unless this one is newer.
  mutating func adoptValue(of key: String, from other: inout Courier) { values.adopt(key, from: &other.values) }

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
      guard messages.isOpen else { return .unreachable }
      actions.append(.send(.live(message)))
      actions.append(.receipt(MessageReceipt(messageID: message.id, stage: .sent)))
    case .queued:
      guard let wanted = messages.post(message, at: now) else { return .full }
      route(wanted, into: &actions)
    case .latest(let key):
      guard AppMessage.isName(key) else { return .tooLong }
      guard let wanted = values.post(message, key: key) else { return .full }
      route(wanted, into: &actions)
    }
    return nil
  }

  /// Cancels a message that was never sent; `false` when it may have been sent, or is not in the outbox.
  mutating func cancel(_ id: MessageID, into actions: inout [Action]) -> Bool {
    guard let wanted = messages.cancel(id) else { return false }
    route(wanted, into: &actions)
    return true
  }

  // MARK: The session

  /// Begins a session with the mark in the other side's hello or welcome, and sends what waits.
  ///
  /// - Returns: whether both sides have the same history. If not, the session does not begin.
  mutating func open(
    received mark: StreamMark, within limits: ConnectionLimits, at now: BusTime, generator: inout SeededGenerator,
    into actions: inout [Action]
  ) -> OutboundStream.HistoryCheck {
    let (check, wanted) = messages.open(received: mark, within: limits, at: now, generator: &generator)
    guard check == .good else { return check }
    route(wanted, into: &actions)
    route(values.open(at: now, generator: &generator), into: &actions)
    route(messages.send(at: now, generator: &generator), into: &actions)
    return .good
  }

  /// Ends the session.
  mutating func close() {
    messages.close()
    values.close()
  }

  /// Begins both streams anew between other stores: the rows are numbered from 1, and every value is sent again.
  ///
  /// - Returns: the writes that make the values unacknowledged. The caller stores the renumbering of the rows.
  mutating func renumber(to id: OutboundStreamID, from sender: StreamID) -> [StoreOperation] {
    messages.renumber(to: id, from: sender)
    return values.renumber()
  }

  /// Moves times to a clock with another origin; see ``OutboundStream/shift(by:)``.
  mutating func shift(by span: BusDuration) { messages.shift(by: span) }

  /// Sends rows and values again whose acknowledgement is overdue.
  mutating func meetDeadlines(at now: BusTime, generator: inout SeededGenerator, into actions: inout [Action]) {
    guard messages.isOpen else { return }
    route(messages.retry(at: now, generator: &generator), into: &actions)
    route(values.retry(at: now, generator: &generator), into: &actions)
  }

  /// The transport's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) {
    messages.postpone(to: time)
    values.postpone(to: time)
  }

  /// Receives messages, values, or acknowledgements from the other side.
  ///
  /// - Parameter room: the room for newest values that are received.
  mutating func receive(
    _ message: DeliveryMessage, room: LatestValues.Room = LatestValues.Room(), at now: BusTime,
    generator: inout SeededGenerator, into actions: inout [Action]
  ) {
    switch message {
    case .messages(let transmissions):
      if isHandling { route(messages.receive(transmissions), into: &actions) }
    case .tombstones(_, let from, let through): route(messages.skip(from: from, through: through), into: &actions)
    case .acknowledge(_, let sequence):
      route(messages.acknowledge(through: sequence, at: now, generator: &generator), into: &actions)
    case .delivered(let sequence): route(messages.reportDelivered(through: sequence), into: &actions)
    case .goBack(_, let sequence, let failure):
      route(messages.goBack(to: sequence, failure: failure, at: now, generator: &generator), into: &actions)
    case .latest(let key, let version, let message):
      guard let device else { return }
      let store = messages.inbound.stream.sender
      let wanted = values.receive(message, key: key, version: version, from: device, store, room: room)
      route(wanted, into: &actions)
    case .acknowledgeLatest(let key, let version): route(values.acknowledge(key, version: version), into: &actions)
    case .refuseLatest(let key, let version): route(values.giveUp(key, version: version), into: &actions)
    // A live message can be a question or an answer, which do not need the app's message handler. The node drops it
    // when it is neither and there is no handler.
    case .live(let message): hand(message, .live, into: &actions)
    case .verdicts: break
    }
  }

  // MARK: The handler

  /// Sets whether the app has a message handler. When it gets one, the courier asks for the unhandled messages again.
  mutating func setHandling(_ value: Bool, into actions: inout [Action]) {
    isHandling = value
    if value { route(messages.startHandling(), into: &actions) } else { messages.stopHandling() }
  }

  /// The app's handler has returned for messages up to here; see ``MessageStream/handle(through:handlerGeneration:)``.
  mutating func handle(through sequence: UInt64, handlerGeneration: UInt64? = nil, into actions: inout [Action]) {
    route(messages.handle(through: sequence, handlerGeneration: handlerGeneration), into: &actions)
  }

  /// The app's handler has failed for a message: asks the sender to send again from it on.
  mutating func fail(_ sequence: UInt64, _ reason: String, into actions: inout [Action]) {
    route(messages.fail(sequence, reason), into: &actions)
  }

  // MARK: Actions

  /// Carries out the effect of a write that is durable now.
  mutating func perform(
    _ effect: Effect, at now: BusTime, generator: inout SeededGenerator, into actions: inout [Action]
  ) {
    switch effect {
    case .messages(let effect): route(messages.perform(effect, at: now, generator: &generator), into: &actions)
    case .values(let effect):
      let store = messages.isOpen ? messages.inbound.stream.sender : nil
      route(values.perform(effect, sessionWith: store, at: now, generator: &generator), into: &actions)
    }
  }

  private func route(_ wanted: [MessageStream.Action], into actions: inout [Action]) {
    for action in wanted {
      switch action {
      case .send(let message): actions.append(.send(message))
      case .write(let operations, let isUrgent, let effect):
        actions.append(.write(operations, isUrgent: isUrgent, then: effect.map { .messages($0) }))
      case .hand(let message, let sequence): hand(message, .queued, sequence, into: &actions)
      case .processed(let message, let isIncoming): actions.append(.processed(message, isIncoming: isIncoming))
      case .receipt(let receipt): actions.append(.receipt(receipt))
      }
    }
  }

  private func route(_ wanted: [LatestValues.Action], into actions: inout [Action]) {
    for action in wanted {
      switch action {
      case .send(let message): actions.append(.send(message))
      case .write(let operations, let isUrgent, let effect):
        actions.append(.write(operations, isUrgent: isUrgent, then: effect.map { .values($0) }))
      case .hand(let row): if isHandling { hand(row.message, .latest(key: row.key), into: &actions) }
      case .receipt(let receipt): actions.append(.receipt(receipt))
      case .note(let text): actions.append(.note(text))
      }
    }
  }

  private func hand(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, _ sequence: UInt64? = nil, into actions: inout [Action]
  ) {
    guard let device else { return }
    actions.append(
      .hand(
        HandlerCall(
          received: ReceivedMessage(message: message, from: device, deliveryClass: deliveryClass),
          stream: messages.inbound.stream, sequence: sequence, handlerGeneration: messages.handlerGeneration)))
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] { messages.outbound.check() + messages.inbound.check() + values.check() }
}
