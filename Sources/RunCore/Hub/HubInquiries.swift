import DequeModule

// Inquiries to a hub.
extension HubCore {
  /// The most answers to one peer that may wait for a commit. A follower of the route asks one question at a time.
  static let owedAnswersMax = 16

  static let tooManyAnswers = "\(owedAnswersMax) answers wait for a commit: ask later"

  /// Answers an inquiry of a peer in its session. The peer may look and change nothing.
  mutating func answer(
    _ inquiry: Inquiry, of session: SessionTable.Session, on connection: ConnectionID, at now: BusTime,
    into actions: inout [Action]
  ) {
    guard session.owedAnswers < Self.owedAnswersMax else {
      return refuse(connection, .busy, Self.tooManyAnswers, into: &actions)
    }
    let (answer, speaksOfRun) = answerToVisitor(inquiry, at: now)
    // An answer about the run waits until what it says is durable. Answers keep the order of the questions, so later
    // ones wait behind it.
    guard session.owedAnswers > 0 || (speaksOfRun && !commits.isUrgentWorkDone) else {
      return actions.append(.send(HubFrame(session: session.number, message: .answer(answer)), to: connection))
    }
    sessions.oweAnswer(on: connection)
    commits.add([], then: [.tell(answer, connection, session: session.number)])
  }

  /// The answer to whoever asks over the bus, and whether it speaks of the run.
  mutating func answerToVisitor(_ inquiry: Inquiry, at now: BusTime) -> (answer: InquiryAnswer, speaksOfRun: Bool) {
    switch inquiry {
    case .peers: (.peers(peers(at: now)), false)
    case .outbox: (.outbox(outbox(at: now)), false)
    case .quarantine: (.quarantine(quarantineReports(at: now)), false)
    case .cancel, .retry, .discard, .post:
      (.failed("only a shell on the hub's own machine may change its outbox"), false)
    case .recover: (.failed("only a shell on the hub's own machine may say what becomes of its run"), false)
    case .report: (reportAnswer(at: now), true)
    case .route(let from): (routeAnswer(from: from, at: now), true)
    case .records, .record, .editRecord, .removeRecord, .putRecord:
      (.failed("records are asked for on the hub's own machine"), false)
    }
  }

  /// Answers an inquiry of a caller on this machine.
  mutating func answer(_ inquiry: Inquiry, _ number: UInt64, at now: BusTime, into actions: inout [Action]) {
    switch inquiry {
    case .report:
      let answer = reportAnswer(at: now)
      commits.add([], then: [.act(.answer(answer, number))])
    case .route(let from):
      let answer = routeAnswer(from: from, at: now)
      commits.add([], then: [.act(.answer(answer, number))])
    case .peers: actions.append(.answer(.peers(peers(at: now)), number))
    case .outbox: actions.append(.answer(.outbox(outbox(at: now)), number))
    case .quarantine: actions.append(.answer(.quarantine(quarantineReports(at: now)), number))
    case .cancel(let id): cancel(id, number, at: now, into: &actions)
    case .retry(let id):
      guard let old = quarantine.message(id) else {
        return actions.append(.answer(.failed(InquiryFailure.notQuarantined), number))
      }
      guard let device = mail.device(using: old.receiver) else {
        return actions.append(.answer(.failed("the device that it was for is not known any more"), number))
      }
      let message = AppMessage(id: generator.identifier(), name: old.message.name, body: old.message.body)
      var refusal: PostRefusal?
      withCourier(of: device.storeID, at: now, into: &actions) {
        refusal = $0.post(message, by: .queued, at: $3, into: &$2)
      }
      guard refusal == nil else { return actions.append(.answer(.failed(InquiryFailure.outboxFull), number)) }
      removeFromQuarantine(id, number, answer: .done(message.id), into: &actions)
    case .discard(let id): removeFromQuarantine(id, number, answer: .done(nil), into: &actions)
    case .post(let message, let device): post(message, to: device, number, at: now, into: &actions)
    case .recover(let choice):
      guard recover(choice, at: now) else {
        return actions.append(.answer(.failed(Self.nothingToRecover), number))
      }
      commits.add([], then: [.act(.answer(.done(nil), number))])
    case .records, .record, .editRecord, .removeRecord, .putRecord:
      makeRecords(at: now)
      let patience = settings.clock.speed.bus(fromReal: RecordQuestions.patience)
      guard !records.ask(inquiry, number, until: now + patience, at: now) else { return }
      answerOfRecords(inquiry, number, at: now, into: &actions)
    }
  }

