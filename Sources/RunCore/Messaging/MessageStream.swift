import DequeModule

/// An app's queued messages between this node and one other node: a numbered stream in each direction.
///
/// This part decides when a message is sent and sent again, when it has expired or goes into quarantine, which received
/// messages the app gets, and what is acknowledged. It is open from ``open(received:within:by:in:)`` to ``close()`` and
/// sends nothing outside of that, except answers to frames that still arrive.
struct MessageStream: Sendable {
  /// After this many failures of the receiver's handler a message is put in quarantine.
  static let failuresMax = 5
  /// A message that was not sent within this time (real time) expires.
  static let lifetime = BusDuration.seconds(30 * 86_400)
  private static let frameRowsMax = 512

  private(set) var outbound: OutboundStream
  private(set) var inbound: InboundStream
  /// Whether a session is open.
  private(set) var isOpen = false
  /// The bytes of messages in a frame of the session.
  private var frameBytesMax = 0
  /// Grows whenever messages that were handed to the app will be handed over again. Answers of an earlier generation
  /// are ignored.
  private(set) var handlerGeneration: UInt64 = 0
  /// Grows whenever both streams begin anew. Completions of writes for the earlier streams are ignored.
  private var bindingGeneration: UInt64
  /// The message for which the receiver's handler failed last, and how often in a row.
  private var failures: (sequence: UInt64, count: Int) = (0, 0)
  /// Up to where the app has the receipts of delivered messages, so that it gets each one once.
  private var reportedDelivered: UInt64 = 0

  init(outbound: OutboundStream, inbound: InboundStream) {
    self.outbound = outbound
    self.inbound = inbound
    // A hub gives each new stream a generation of its own, so no write of an earlier stream has this one.
    bindingGeneration = outbound.durabilityGeneration
  }

  /// Whether no message waits to be delivered to the other node.
  var hasNothingWaiting: Bool { !outbound.rows.contains { $0.item != nil } }
  /// Whether nothing waits in either direction.
  var isIdle: Bool { hasNothingWaiting && inbound.isIdle }
  /// Whether neither stream was ever used.
  var isUnused: Bool { outbound.assigned == 0 && inbound.handled.sequence == 0 }
  /// When ``retry(by:in:)`` has something to do.
  var retryAt: BusTime? { outbound.retryAt }

  // MARK: Posting

  /// Appends a message; `false` when the outbox is full.
  mutating func post<Action: CourierAction>(_ message: AppMessage, in turn: inout Turn<Action>) -> Bool {
    guard !outbound.isFull else { return false }
    let row = outbound.add(.message(message), since: turn.monotonic, isGoing: isOpen)
    turn.write([.enqueue(row)], then: [report(message.id, .queued), sendable(through: row.sequence)])
    return true
  }

  /// Cancels a message that was never sent; `false` when it may have been sent, or is not in the outbox.
  mutating func cancel<Action: CourierAction>(_ id: MessageID, in turn: inout Turn<Action>) -> Bool {
    guard let row = outbound.rows.first(where: { $0.item?.id == id }), row.tries == 0 else { return false }
    tombstone(row, .cancelled, in: &turn)
    return true
  }

  private mutating func tombstone<Action: CourierAction>(
    _ row: OutboxRow, _ reason: RejectionReason, in turn: inout Turn<Action>
  ) {
    guard let id = row.item?.id else { return }
    outbound.tombstone(row.sequence)
    turn.write([.tombstone(outbound.id, sequence: row.sequence)], then: [report(id, .rejected(reason))])
  }

  // MARK: The session

  /// Begins a session with the mark in the other side's hello or welcome. The caller then calls ``send(by:in:)``.
  ///
  /// - Returns: whether both sides have the same history; if not, the session does not begin and nothing is done.
  mutating func open<Action: CourierAction>(
    received mark: StreamMark, within limits: ConnectionLimits, by way: Way<Action>, in turn: inout Turn<Action>
  ) -> OutboundStream.HistoryCheck {
    let check = outbound.check(mark)
    guard check == .good else { return check }
    outbound.open(received: mark)
    isOpen = true
    frameBytesMax = limits.messageBytesMax
    remove(through: mark.sequence, by: way, in: &turn)
    let now = turn.monotonic
    for row in outbound.rows where row.tries == 0 && row.item != nil && now - row.since > Self.lifetime {
      tombstone(row, .expired, in: &turn)
    }
    if let range = outbound.countFirstTries() {
      // Store the tries before sending: a later incarnation knows only what is durable, and must not cancel a message
      // that was sent.
      outbound.blockUntilDurable()
      turn.write([tries(range)], then: [sendable(through: outbound.assigned)])
    } else if outbound.isHeld {
      // All rows have tries already, and some are not durable yet, as after a renumbering. An empty commit follows
      // their writes and releases them.
      turn.write([], then: [sendable(through: outbound.assigned)])
    }
    return check
  }

  /// Ends the session.
  mutating func close() {
    isOpen = false
    outbound.close()
  }

