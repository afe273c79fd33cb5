/// What a peer's app exchanges with the hub's app: messages, newest values, and the questions that the app asks the hub.
/// `link` is the number of the open session; without one everything waits.
struct PeerMail: Sendable {
  private var courier: Courier
  /// Messages of this peer that the hub's handler refused too often.
  private var quarantine: Quarantine
  private var questions = HubQuestions()

  init(_ courier: Courier, quarantine: Quarantine) {
    self.courier = courier
    self.quarantine = quarantine
  }

  /// The newest value of a key that the hub sent; `nil` if it has sent none.
  func latest(_ key: String) -> AppMessage? { courier.value(of: key) }
  /// The newest values that the hub sent, by key.
  func valueReports(at now: BusTime) -> [ValueReport] { courier.valueReports(at: now) }

  /// Up to where the hub has acknowledged the stream of messages.
  var acknowledged: UInt64 { courier.stream.acknowledged }
  /// Up to where the hub's messages are durable here.
  var mark: StreamMark { courier.inbox.durable }
  /// When something is sent again in the session.
  var retryAt: BusTime? { courier.deadline }

  // MARK: The app

  /// Posts a message.
  ///
  /// - Returns: why it was refused; `nil` when it was accepted.
  mutating func post(
    _ message: AppMessage, by deliveryClass: DeliveryClass, over link: UInt64?, in turn: inout PeerCore.Turn
  ) -> PostRefusal? {
    courier.post(message, by: deliveryClass, over: link, in: &turn)
  }

  /// Sets whether the app has a message handler.
  mutating func setHandling(_ value: Bool, over link: UInt64?, in turn: inout PeerCore.Turn) {
    courier.setHandling(value, over: link, in: &turn)
  }

  /// The app's handler has returned for the messages of a stream up to here.
  mutating func handle(
    _ stream: StreamID, through sequence: UInt64, handlerGeneration: UInt64?, in turn: inout PeerCore.Turn
  ) {
    guard stream == courier.inbox.stream else { return }
    courier.handle(through: sequence, handlerGeneration: handlerGeneration, in: &turn)
  }

  /// The app's handler has failed for a message of a stream.
  mutating func fail(
    _ stream: StreamID, _ sequence: UInt64, _ reason: String, over link: UInt64?, in turn: inout PeerCore.Turn
  ) {
    guard stream == courier.inbox.stream else { return }
    courier.fail(sequence, reason, over: link, in: &turn)
  }

  /// Asks the hub what the hub holds, now and in every session until the answer.
  mutating func ask(_ question: Inquiry, over link: UInt64?, in turn: inout PeerCore.Turn) {
    questions.add(question)
    turn.send(.inquire(question), over: link)
  }

  // MARK: A caller on this machine

  /// The reports of what waits.
  func reports(at now: BusTime) -> [OutboxReport] { courier.reports(at: now) }

  /// The reports of the quarantine.
  ///
  /// - Parameter hub: The hub's device.
  func quarantineReports(for hub: DeviceID?, at now: BusTime) -> [QuarantineReport] {
    quarantine.reports(at: now) { _ in hub }
  }

  /// Cancels a message.
  mutating func cancel(_ id: MessageID, in turn: inout PeerCore.Turn) -> InquiryReply {
    guard courier.stream.rows.contains(where: { $0.item?.id == id }) else {
      return .refused(.notWaiting)
    }
    return .cancelled(courier.cancel(id, in: &turn))
  }

  /// Sends a message of the quarantine again, as a new one.
  mutating func retry(_ id: MessageID, over link: UInt64?, in turn: inout PeerCore.Turn) -> InquiryReply {
    guard let old = quarantine.message(id)?.message else { return .refused(.notQuarantined) }
    let message = old.renamed(to: turn.generator.identifier())
    guard post(message, by: .queued, over: link, in: &turn) == nil else {
      return .refused(.outboxFull)
    }
    return quarantine.remove(id, answer: .done(message.id))
  }

  /// Discards a message of the quarantine.
  mutating func discard(_ id: MessageID) -> InquiryReply { quarantine.remove(id, answer: .done(nil)) }

  // MARK: The session

  /// Compares the hub's mark with the stream of messages.
  func check(_ mark: StreamMark) -> OutboundStream.HistoryCheck { courier.stream.check(mark) }

  /// Asks the open questions in a new session.
  func askAgain(over link: UInt64?, in turn: inout PeerCore.Turn) {
    for question in questions.waiting { turn.send(.inquire(question), over: link) }
  }

  /// Begins a session at the hub's mark, and sends what waits.
  mutating func open(
    received mark: StreamMark, within limits: ConnectionLimits, over link: UInt64?, in turn: inout PeerCore.Turn
  ) {
    courier.open(received: mark, within: limits, over: link, in: &turn)
  }

  /// Ends the session.
  mutating func close() { courier.close() }

  /// Sends again what was not acknowledged in time.
  mutating func retry(over link: UInt64?, in turn: inout PeerCore.Turn) {
    courier.meetDeadlines(over: link, in: &turn)
  }

  /// The link's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) { courier.postpone(to: time) }

  /// Moves the messages and values to another hub, or to the same hub from this peer's new store.
  ///
  /// - Returns: the writes.
  mutating func renumber(to hub: PeerIdentity.Hub) -> [StoreOperation] {
    let stream = OutboundStreamID(receiver: hub.storeID, kind: .messages)
    let renumber = StoreOperation.renumber(courier.stream.id, to: stream)
    courier.device = hub.deviceID
    return [renumber] + courier.renumber(to: stream, from: StreamID(sender: hub.storeID, kind: .messages))
  }

  /// Carries out what follows a write of the courier that is durable now.
  mutating func carryOut(_ durable: PeerCore.Durable, over link: UInt64?, in turn: inout PeerCore.Turn) {
    courier.carryOut(durable, over: link, in: &turn)
  }

  // MARK: The hub

  /// Handles messages, values or acknowledgements that the hub sends.
  mutating func receive(_ message: DeliveryMessage, over link: UInt64?, in turn: inout PeerCore.Turn) {
    if let quarantined = courier.receive(message, over: link, in: &turn) { quarantine.add(quarantined) }
  }

  /// Handles the hub's answer to the oldest question.
  mutating func receive(_ answer: InquiryAnswer, in turn: inout PeerCore.Turn) {
    if questions.receiveAnswer() { turn.act(.answered(answer)) }
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] { courier.check() }
}

/// Questions of the app that the hub has not answered. The hub answers in order, so an answer belongs to the oldest
/// question. All are asked again in every session.
struct HubQuestions: Sendable {
  /// Oldest first.
  private(set) var waiting: [Inquiry] = []

  /// Adds a question.
  mutating func add(_ question: Inquiry) { waiting.append(question) }

  /// Receives an answer; `false` when no question waits.
  mutating func receiveAnswer() -> Bool {
    guard !waiting.isEmpty else { return false }
    waiting.removeFirst()
    return true
  }
}