  /// Removes a message from the quarantine, and answers once that is durable.
  private mutating func removeFromQuarantine(
    _ id: MessageID, _ number: UInt64, answer: InquiryAnswer, into actions: inout [Action]
  ) {
    guard let write = quarantine.remove(id) else {
      return actions.append(.answer(.failed(InquiryFailure.notQuarantined), number))
    }
    commits.add([write], then: [.act(.answer(answer, number))])
  }

  /// Posts a message of a shell to a device.
  private mutating func post(
    _ message: AppMessage, to device: DeviceID?, _ number: UInt64, at now: BusTime, into actions: inout [Action]
  ) {
    guard let device else { return actions.append(.answer(.failed("say which device it is for"), number)) }
    switch give(message, .queued, to: device, at: now, into: &actions) {
    case nil: break
    case .unknownDevice: return actions.append(.answer(.failed("this hub has never met \(device)"), number))
    case .tooLong: return actions.append(.answer(.failed(InquiryFailure.messageTooLong), number))
    case .full, .unreachable: return actions.append(.answer(.failed(InquiryFailure.outboxFull), number))
    }
    commits.add([], then: [.act(.answer(.done(message.id), number))])
  }

  /// Answers the questions that waited for due records to be made, once these are made or the patience has run out.
  mutating func answerWaiting(at now: BusTime, into actions: inout [Action]) {
    while let question = records.takeQuestion(at: now) {
      answerOfRecords(question.inquiry, question.number, at: now, into: &actions)
    }
  }

  /// The reason that is given when a recovery decision comes and no run waits for one.
  public static let nothingToRecover = "no run waits for an answer"

  private mutating func cancel(_ id: MessageID, _ number: UInt64, at now: BusTime, into actions: inout [Action]) {
    if let store = mail.store(holding: id) {
      var isCancelled = false
      withCourier(of: store, at: now, into: &actions) { courier, _, wanted, _ in
        isCancelled = courier.cancel(id, into: &wanted)
      }
      guard isCancelled else { return actions.append(.answer(.failed(InquiryFailure.notCancellable), number)) }
      return commits.add([], then: [.act(.answer(.done(nil), number))])
    }
    // An accepted command, from the spool or from a peer, can no longer be cancelled.
    let command = CommandID(high: id.high, low: id.low)
    let isAccepted = book.knows(command)
    actions.append(.answer(.failed(isAccepted ? InquiryFailure.notCancellable : InquiryFailure.notWaiting), number))
  }

  /// The newest value of a key that a device sent; `nil` if it has sent none.
  public func latest(_ key: String, from device: DeviceID) -> AppMessage? {
    mail.value(of: key, from: device)
  }

  private func quarantineReports(at now: BusTime) -> [QuarantineReport] {
    quarantine.reports(at: monotonic(at: now)) { mail.device(using: $0)?.deviceID }
  }

  private func outbox(at now: BusTime) -> [OutboxReport] {
    let real = monotonic(at: now)
    var lines: [OutboxReport] = []
    lines += verdicts.reports(at: real) { mail.device(using: $0)?.deviceID }
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
      let waiting = verdicts.waitingCount(of: device.storeID) + mail.waitingCount(of: device.storeID)
      return PeerReport(
        deviceID: device.deviceID, role: device.role, isReachable: session?.isReachable ?? false,
        heardAge: settings.clock.speed.real(fromBus: max(.zero, now - heardAt)), roundTrip: session?.roundTrip,
        waiting: UInt64(waiting),
        commandWatermark: marks.durableMark(of: StreamID(sender: device.storeID, kind: .commands)).sequence)
    }
  }
}
