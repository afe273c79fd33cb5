import DequeModule

// Inquiries to a hub.
extension HubCore {
  /// The most answers to one peer that may wait for a commit. A follower of the route asks one question at a time.
  static let owedAnswersMax = 16

  static let tooManyAnswers = "\(owedAnswersMax) answers wait for a commit: ask later"

  /// Answers an inquiry of a peer in its session. The peer may look and change nothing.
  mutating func answer(
    _ inquiry: Inquiry, of session: SessionTable.Session, on connection: ConnectionID, in turn: inout Turn
  ) {
    guard session.owedAnswers < Self.owedAnswersMax else {
      return refuse(connection, .busy, Self.tooManyAnswers, in: &turn)
    }
    guard admitsQuestion(inquiry, by: session.identity, at: turn.now) else {
      return refuse(connection, .tooFast, PacedKind.questions.refusal, in: &turn)
    }
    let (answer, speaksOfRun) = answerToVisitor(inquiry, by: session.identity, in: &turn)
    // An answer about the run waits until what it says is durable. Answers keep the order of the questions, so later
    // ones wait behind it.
    guard session.owedAnswers > 0 || (speaksOfRun && !turn.commits.isUrgentWorkDone) else {
      return turn.act(.send(HubFrame(session: session.number, message: .answer(answer)), to: connection))
    }
    sessions.oweAnswer(on: connection)
    turn.write([], then: [.tell(answer, connection, session: session.number)])
  }

  /// The answer to whoever asks over the bus, and whether it speaks of the run.
  mutating func answerToVisitor(
    _ inquiry: Inquiry, by identity: ConnectionIdentity, in turn: inout Turn
  ) -> (answer: InquiryAnswer, speaksOfRun: Bool) {
    switch inquiry {
    case .peers: (.peers(peers(at: turn.now)), false)
    case .outbox where !identity.mayAskForHoldings, .quarantine where !identity.mayAskForHoldings:
      (.failed(InquiryFailure(.forbidden, "this hub does not tell an unknown sender what it holds")), false)
    case .outbox: (.outbox(outbox(at: turn.now).filter { maySee($0.receiver, identity) }), false)
    case .quarantine:
      (.quarantine(mail.quarantineReports(at: turn.monotonic).filter { maySee($0.receiver, identity) }), false)
    case .cancel, .retry, .discard, .post:
      (.failed(InquiryFailure(.forbidden, "only a shell on the hub's own machine may change its outbox")), false)
    case .recover:
      (
        .failed(InquiryFailure(.forbidden, "only a shell on the hub's own machine may say what becomes of its run")),
        false
      )
    case .report: (reportAnswer(in: &turn), true)
    case .route(let from): (routeAnswer(from: from, in: &turn), true)
    case .series: (seriesAnswer(in: &turn), true)
    case .records, .record, .editRecord, .removeRecord, .putRecord:
      (.failed(InquiryFailure(.forbidden, "records are asked for on the hub's own machine")), false)
    case .devices, .orderDevice, .confirmDevices, .pairing, .rotateKey:
      (.failed(InquiryFailure(.forbidden, "devices are paired on the hub's own machine")), false)
    case .backUp:
      (.failed(InquiryFailure(.forbidden, "the store is copied on the hub's own machine")), false)
    case .room:
      (.failed(InquiryFailure(.forbidden, "rooms are asked for on the hub's own machine")), false)
    case .messages:
      (.failed(InquiryFailure(.forbidden, "messages are sent and taken on the hub's own machine")), false)
    case .unknown: (.failed(.unknown), false)
    }
  }

  /// Whether an identity is told what the hub holds for a device: a paired device its own only.
  private func maySee(_ receiver: DeviceID?, _ identity: ConnectionIdentity) -> Bool {
    guard case .key(let key) = identity else { return true }
    return receiver != nil && receiver == members.list.device(of: key)?.deviceID
  }

