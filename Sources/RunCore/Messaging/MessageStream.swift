import DequeModule

/// An app's queued messages between this node and one other node: a numbered stream in each direction.
///
/// This part decides when a message is sent and sent again, when it has expired or goes into quarantine, which received
/// messages the app gets, and what is acknowledged. It is open from ``open(received:at:generator:)`` to ``close()`` and
/// sends nothing outside of that, except answers to frames that still arrive.
struct MessageStream: Sendable {
  /// What the node has to do, in order.
  enum Action: Hashable, Sendable {
    case send(DeliveryMessage)
    /// Commit these writes, at once if urgent, else with a later write. Call ``MessageStream/perform(_:at:generator:)``
    /// with the effect when they are durable.
    case write([StoreOperation], isUrgent: Bool, then: Effect?)
    /// Hand a received message to the app's handler.
    case hand(AppMessage, sequence: UInt64)
    /// The handler of the other device, or of this one, has processed a message durably.
    case processed(AppMessage, isIncoming: Bool)
    /// A message that this node's app posted has reached a stage.
    case receipt(MessageReceipt)
  }

  /// What follows when a write is durable.
  enum Effect: Hashable, Sendable {
    /// Rows up to here may be sent.
    case sendable(through: UInt64, durabilityGeneration: UInt64, MessageReceipt?)
    /// The app gets this receipt.
    case report(MessageReceipt)
    /// The inbound stream of this binding generation is processed up to here; these are the newly processed messages.
    case processed(StreamMark, [AppMessage], bindingGeneration: UInt64)
  }

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
  /// When ``retry(at:generator:)`` has something to do.
  var retryAt: BusTime? { outbound.retryAt }

  // MARK: Posting

  /// Appends a message; `nil` when the outbox is full.
  mutating func post(_ message: AppMessage, at now: BusTime) -> [Action]? {
    guard !outbound.isFull else { return nil }
    let row = outbound.add(.message(message), since: now, isGoing: isOpen)
    let receipt = MessageReceipt(messageID: message.id, stage: .queued)
    return [.write([.enqueue(row)], isUrgent: true, then: sendable(through: row.sequence, receipt))]
  }

  /// Cancels a message that was never sent; `nil` when it may have been sent, or is not in the outbox.
  mutating func cancel(_ id: MessageID) -> [Action]? {
    guard let row = outbound.rows.first(where: { $0.item?.id == id }), row.tries == 0 else { return nil }
    return tombstone(row, .cancelled)
  }

  private mutating func tombstone(_ row: OutboxRow, _ reason: RejectionReason) -> [Action] {
    guard let id = row.item?.id else { return [] }
    outbound.tombstone(row.sequence)
    let receipt = MessageReceipt(messageID: id, stage: .rejected(reason))
    return [.write([.tombstone(outbound.id, sequence: row.sequence)], isUrgent: true, then: .report(receipt))]
  }

  // MARK: The session

