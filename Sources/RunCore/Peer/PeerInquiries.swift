// Messages of the app, and inquiries of callers on this machine.
extension PeerCore {
  /// Posts a message of the app to the hub.
  mutating func post(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, in turn: inout Turn
  ) {
    if let refusal = mail.post(message, by: deliveryClass, over: session.number, in: &turn) {
      turn.act(.refusePost(message.id, refusal))
    }
  }

  /// The device of the hub; `nil` before the first welcome.
  package var hubDevice: DeviceID? { identity.hub?.deviceID }

  /// Answers an inquiry of a caller on this machine.
  mutating func answer(_ inquiry: Inquiry, _ number: UInt64, in turn: inout Turn) {
    let hub = identity.hub?.deviceID
    switch inquiry {
    case .peers: give(.refused(.notHere, "only the hub knows the peers: ask there"), to: number, in: &turn)
    case .records, .record, .editRecord, .removeRecord, .putRecord:
      answerAboutRecords(inquiry, number, in: &turn)
    case .report, .route, .series:
      give(
        .refused(.notHere, "only the hub knows the numbers and the route of the run: ask there"), to: number, in: &turn)
    case .recover: give(.refused(.notHere, "only the hub has a run to recover: ask there"), to: number, in: &turn)
    case .devices, .orderDevice, .confirmDevices, .pairing, .rotateKey:
      give(.refused(.notHere, "only the hub pairs devices: ask there"), to: number, in: &turn)
    case .room(.ask(var ask)):
      // A shell at a device's own socket speaks for the device.
      if ask.source == .shell { ask.source = ControlSource(rawValue: settings.role.rawValue) }
      asks.add(ask, caller: number, over: session.number, in: &turn)
    case .room(.reports):
      give(.refused(.notHere, "only the hub follows the logs of rooms: ask there"), to: number, in: &turn)
    case .messages(let inquiry):
      give(inquiry.reply(mail.valueReports(at: turn.now)) { key, _ in mail.latest(key) }, to: number, in: &turn)
    case .unknown: give(.refused(.unknown), to: number, in: &turn)
    // The node around the core carries it out.
    case .backUp: give(.refused(.noFiles), to: number, in: &turn)
    case .outbox:
      let (commands, readings) = outbox.reports(for: hub, at: turn.now)
      let lines = commands + mail.reports(at: turn.now) + readings
      give(.atOnce(.outbox(lines.sorted { $0.age > $1.age })), to: number, in: &turn)
    case .quarantine:
      give(.atOnce(.quarantine(mail.quarantineReports(for: hub, at: turn.now))), to: number, in: &turn)
    case .cancel(let id):
      let reply = outbox.cancel(id, shown: view.authoritative.order, in: &turn)
      give(reply ?? mail.cancel(id, in: &turn), to: number, in: &turn)
    case .retry(let id): give(mail.retry(id, over: session.number, in: &turn), to: number, in: &turn)
    case .post(let message, let device):
      guard device == nil || device == hub else {
        let reason = "a peer's messages go to its hub, and \(device?.rawValue ?? "") is not known as that"
        return give(.refused(.invalid, reason), to: number, in: &turn)
      }
      let refusal = mail.post(message, by: .queued, over: session.number, in: &turn)
      give(.posted(message.id, to: device, refusal: refusal), to: number, in: &turn)
    case .discard(let id): give(mail.discard(id), to: number, in: &turn)
    }
  }

  /// Gives an answer to a caller on this machine.
  mutating func give(_ reply: InquiryReply, to number: UInt64, in turn: inout Turn) {
    switch reply {
    case .atOnce(let answer): turn.act(.answer(answer, number))
    case .durably(let answer, let operations): turn.write(operations, then: [.act(.answer(answer, number))])
    case .read(let run, let from): turn.write([], then: [.act(.readRecord(run, from: from, .inquiry(number)))])
    }
  }
}

// Answers questions about records from the copies that the peer keeps.
extension PeerCore {
  /// Answers a shell's question about records, now or later.
  mutating func answerAboutRecords(
    _ inquiry: Inquiry, _ number: UInt64, in turn: inout Turn
  ) {
    if let reply = records.answer(inquiry, number, at: turn.now) { give(reply, to: number, in: &turn) }
  }

  /// Answers the questions that need not wait any longer.
  mutating func answerWaiting(in turn: inout Turn) {
    for due in records.dueReplies(at: turn.now) { give(due.reply, to: due.number, in: &turn) }
  }
}
