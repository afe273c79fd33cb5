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
    case .peers: give(.refused("only the hub knows the peers: ask there"), to: number, into: &actions)
    case .records, .record, .editRecord, .removeRecord, .putRecord:
      answerAboutRecords(inquiry, number, at: now, into: &actions)
    case .report, .route, .series:
      give(.refused("only the hub knows the numbers and the route of the run: ask there"), to: number, into: &actions)
    case .recover: give(.refused("only the hub has a run to recover: ask there"), to: number, into: &actions)
    case .devices, .orderDevice, .confirmDevices, .pairing, .rotateKey:
      give(.refused("only the hub pairs devices: ask there"), to: number, into: &actions)
    case .unknown: give(.refused(InquiryFailure.unknown), to: number, into: &actions)
    case .outbox:
      var lines = commands.reports(for: hub, at: now) + courier.reports(at: now)
      lines += samples.reports(for: hub, at: now)
      give(.atOnce(.outbox(lines.sorted { $0.age > $1.age })), to: number, into: &actions)
    case .quarantine:
      give(.atOnce(.quarantine(quarantine.reports(at: now) { _ in hub })), to: number, into: &actions)
    case .cancel(let id): give(cancel(id, at: now, into: &actions), to: number, into: &actions)
    case .retry(let id):
      guard let old = quarantine.message(id)?.message else {
        return give(.refused(InquiryFailure.notQuarantined), to: number, into: &actions)
      }
      let message = AppMessage(id: generator.identifier(), name: old.name, body: old.body)
      guard submit(message, .queued, at: now, into: &actions) == nil else {
        return give(.refused(InquiryFailure.outboxFull), to: number, into: &actions)
      }
      give(quarantine.remove(id, answer: .done(message.id)), to: number, into: &actions)
    case .post(let message, let device):
      guard device == nil || device == hub else {
        let reason = "a peer's messages go to its hub, and \(device?.rawValue ?? "") is not known as that"
        return give(.refused(reason), to: number, into: &actions)
      }
      let refusal = submit(message, .queued, at: now, into: &actions)
      give(.posted(message.id, to: device, refusal: refusal), to: number, into: &actions)
    case .discard(let id): give(quarantine.remove(id, answer: .done(nil)), to: number, into: &actions)
    }
  }

  /// Gives an answer to a caller on this machine.
  mutating func give(_ reply: InquiryReply, to number: UInt64, into actions: inout [Action]) {
    switch reply {
    case .atOnce(let answer): actions.append(.answer(answer, number))
    case .durably(let answer, let operations): commits.add(operations, then: [.act(.answer(answer, number))])
    case .read(let run, let from): commits.add([], then: [.act(.readRecord(run, from: from, .inquiry(number)))])
    }
  }

  private mutating func cancel(_ id: MessageID, at now: BusTime, into actions: inout [Action]) -> InquiryReply {
    if commands.holds(id) {
      guard let wanted = commands.cancel(id, shown: view.authoritative.order) else { return .cancelled(false) }
      carryOut(wanted, at: now, into: &actions)
      return .cancelled(true)
    }
    let spooled = CommandID(high: id.high, low: id.low)
    if forwarder.holds(spooled) { return forwarder.cancel(spooled) ? .atOnce(.done(nil)) : .cancelled(false) }
    guard courier.stream.rows.contains(where: { $0.item?.id == id }) else {
      return .refused(InquiryFailure.notWaiting)
    }
    var isCancelled = false
    withCourier(at: now, into: &actions) { isCancelled = $0.cancel(id, into: &$2) }
    return .cancelled(isCancelled)
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
}