  /// Answers an inquiry of a caller on this machine.
  mutating func answer(_ inquiry: Inquiry, _ number: UInt64, in turn: inout Turn) {
    switch inquiry {
    case .report: give(.durably(reportAnswer(in: &turn)), to: number, in: &turn)
    case .route(let from): give(.durably(routeAnswer(from: from, in: &turn)), to: number, in: &turn)
    case .series: give(.durably(seriesAnswer(in: &turn)), to: number, in: &turn)
    case .peers: give(.atOnce(.peers(peers(at: turn.now))), to: number, in: &turn)
    case .outbox: give(.atOnce(.outbox(outbox(at: turn.now))), to: number, in: &turn)
    case .quarantine: give(.atOnce(.quarantine(mail.quarantineReports(at: turn.monotonic))), to: number, in: &turn)
    case .cancel(let id): give(cancel(id, in: &turn), to: number, in: &turn)
    case .retry(let id):
      guard let old = mail.quarantined(id) else {
        return give(.refused(.notQuarantined), to: number, in: &turn)
      }
      guard let device = mail.device(using: old.receiver) else {
        return give(.refused(.receiverUnknown), to: number, in: &turn)
      }
      let message = old.message.renamed(to: turn.generator.identifier())
      var refusal: PostRefusal?
      withCourier(of: device.storeID, in: &turn) {
        refusal = $0.post(message, by: .queued, over: $1, in: &$2)
      }
      guard refusal == nil else { return give(.refused(.outboxFull), to: number, in: &turn) }
      give(mail.release(id, answer: .done(message.id)), to: number, in: &turn)
    case .discard(let id): give(mail.release(id, answer: .done(nil)), to: number, in: &turn)
    case .devices: give(.atOnce(.devices(deviceList)), to: number, in: &turn)
    case .orderDevice(let key, let order):
      give(carryOut(order, of: key, in: &turn), to: number, in: &turn)
    case .confirmDevices: give(.durably(.done(nil), after: members.confirm()), to: number, in: &turn)
    case .pairing(let order): give(carryOut(order, in: &turn), to: number, in: &turn)
    case .rotateKey: give(.refused(.pairsNobody), to: number, in: &turn)
    // The node around the core carries it out.
    case .backUp: give(.refused(.noFiles), to: number, in: &turn)
    case .room(.reports):
      give(.atOnce(.room(.reports(roomReports(at: turn.monotonic)))), to: number, in: &turn)
    case .room(.ask(let ask)): receive(ask, from: .inquiry(number), by: .localOwner, in: &turn)
    case .messages(let inquiry):
      let values = mail.valueReports(at: turn.monotonic)
      give(inquiry.reply(values) { mail.value(of: $0, from: $1) }, to: number, in: &turn)
    case .unknown: give(.refused(.unknown), to: number, in: &turn)
    case .post(let message, let device):
      guard let device else { return give(.refused(.invalid, "say which device it is for"), to: number, in: &turn) }
      let refusal = give(message, .queued, to: device, in: &turn)
      give(.posted(message.id, to: device, refusal: refusal), to: number, in: &turn)
    case .recover(let choice):
      let isRecovered = recover(choice, in: &turn)
      give(isRecovered ? .durably(.done(nil)) : .refused(.nothingToRecover), to: number, in: &turn)
    case .records, .record, .editRecord, .removeRecord, .putRecord:
      makeRecords(in: &turn)
      let patience = settings.clock.speed.bus(fromReal: RecordQuestions.patience)
      guard !records.ask(inquiry, number, until: turn.now + patience, at: turn.now) else { return }
      answerOfRecords(inquiry, number, in: &turn)
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

  /// Answers the questions that waited for due records to be made, once these are made or the patience has run out.
  mutating func answerWaiting(in turn: inout Turn) {
    while let question = records.takeQuestion(at: turn.now) {
      answerOfRecords(question.inquiry, question.number, in: &turn)
    }
  }

  private mutating func cancel(_ id: MessageID, in turn: inout Turn) -> InquiryReply {
    if let store = mail.store(holding: id) {
      var isCancelled = false
      withCourier(of: store, in: &turn) { isCancelled = $0.cancel(id, in: &$2) }
      return .cancelled(isCancelled)
    }
    // An accepted command, from the spool or from a peer, can no longer be cancelled.
    let command = CommandID(high: id.high, low: id.low)
    return commands.knows(command) ? .cancelled(false) : .refused(.notWaiting)
  }

  /// The newest value of a key that a device sent; `nil` if it has sent none.
  package func latest(_ key: String, from device: DeviceID) -> AppMessage? {
    mail.value(of: key, from: device)
  }

  private func outbox(at now: BusTime) -> [OutboxReport] {
    let real = settings.clock.real(at: now)
    var lines: [OutboxReport] = []
    lines += commands.reports(at: real) { mail.device(using: $0)?.deviceID }
    lines += mail.reports(at: real)
    return lines.sorted {
      ($1.age, $0.id ?? .none, $0.what) < ($0.age, $1.id ?? .none, $1.what)
    }
  }

  /// A report on every known device, sorted by name.
  private func peers(at now: BusTime) -> [PeerReport] {
    mail.devices.values.sorted { $0.deviceID < $1.deviceID }.map { device in
      let session = sessions.session(of: device.storeID)?.session
      let heardAt = max(session?.heardAt ?? device.heardAt, device.heardAt)
      let waiting = commands.waitingCount(of: device.storeID) + mail.waitingCount(of: device.storeID)
      return PeerReport(
        deviceID: device.deviceID, role: device.role, isReachable: session?.isReachable ?? false,
        heardAge: settings.clock.speed.real(fromBus: max(.zero, now - heardAt)), roundTrip: session?.roundTrip,
        waiting: UInt64(waiting),
        commandWatermark: commands.mark(of: device.storeID).sequence)
    }
  }
}