  /// Begins both streams anew between other stores: the rows are numbered from 1. The caller stores the renumbering.
  mutating func renumber(to id: OutboundStreamID, from sender: StreamID) {
    outbound.renumber(to: id)
    inbound = InboundStream(sender)
    handlerGeneration += 1
    bindingGeneration += 1
    reportedDelivered = 0
    failures = (0, 0)
  }

  /// Moves times to a clock with another origin; see ``OutboundStream/shift(by:)``.
  mutating func shift(by span: BusDuration) { outbound.shift(by: span) }

  // MARK: Sending

  /// Sends the rows that may be sent now, in frames that fit.
  mutating func send<Action: CourierAction>(by way: Way<Action>, in turn: inout Turn<Action>) {
    guard isOpen else { return }
    let frames = outbound.nextFrames(
      at: turn.monotonic, generator: &turn.generator, rowsMax: Self.frameRowsMax, bytesMax: frameBytesMax)
    turn.tally.retransmissions += outbound.takeRetransmissions()
    for frame in frames {
      switch frame {
      case .tombstoneRange(let range):
        way.send(.tombstones(.messages, from: range.lowerBound, through: range.upperBound), in: &turn)
      case .rows(let rows): way.send(.messages(rows.compactMap(MessageTransmission.init)), in: &turn)
      }
    }
  }

  /// Sends rows again whose acknowledgement is overdue.
  mutating func retry<Action: CourierAction>(by way: Way<Action>, in turn: inout Turn<Action>) {
    guard isOpen, let due = retryAt, due <= turn.monotonic else { return }
    if let range = outbound.retry(at: turn.monotonic, generator: &turn.generator) { count(range, in: &turn) }
    send(by: way, in: &turn)
  }

  /// The transport's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) { outbound.postpone(to: time) }

  /// The receiver has durably processed everything up to here.
  mutating func acknowledge<Action: CourierAction>(
    through sequence: UInt64, by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    remove(through: sequence, by: way, in: &turn)
    send(by: way, in: &turn)
  }

  private mutating func remove<Action: CourierAction>(
    through sequence: UInt64, by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    let processed = outbound.rows.prefix { $0.sequence <= sequence }.compactMap(\.item)
    guard outbound.acknowledge(through: sequence, at: turn.monotonic, generator: &turn.generator) else { return }
    turn.write([.acknowledge(outbound.id, through: outbound.acknowledged)], isUrgent: false)
    for case .message(let message) in processed {
      way.report(message.id, .processed, in: &turn)
      way.announce(message, isIncoming: false, in: &turn)
    }
  }

  /// The receiver has handed the messages up to here to its app.
  mutating func reportDelivered<Action: CourierAction>(
    through sequence: UInt64, by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    let sequence = min(sequence, outbound.sent)
    guard sequence > reportedDelivered else { return }
    let delivered = outbound.rows(after: reportedDelivered).prefix { $0.sequence <= sequence }
    reportedDelivered = sequence
    for id in delivered.compactMap(\.item?.id) { way.report(id, .delivered, in: &turn) }
  }

  /// The receiver asks for the rows from here on again; with a reason when its handler failed for the first of them.
  ///
  /// - Returns: the message if it goes into quarantine.
  mutating func goBack<Action: CourierAction>(
    to sequence: UInt64, failure: String?, by way: Way<Action>, in turn: inout Turn<Action>
  ) -> QuarantinedMessage? {
    guard let failure else {
      outbound.goBack(to: sequence)
      send(by: way, in: &turn)
      return nil
    }
    failures = (sequence, failures.sequence == sequence ? failures.count + 1 : 1)
    guard let index = outbound.index(of: sequence), case .message(let message)? = outbound.rows[index].item else {
      return nil
    }
    guard failures.count >= Self.failuresMax else {
      count(sequence...sequence, in: &turn)
      // Wait 1, 2, 4, 8 seconds, because the handler may succeed later.
      let wait = turn.generator.jittered(.seconds(Int64(1) << Int64(failures.count - 1)))
      outbound.goBack(to: sequence, retryAt: turn.monotonic + wait)
      return nil
    }
    return putInQuarantine(message, sequence, failure, in: &turn)
  }

  private mutating func putInQuarantine<Action: CourierAction>(
    _ message: AppMessage, _ sequence: UInt64, _ reason: String, in turn: inout Turn<Action>
  ) -> QuarantinedMessage {
    outbound.tombstone(sequence)
    let quarantined = QuarantinedMessage(
      message: message, receiver: outbound.id.receiver, reason: reason, since: turn.monotonic)
    // Send the tombstone only when it is durable. Otherwise a later incarnation would take its acknowledgement for that
    // of the message.
    outbound.goBack(to: sequence)
    outbound.blockUntilDurable()
    turn.write(
      [.quarantine(quarantined), .tombstone(outbound.id, sequence: sequence)],
      then: [report(message.id, .rejected(.quarantined)), sendable(through: outbound.assigned)])
    return quarantined
  }

  private mutating func count<Action: CourierAction>(_ range: ClosedRange<UInt64>, in turn: inout Turn<Action>) {
    turn.write([tries(outbound.count(range))], isUrgent: false)
  }