  /// Begins a session with the mark in the other side's hello or welcome. The caller then calls
  /// ``send(at:generator:)``.
  ///
  /// - Returns: whether both sides have the same history; if not, the session does not begin and there are no actions.
  mutating func open(
    received mark: StreamMark, within limits: ConnectionLimits, at now: BusTime, generator: inout SeededGenerator
  ) -> (check: OutboundStream.HistoryCheck, actions: [Action]) {
    let check = outbound.check(mark)
    guard check == .good else { return (check, []) }
    outbound.open(received: mark)
    isOpen = true
    frameBytesMax = limits.messageBytesMax
    var actions = remove(through: mark.sequence, at: now, generator: &generator)
    for row in outbound.rows where row.tries == 0 && row.item != nil && now - row.since > Self.lifetime {
      actions += tombstone(row, .expired)
    }
    if let range = outbound.countFirstTries() {
      // Store the tries before sending: a later incarnation knows only what is durable, and must not cancel a message
      // that was sent.
      outbound.blockUntilDurable()
      actions.append(.write([tries(range)], isUrgent: true, then: sendable(through: outbound.assigned)))
    } else if outbound.isHeld {
      // All rows have tries already, and some are not durable yet, as after a renumbering. An empty commit follows
      // their writes and releases them.
      actions.append(.write([], isUrgent: true, then: sendable(through: outbound.assigned)))
    }
    return (check, actions)
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
  mutating func send(at now: BusTime, generator: inout SeededGenerator) -> [Action] {
    guard isOpen else { return [] }
    let frames = outbound.nextFrames(
      at: now, generator: &generator, rowsMax: Self.frameRowsMax, bytesMax: frameBytesMax)
    return frames.map { frame in
      switch frame {
      case .tombstoneRange(let range): .send(.tombstones(.messages, from: range.lowerBound, through: range.upperBound))
      case .rows(let rows): .send(.messages(rows.compactMap(MessageTransmission.init)))
      }
    }
  }

  /// Sends rows again whose acknowledgement is overdue.
  mutating func retry(at now: BusTime, generator: inout SeededGenerator) -> [Action] {
    guard isOpen, let due = retryAt, due <= now else { return [] }
    let range = outbound.retry(at: now, generator: &generator)
    return (range.map { [count($0)] } ?? []) + send(at: now, generator: &generator)
  }

  /// The transport's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) { outbound.postpone(to: time) }

  /// The receiver has durably processed everything up to here.
  mutating func acknowledge(through sequence: UInt64, at now: BusTime, generator: inout SeededGenerator) -> [Action] {
    remove(through: sequence, at: now, generator: &generator) + send(at: now, generator: &generator)
  }

  private mutating func remove(
    through sequence: UInt64, at now: BusTime, generator: inout SeededGenerator
  ) -> [Action] {
    let processed = outbound.rows.prefix { $0.sequence <= sequence }.compactMap(\.item)
    guard outbound.acknowledge(through: sequence, at: now, generator: &generator) else { return [] }
    var actions = [
      Action.write([.acknowledge(outbound.id, through: outbound.acknowledged)], isUrgent: false, then: nil)
    ]
    for case .message(let message) in processed {
      actions.append(.receipt(MessageReceipt(messageID: message.id, stage: .processed)))
      actions.append(.processed(message, isIncoming: false))
    }
    return actions
  }

  /// The receiver has handed the messages up to here to its app.
  mutating func reportDelivered(through sequence: UInt64) -> [Action] {
    let sequence = min(sequence, outbound.sent)
    guard sequence > reportedDelivered else { return [] }
    let delivered = outbound.rows(after: reportedDelivered).prefix { $0.sequence <= sequence }
    reportedDelivered = sequence
    return delivered.compactMap(\.item?.id).map { .receipt(MessageReceipt(messageID: $0, stage: .delivered)) }
  }

  /// The receiver asks for the rows from here on again; with a reason when its handler failed for the first of them.
  mutating func goBack(
    to sequence: UInt64, failure: String?, at now: BusTime, generator: inout SeededGenerator
  ) -> [Action] {
    guard let failure else {
      outbound.goBack(to: sequence)
      return send(at: now, generator: &generator)
    }
    failures = (sequence, failures.sequence == sequence ? failures.count + 1 : 1)
    guard let index = outbound.index(of: sequence), case .message(let message)? = outbound.rows[index].item else {
      return []
    }
    guard failures.count >= Self.failuresMax else {
      let actions = [count(sequence...sequence)]
      // Wait 1, 2, 4, 8 seconds, because the handler may succeed later.
      let wait = generator.jittered(.seconds(Int64(1) << Int64(failures.count - 1)))
      outbound.goBack(to: sequence, retryAt: now + wait)
      return actions
    }
    return putInQuarantine(message, sequence, failure, at: now)
  }

  private mutating func putInQuarantine(
    _ message: AppMessage, _ sequence: UInt64, _ reason: String, at now: BusTime
  ) -> [Action] {
    outbound.tombstone(sequence)
    let quarantined = QuarantinedMessage(message: message, receiver: outbound.id.receiver, reason: reason, since: now)
    // Send the tombstone only when it is durable. Otherwise a later incarnation would take its acknowledgement for that
    // of the message.
    outbound.goBack(to: sequence)
    outbound.blockUntilDurable()
    let receipt = MessageReceipt(messageID: message.id, stage: .rejected(.quarantined))
    return [
      .write(
        [.quarantine(quarantined), .tombstone(outbound.id, sequence: sequence)], isUrgent: true,
        then: sendable(through: outbound.assigned, receipt))
    ]
  }

  private mutating func count(_ range: ClosedRange<UInt64>) -> Action {
    .write([tries(outbound.count(range))], isUrgent: false, then: nil)
  }

  private func tries(_ range: ClosedRange<UInt64>) -> StoreOperation {
    .countTries(outbound.id, from: range.lowerBound, through: range.upperBound)
  }

  private func sendable(through sequence: UInt64, _ receipt: MessageReceipt? = nil) -> Effect {
    .sendable(through: sequence, durabilityGeneration: outbound.durabilityGeneration, receipt)
  }

  // MARK: Receiving

  /// Receives messages while the app has a handler. Without one the messages stay with their sender, which tries again.
  mutating func receive(_ transmissions: [MessageTransmission]) -> [Action] {
    switch inbound.receive(transmissions) {
    case .taken(let fresh):
      var actions = fresh.map { Action.hand($0.message, sequence: $0.sequence) }
      if let last = fresh.last { actions.append(.send(.delivered(through: last.sequence))) }
      return actions
    case .known: return acknowledgement
    case .asked: return []
    case .gap(let sequence): return [.send(.goBack(.messages, to: sequence, failure: nil))]
    }
  }

  /// Receives a range of sequence numbers that hold no message.
  mutating func skip(from: UInt64, through: UInt64) -> [Action] {
    switch inbound.skip(from: from, through: through) {
    case .taken: storeHandled([])
    case .known: acknowledgement
    case .asked: []
    case .gap(let sequence): [.send(.goBack(.messages, to: sequence, failure: nil))]
    }
  }

  /// The app has a handler: asks for the unhandled messages again.
  mutating func startHandling() -> [Action] {
    guard isOpen, inbound.handled.sequence < .max else { return [] }
    return [.send(.goBack(.messages, to: inbound.handled.sequence + 1, failure: nil))]
  }

  /// The app has no handler any more: drops the messages that it has not handled.
  mutating func stopHandling() {
    inbound.giveBack()
    handlerGeneration += 1
  }

  /// The app's handler has returned for messages up to here. A call of an earlier generation is ignored, because its
  /// messages are handed over again.
  mutating func handle(through sequence: UInt64, handlerGeneration: UInt64?) -> [Action] {
    guard handlerGeneration == nil || handlerGeneration == self.handlerGeneration else { return [] }
    guard let messages = inbound.handle(through: sequence) else { return [] }
    return storeHandled(messages)
  }

  /// The app's handler has failed for a message: asks the sender to send again from it on.
  mutating func fail(_ sequence: UInt64, _ reason: String) -> [Action] {
    guard inbound.fail(sequence) else { return [] }
    handlerGeneration += 1
    return isOpen ? [.send(.goBack(.messages, to: sequence, failure: reason))] : []
  }

  private func storeHandled(_ messages: [AppMessage]) -> [Action] {
    let mark = inbound.handled
    guard mark.sequence > inbound.durable.sequence else { return [] }
    return [
      .write(
        [.setWatermark(inbound.stream, mark)], isUrgent: true,
        then: .processed(mark, messages, bindingGeneration: bindingGeneration))
    ]
  }

  private var acknowledgement: [Action] {
    isOpen ? [.send(.acknowledge(.messages, through: inbound.durable.sequence))] : []
  }

  // MARK: Durable writes

  /// Carries out the effect of a write that is durable now.
  mutating func perform(_ effect: Effect, at now: BusTime, generator: inout SeededGenerator) -> [Action] {
    switch effect {
    case .sendable(let sequence, let durabilityGeneration, let receipt):
      outbound.makeDurable(through: sequence, durabilityGeneration: durabilityGeneration)
      return (receipt.map { [.receipt($0)] } ?? []) + send(at: now, generator: &generator)
    case .report(let receipt): return [.receipt(receipt)]
    case .processed(let mark, let messages, let bindingGeneration):
      // Ignore completions for streams that a renumbering has replaced.
      guard bindingGeneration == self.bindingGeneration else { return [] }
      inbound.makeDurable(mark)
      return acknowledgement + messages.map { .processed($0, isIncoming: true) }
    }
  }
}

extension MessageTransmission {
  /// The message of a row; `nil` when it holds none.
  fileprivate init?(_ row: OutboxRow) {
    guard case .message(let message)? = row.item else { return nil }
    self.init(sequence: row.sequence, message: message)
  }
}
