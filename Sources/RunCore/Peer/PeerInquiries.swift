import DequeModule

// Messages of the app, and inquiries of callers on this machine.
extension PeerCore {
  /// Posts a message of the app to the hub.
  mutating func post(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, at now: BusTime, into actions: inout [Action]
  ) {
    if let refusal = submit(message, deliveryClass, at: now, into: &actions) {
      actions.append(.refusePost(message.id, refusal))
    }
  }

  /// Answers an inquiry of a caller on this machine.
  mutating func answer(_ inquiry: Inquiry, _ number: UInt64, at now: BusTime, into actions: inout [Action]) {
    let hub = identity.hub?.deviceID
    switch inquiry {
    case .peers: refuse("only the hub knows the peers: ask there", number, into: &actions)
    case .records, .record, .editRecord, .removeRecord, .putRecord:
      answerAboutRecords(inquiry, number, at: now, into: &actions)
    case .report, .route:
      refuse("only the hub knows the numbers and the route of the run: ask there", number, into: &actions)
    case .recover: refuse("only the hub has a run to recover: ask there", number, into: &actions)
    case .unknown: refuse(InquiryFailure.unknown, number, into: &actions)
    case .outbox:
      var lines = commands.reports(for: hub, at: now) + courier.reports(at: now)
      lines += samples.reports(for: hub, at: now)
      actions.append(.answer(.outbox(lines.sorted { $0.age > $1.age }), number))
    case .quarantine: actions.append(.answer(.quarantine(quarantine.reports(at: now) { _ in hub }), number))
    case .cancel(let id): cancel(id, number, at: now, into: &actions)
    case .retry(let id):
      guard let old = quarantine.message(id)?.message else {
        return refuse(InquiryFailure.notQuarantined, number, into: &actions)
      }
      let message = AppMessage(id: generator.identifier(), name: old.name, body: old.body)
      guard submit(message, .queued, at: now, into: &actions) == nil else {
        return refuse(InquiryFailure.outboxFull, number, into: &actions)
      }
      removeFromQuarantine(id, number, answer: .done(message.id), into: &actions)
    case .post(let message, let device):
      guard device == nil || device == hub else {
        let reason = "a peer's messages go to its hub, and \(device?.rawValue ?? "") is not known as that"
        return refuse(reason, number, into: &actions)
      }
      if let refusal = submit(message, .queued, at: now, into: &actions) {
        let reason = refusal == .tooLong ? InquiryFailure.messageTooLong : InquiryFailure.outboxFull
        return refuse(reason, number, into: &actions)
      }
      commits.add([], then: [.act(.answer(.done(message.id), number))])
    case .discard(let id): removeFromQuarantine(id, number, answer: .done(nil), into: &actions)
    }
  }

  private mutating func cancel(_ id: MessageID, _ number: UInt64, at now: BusTime, into actions: inout [Action]) {
    if commands.holds(id) {
      guard let wanted = commands.cancel(id, shown: view.authoritative.order) else {
        return refuse(InquiryFailure.notCancellable, number, into: &actions)
      }
      carryOut(wanted, at: now, into: &actions)
      return commits.add([], then: [.act(.answer(.done(nil), number))])
    }
    let spooled = CommandID(high: id.high, low: id.low)
    if forwarder.holds(spooled) {
      guard forwarder.cancel(spooled) else { return refuse(InquiryFailure.notCancellable, number, into: &actions) }
      return actions.append(.answer(.done(nil), number))
    }
    guard courier.stream.rows.contains(where: { $0.item?.id == id }) else {
      return refuse(InquiryFailure.notWaiting, number, into: &actions)
    }
    var isCancelled = false
    withCourier(at: now, into: &actions) { isCancelled = $0.cancel(id, into: &$2) }
    guard isCancelled else { return refuse(InquiryFailure.notCancellable, number, into: &actions) }
    commits.add([], then: [.act(.answer(.done(nil), number))])
  }

  /// Removes a message from the quarantine, and answers once that is durable.
  private mutating func removeFromQuarantine(
    _ id: MessageID, _ number: UInt64, answer: InquiryAnswer, into actions: inout [Action]
  ) {
    guard let write = quarantine.remove(id) else {
      return refuse(InquiryFailure.notQuarantined, number, into: &actions)
    }
    commits.add([write], then: [.act(.answer(answer, number))])
  }

  /// Gives a message to the courier.
  ///
  /// - Returns: why it was refused; `nil` when it was accepted.
  private mutating func submit(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, at now: BusTime, into actions: inout [Action]
  ) -> PostRefusal? {
    var refusal: PostRefusal?
    withCourier(at: now, into: &actions) { refusal = $0.post(message, by: deliveryClass, at: now, into: &$2) }
    return refusal
  }

  private func refuse(_ reason: String, _ number: UInt64, into actions: inout [Action]) {
    actions.append(.answer(.failed(reason), number))
  }
}