  private func tries(_ range: ClosedRange<UInt64>) -> StoreOperation {
    .countTries(outbound.id, from: range.lowerBound, through: range.upperBound)
  }

  private func sendable<Action: CourierAction>(through sequence: UInt64) -> Durable<Action> {
    .sendable(outbound.id, through: sequence, durabilityGeneration: outbound.durabilityGeneration)
  }

  private func report<Action: CourierAction>(_ id: MessageID, _ stage: DeliveryStage) -> Durable<Action> {
    .act(.messageReceipt(MessageReceipt(messageID: id, stage: stage)))
  }

  // MARK: Receiving

  /// Receives messages while the app has a handler. Without one the messages stay with their sender, which tries again.
  mutating func receive<Action: CourierAction>(
    _ transmissions: [MessageTransmission], by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    turn.tally.duplicates += Int64(transmissions.count { $0.sequence <= inbound.received })
    switch inbound.receive(transmissions) {
    case .taken(let fresh):
      for transmission in fresh { way.hand(transmission.message, .queued, transmission.sequence, in: &turn) }
      if let last = fresh.last { way.send(.delivered(through: last.sequence), in: &turn) }
    case .known: acknowledge(by: way, in: &turn)
    case .asked: break
    case .gap(let sequence): way.send(.goBack(.messages, to: sequence, failure: nil), in: &turn)
    }
  }

  /// Receives a range of sequence numbers that hold no message.
  mutating func skip<Action: CourierAction>(
    from: UInt64, through: UInt64, by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    switch inbound.skip(from: from, through: through) {
    case .taken: storeHandled([], in: &turn)
    case .known: acknowledge(by: way, in: &turn)
    case .asked: break
    case .gap(let sequence): way.send(.goBack(.messages, to: sequence, failure: nil), in: &turn)
    }
  }

  /// The app has a handler: asks for the unhandled messages again.
  mutating func startHandling<Action: CourierAction>(by way: Way<Action>, in turn: inout Turn<Action>) {
    guard isOpen, inbound.handled.sequence < .max else { return }
    way.send(.goBack(.messages, to: inbound.handled.sequence + 1, failure: nil), in: &turn)
  }

  /// The app has no handler any more: drops the messages that it has not handled.
  mutating func stopHandling() {
    inbound.giveBack()
    handlerGeneration += 1
  }

  /// The app's handler has returned for messages up to here. A call of an earlier generation is ignored, because its
  /// messages are handed over again.
  mutating func handle<Action: CourierAction>(
    through sequence: UInt64, handlerGeneration: UInt64?, in turn: inout Turn<Action>
  ) {
    guard handlerGeneration == nil || handlerGeneration == self.handlerGeneration else { return }
    if let messages = inbound.handle(through: sequence) { storeHandled(messages, in: &turn) }
  }

  /// The app's handler has failed for a message: asks the sender to send again from it on.
  mutating func fail<Action: CourierAction>(
    _ sequence: UInt64, _ reason: String, by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    guard inbound.fail(sequence) else { return }
    handlerGeneration += 1
    if isOpen { way.send(.goBack(.messages, to: sequence, failure: reason), in: &turn) }
  }

  private func storeHandled<Action: CourierAction>(_ messages: [AppMessage], in turn: inout Turn<Action>) {
    let mark = inbound.handled
    guard mark.sequence > inbound.durable.sequence else { return }
    turn.write(
      [.setWatermark(inbound.stream, mark)],
      then: [.processed(inbound.stream, mark, messages, bindingGeneration: bindingGeneration)])
  }

  private func acknowledge<Action: CourierAction>(by way: Way<Action>, in turn: inout Turn<Action>) {
    if isOpen { way.send(.acknowledge(.messages, through: inbound.durable.sequence), in: &turn) }
  }

  // MARK: Durable writes

  /// Rows up to here are durable: sends them.
  mutating func makeSendable<Action: CourierAction>(
    through sequence: UInt64, durabilityGeneration: UInt64, by way: Way<Action>, in turn: inout Turn<Action>
  ) {
    outbound.makeDurable(through: sequence, durabilityGeneration: durabilityGeneration)
    send(by: way, in: &turn)
  }

  /// The inbound stream of this binding generation is durably processed up to here; these are the newly processed
  /// messages.
  mutating func makeProcessed<Action: CourierAction>(
    _ mark: StreamMark, _ messages: [AppMessage], bindingGeneration: UInt64, by way: Way<Action>,
    in turn: inout Turn<Action>
  ) {
    // Ignore completions for streams that a renumbering has replaced.
    guard bindingGeneration == self.bindingGeneration else { return }
    inbound.makeDurable(mark)
    acknowledge(by: way, in: &turn)
    for message in messages { way.announce(message, isIncoming: true, in: &turn) }
  }
}

extension MessageTransmission {
  /// The message of a row; `nil` when it holds none.
  fileprivate init?(_ row: OutboxRow) {
    guard case .message(let message)? = row.item else { return nil }
    self.init(sequence: row.sequence, message: message)
  }
}
