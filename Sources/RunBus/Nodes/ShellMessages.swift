import RunCore

// Shells of this machine post, ask, listen and answer in the place of the node's app. They use what the app has: the same
// readers, the same questions.
extension DrivenNode {
  /// Carries out what a shell does with messages; `false` for what the core answers.
  func carryOut(_ inquiry: MessageInquiry, _ number: UInt64) -> Bool {
    switch inquiry {
    case .send, .ask: runErrand(inquiry, number)
    case .take(let listener, let topic, let report): take(listener, topic, report, number)
    case .leave(let listener, let report): carryOut(driver.shells.table.leave(listener, report, question: number))
    case .values, .value: return false
    }
    return true
  }

  // MARK: Posting and asking

  /// Does what may take a while, and answers the shell.
  private func runErrand(_ inquiry: MessageInquiry, _ number: UInt64) {
    guard driver.shells.errands.count < ShellDesk.errandsMax else {
      let reason = "\(ShellDesk.errandsMax) posts and questions of shells wait at this node: try again later"
      driver.localServices?.answer(.failed(InquiryFailure(.full, reason)), number)
      return
    }
    driver.shells.errands[number] = Task {
      let answer: InquiryAnswer
      do { answer = .messages(try await perform(inquiry)) } catch { answer = .failed(InquiryFailure(error)) }
      // Of an earlier life of the node: its shells were told, and its numbers are used again.
      guard !Task.isCancelled else { return }
      driver.shells.errands[number] = nil
      driver.localServices?.answer(answer, number)
    }
  }

  private func perform(_ inquiry: MessageInquiry) async throws -> MessageAnswer {
    switch inquiry {
    case .send(let message, let deliveryClass, let device, let patience):
      return .stage(try await send(message, deliveryClass, to: try receiver(device), patience))
    case .ask(let message, let device, let patience):
      return .reply(try await ask(message, of: try receiver(device), within: patience))
    case .take, .leave, .values, .value: return .nothing
    }
  }

  /// Posts a message, and with a patience waits for its last stage.
  private func send(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, to device: DeviceID?, _ patience: BusDuration?
  ) async throws -> DeliveryStage {
    let receipts = broadcaster.messageReceipts(for: message.id)
    do {
      try await post(message, by: deliveryClass, to: device)
    } catch {
      guard error.code == .unknownDevice else { throw error }
      throw RunBusError(.unknownDevice, "this hub has never met \(device?.rawValue ?? "that device")")
    }
    let first: DeliveryStage = deliveryClass == .live ? .sent : .queued
    guard let patience else { return first }
    let last = try await within(Duration(patience)) { await receipts.first { $0.stage.isLast }?.stage }
    return (last ?? nil) ?? first
  }

  // MARK: Listening

  private func take(_ listener: ListenerID, _ topic: ListenerTopic, _ report: ListenerReport?, _ number: UInt64) {
    if !driver.shells.table.knows(listener) {
      guard report == nil else { return carryOut([.refuse(.listenerGone, number)]) }
      if let actions = driver.shells.table.succeed(listener, topic, question: number, at: loop.now) {
        return carryOut(actions)
      }
      guard driver.shells.table.hasRoom else { return carryOut([.refuse(.tooManyListeners, number)]) }
      do {
        try beginReading(for: listener, topic)
      } catch {
        return carryOut([.refuse(InquiryFailure(error), number)])
      }
      return carryOut(driver.shells.table.add(listener, topic, question: number, at: loop.now))
    }
    carryOut(driver.shells.table.take(listener, report, question: number, at: loop.now))
  }

  /// Opens the reader of a place and passes on what it reads. The reader closes with the task.
  private func beginReading(for place: ListenerID, _ topic: ListenerTopic) throws(RunBusError) {
    switch topic {
    case .messages(let name):
      let reader = try openReader(name, isVisitor: true)
      driver.shells.reading[place] = Task {
        await reader.serve { _ = try await self.hand($0, to: place) }
      }
    case .questions(let name):
      let questions = try openQuestions.questions(named: name)
      driver.shells.reading[place] = Task {
        await serve(questions, named: name) { try await self.hand($0, to: place) }
      }
    }
  }

  /// Gives the listener of a place a message and waits for what it says of it.
  ///
  /// - Throws: ``ListenerFailure`` when it could not process the message, `CancellationError` when the place is
  ///   closed.
  private func hand(_ received: ReceivedMessage, to place: ListenerID) async throws -> [UInt8] {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard !Task.isCancelled, driver.shells.table.has(place: place) else {
          return continuation.resume(throwing: CancellationError())
        }
        driver.shells.handing[place] = continuation
        carryOut(driver.shells.table.hand(received, to: place, at: loop.now))
      }
    } onCancel: {
      loop.submit { self.assumeIsolated { $0.finish(place, .failure(CancellationError())) } }
    }
  }

  private func finish(_ place: ListenerID, _ result: Result<[UInt8], any Error>) {
    driver.shells.handing.removeValue(forKey: place)?.resume(with: result)
  }

  private func carryOut(_ actions: [ListenerTable.Action]) {
    for action in actions {
      switch action {
      case .answer(let answer, let number): driver.localServices?.answer(.messages(answer), number)
      case .refuse(let failure, let number): driver.localServices?.answer(.failed(failure), number)
      case .finish(let place, .failed(let reason)): finish(place, .failure(ListenerFailure(description: reason)))
      case .finish(let place, .answer(let content)): finish(place, .success(content))
      case .finish(let place, .processed), .finish(let place, .working): finish(place, .success([]))
      case .close(let place): driver.shells.reading.removeValue(forKey: place)?.cancel()
      }
    }
    if driver.shells.timer == nil, driver.shells.table.deadline != nil {
      driver.shells.timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.lookAtListeners() } }
    }
    driver.shells.timer?.deadline = driver.shells.table.deadline
  }

  private func lookAtListeners() { carryOut(driver.shells.table.meet(loop.now)) }
}
