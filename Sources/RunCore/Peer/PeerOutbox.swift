import DequeModule

// What a peer holds for others: an app's messages, commands from the spool, and answers to a shell about both.
extension PeerCore {
  /// Posts a message of the app to the hub.
  mutating func post(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, at now: BusTime, into actions: inout [Action]
  ) {
    var refusal: PostRefusal?
    withCourier(at: now, into: &actions) { refusal = $0.post(message, by: deliveryClass, at: now, into: &$2) }
    if let refusal { actions.append(.refusePost(message.id, refusal)) }
  }

  /// Forwards commands that one-shot senders left in the spool.
  mutating func forward(_ presses: [ForwardedCommand], at now: BusTime, into actions: inout [Action]) {
    var isNews = false
    for press in presses where forwards[press.command.id] == nil {
      forwards[press.command.id] = press
      isNews = true
    }
    if isNews { sendForwards(at: now, into: &actions) }
  }

  /// Sends the forwarded commands in press order, and again every five seconds until their verdicts are known.
  mutating func sendForwards(at now: BusTime, into actions: inout [Action]) {
    guard case .up = link, !forwards.isEmpty else { return }
    let order = forwards.values.sorted {
      ($0.since.nanoseconds, $0.command.id) < ($1.since.nanoseconds, $1.command.id)
    }
    for press in order {
      forwarded.insert(press.command.id)
      send(.request(press.request(at: now)), at: now, into: &actions)
    }
    forwardAt = now + generator.jittered(.seconds(5))
  }

  /// Adds newly quarantined messages to the quarantine in memory.
  mutating func note(_ operations: [StoreOperation]) {
    for operation in operations {
      if case .quarantine(let message) = operation { quarantine.append(message) }
    }
  }

  /// Answers an inquiry of a caller on this machine.
  mutating func answer(_ inquiry: Inquiry, _ number: UInt64, at now: BusTime, into actions: inout [Action]) {
    switch inquiry {
    case .peers: actions.append(.answer(.failed("only the hub knows the peers: ask there"), number))
    case .records, .record, .editRecord, .removeRecord, .putRecord:
      askedOfRecords(inquiry, number, at: now, into: &actions)
    case .report, .route:
      actions.append(.answer(.failed("only the hub knows the numbers and the route of the run: ask there"), number))
    case .recover: actions.append(.answer(.failed("only the hub has a run to recover: ask there"), number))
    case .outbox: actions.append(.answer(.outbox(outbox(at: now)), number))
    case .quarantine:
      let lines = quarantine.map { $0.report(receiver: hub?.deviceID, at: now) }
      actions.append(.answer(.quarantine(lines), number))
    case .cancel(let id): cancel(id, number, at: now, into: &actions)
    case .retry(let id):
      guard let index = quarantine.firstIndex(where: { $0.message.id == id }) else {
        return actions.append(.answer(.failed(InquiryFailure.notQuarantined), number))
      }
      let old = quarantine[index].message
      let message = AppMessage(id: generator.identifier(), name: old.name, body: old.body)
      var refusal: PostRefusal?
      withCourier(at: now, into: &actions) { refusal = $0.post(message, by: .queued, at: now, into: &$2) }
      guard refusal == nil else { return actions.append(.answer(.failed(InquiryFailure.outboxFull), number)) }
      quarantine.remove(at: index)
      commits.add([.unquarantine(id)], then: [.act(.answer(.done(message.id), number))])
    case .post(let message, let device):
      guard device == nil || device == hub?.deviceID else {
        let reason = "a peer's messages go to its hub, and \(device?.rawValue ?? "") is not known as that"
        return actions.append(.answer(.failed(reason), number))
      }
      var refusal: PostRefusal?
      withCourier(at: now, into: &actions) { refusal = $0.post(message, by: .queued, at: now, into: &$2) }
      guard refusal == nil else {
        let reason = refusal == .tooLong ? InquiryFailure.messageTooLong : InquiryFailure.outboxFull
        return actions.append(.answer(.failed(reason), number))
      }
      commits.add([], then: [.act(.answer(.done(message.id), number))])
    case .discard(let id):
      guard let index = quarantine.firstIndex(where: { $0.message.id == id }) else {
        return actions.append(.answer(.failed(InquiryFailure.notQuarantined), number))
      }
      quarantine.remove(at: index)
      commits.add([.unquarantine(id)], then: [.act(.answer(.done(nil), number))])
    }
  }

  private mutating func cancel(_ id: MessageID, _ number: UInt64, at now: BusTime, into actions: inout [Action]) {
    if let row = commands.rows.first(where: { $0.item?.id == id }), case .command(let command)? = row.item {
      guard row.tries == 0 else { return actions.append(.answer(.failed(InquiryFailure.notCancellable), number)) }
      return tombstone(row, command, .cancelled, then: [.act(.answer(.done(nil), number))])
    }
    let spooled = CommandID(high: id.high, low: id.low)
    if forwards[spooled] != nil {
      guard !forwarded.contains(spooled) else {
        return actions.append(.answer(.failed(InquiryFailure.notCancellable), number))
      }
      forwards[spooled] = nil
      return actions.append(.answer(.done(nil), number))
    }
    guard courier.stream.rows.contains(where: { $0.item?.id == id }) else {
      return actions.append(.answer(.failed(InquiryFailure.notWaiting), number))
    }
    var isCancelled = false
    withCourier(at: now, into: &actions) { isCancelled = $0.cancel(id, into: &$2) }
    guard isCancelled else { return actions.append(.answer(.failed(InquiryFailure.notCancellable), number)) }
    commits.add([], then: [.act(.answer(.done(nil), number))])
  }

  private func outbox(at now: BusTime) -> [OutboxReport] {
    var lines = commands.reports(for: hub?.deviceID, at: now) + courier.reports(at: now)
    lines += samples.reports(for: hub?.deviceID, at: now)
    return lines.sorted { $0.age > $1.age }
  }
}
