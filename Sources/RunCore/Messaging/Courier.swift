/// What an app sends to one other node and receives from it: queued messages (``MessageStream``), newest values by key
/// (``LatestValues``), and live messages, which are delivered now or not at all. Hub and peer use the same courier,
/// which writes into the turns of both; `link` is the session with the other node, if there is one.
///
/// The courier knows what both parts need: the devices at both ends, and whether the app has a handler. It gives frames,
/// durable writes and calls of the app to the part that they concern.
struct Courier: Retrying {
  /// This node's device.
  private let own: DeviceID
  /// The other node's device; `nil` on a peer that has not met its hub.
  var device: DeviceID?
  /// Whether the app has a message handler.
  private var isHandling: Bool
  private var messages: MessageStream
  private var values: LatestValues

  /// - Parameters:
  ///   - own: This node's device.
  ///   - device: The other node's device.
  ///   - rowDevice: The device in the rows of posted values; `nil` on a peer, whose hub can become another device.
  init(
    own: DeviceID, device: DeviceID?, rowDevice: DeviceID? = nil, stream: OutboundStream, inbox: InboundStream,
    latestSent: [LatestRow] = [], latestReceived: [LatestReceived] = [], isHandling: Bool = false
  ) {
    self.own = own
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

  /// The next moment at which ``meetDeadlines(over:in:)`` has something to do.
  var deadline: BusTime? { messages.isOpen ? BusTime.earliest(messages.retryAt, values.retryAt) : nil }

  /// Whether nothing waits in either direction and no received value is kept.
  var isEmpty: Bool { messages.isIdle && values.hasNothingWaiting && values.receivedCount == 0 }

  /// Whether nothing is kept and neither stream was ever used.
  var isUnused: Bool { isEmpty && messages.isUnused }

  /// The newest value of a key that was received.
  func value(of key: String) -> AppMessage? { values.received(key) }

  /// The newest values that were received, by key.
  func valueReports(at now: BusTime) -> [ValueReport] { device.map { values.reports(from: $0, at: now) } ?? [] }

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
  mutating func post<Action: CourierAction>(
    _ message: AppMessage, by deliveryClass: DeliveryClass, over link: Action.Link?, in turn: inout Turn<Action>
  ) -> PostRefusal? {
    guard message.isCarried else { return .tooLong }
    switch deliveryClass {
    case .live:
      guard messages.isOpen else { return .unreachable }
      let way: Way<Action> = way(over: link)
      way.send(.live(message), in: &turn)
      way.report(message.id, .sent, in: &turn)
    case .queued: guard messages.post(message, in: &turn) else { return .full }
    case .latest(let key):
      guard AppMessage.isName(key) else { return .tooLong }
      guard values.post(message, key: key, by: way(over: link), in: &turn) else { return .full }
    }
    return nil
  }

  /// Cancels a message that was never sent; `false` when it may have been sent, or is not in the outbox.
  mutating func cancel<Action: CourierAction>(_ id: MessageID, in turn: inout Turn<Action>) -> Bool {
    messages.cancel(id, in: &turn)
  }

  // MARK: The session

  /// Begins a session with the mark in the other side's hello or welcome, and sends what waits.
  ///
  /// - Returns: whether both sides have the same history. If not, the session does not begin.
  @discardableResult mutating func open<Action: CourierAction>(
    received mark: StreamMark, within limits: ConnectionLimits, over link: Action.Link?, in turn: inout Turn<Action>
  ) -> OutboundStream.HistoryCheck {
    let check = messages.open(received: mark, within: limits, by: way(over: link), in: &turn)
    guard check == .good else { return check }
    values.open(by: way(over: link), in: &turn)
    messages.send(by: way(over: link), in: &turn)
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
  mutating func meetDeadlines<Action: CourierAction>(over link: Action.Link?, in turn: inout Turn<Action>) {
    guard messages.isOpen else { return }
    messages.retry(by: way(over: link), in: &turn)
    values.retry(by: way(over: link), in: &turn)
  }

  /// The transport's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) {
    messages.postpone(to: time)
    values.postpone(to: time)
  }

  /// Receives messages, values, or acknowledgements from the other side.
  ///
  /// - Parameter room: The room for newest values that are received.
  /// - Returns: a message of this node if it goes into quarantine.
  mutating func receive<Action: CourierAction>(
    _ message: DeliveryMessage, room: LatestValues.Room = LatestValues.Room(), over link: Action.Link?,
    in turn: inout Turn<Action>
  ) -> QuarantinedMessage? {
    let way: Way<Action> = way(over: link)
    switch message {
    case .messages(let transmissions): if isHandling { messages.receive(transmissions, by: way, in: &turn) }
    case .tombstones(_, let from, let through): messages.skip(from: from, through: through, by: way, in: &turn)
    case .acknowledge(_, let sequence): messages.acknowledge(through: sequence, by: way, in: &turn)
    case .delivered(let sequence): messages.reportDelivered(through: sequence, by: way, in: &turn)
    case .goBack(_, let sequence, let failure):
      return messages.goBack(to: sequence, failure: failure, by: way, in: &turn)
    case .latest(let key, let version, let message):
      values.receive(message, key: key, version: version, room: room, by: way, in: &turn)
    case .acknowledgeLatest(let key, let version): values.acknowledge(key, version: version, by: way, in: &turn)
    case .refuseLatest(let key, let version): values.giveUp(key, version: version, by: way, in: &turn)
    // A live message can be a question or an answer, which do not need the app's message handler. The node drops it
    // when it is neither and there is no handler.
    case .live(let message): way.hand(message, .live, in: &turn)
    case .verdicts: break
    }
    return nil
  }

  // MARK: The handler

  /// Sets whether the app has a message handler. When it gets one, the courier asks for the unhandled messages again.
  mutating func setHandling<Action: CourierAction>(
    _ value: Bool, over link: Action.Link?, in turn: inout Turn<Action>
  ) {
    isHandling = value
    if value { messages.startHandling(by: way(over: link), in: &turn) } else { messages.stopHandling() }
  }

  /// The app's handler has returned for messages up to here; see ``MessageStream/handle(through:handlerGeneration:in:)``.
  mutating func handle<Action: CourierAction>(
    through sequence: UInt64, handlerGeneration: UInt64? = nil, in turn: inout Turn<Action>
  ) {
    messages.handle(through: sequence, handlerGeneration: handlerGeneration, in: &turn)
  }

  /// The app's handler has failed for a message: asks the sender to send again from it on.
  mutating func fail<Action: CourierAction>(
    _ sequence: UInt64, _ reason: String, over link: Action.Link?, in turn: inout Turn<Action>
  ) {
    messages.fail(sequence, reason, by: way(over: link), in: &turn)
  }

  // MARK: Durable writes

  /// Carries out what follows a write of this courier that is durable now; see ``Durable/courier``.
  mutating func carryOut<Action: CourierAction>(
    _ durable: Durable<Action>, over link: Action.Link?, in turn: inout Turn<Action>
  ) {
    let way: Way<Action> = way(over: link)
    switch durable {
    case .sendable(_, let sequence, let durabilityGeneration):
      messages.makeSendable(through: sequence, durabilityGeneration: durabilityGeneration, by: way, in: &turn)
    case .processed(_, let mark, let processed, let bindingGeneration):
      messages.makeProcessed(mark, processed, bindingGeneration: bindingGeneration, by: way, in: &turn)
    case .valueSendable(_, let key, let version): values.makeSendable(key, version: version, by: way, in: &turn)
    case .valueReceived(let row):
      values.makeReceived(row, by: way, in: &turn)
      if isHandling { way.hand(row.message, .latest(key: row.key), in: &turn) }
    default: assertionFailure("this follows no write of a courier")
    }
  }

  private func way<Action: CourierAction>(over link: Action.Link?) -> Way<Action> {
    Way(
      link: link, isOpen: messages.isOpen, own: own, other: device, store: messages.inbound.stream.sender,
      handlerGeneration: messages.handlerGeneration)
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] { messages.outbound.check() + messages.inbound.check() + values.check() }
}
