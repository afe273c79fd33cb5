import RunCore

// Questions and answers are live messages. The id of a question tells which answer belongs to it.
extension DrivenNode {
  /// Asks a question and waits for its answer.
  ///
  /// - Parameter device: The device that is asked; a peer asks its hub (`nil`).
  func ask(_ question: AppMessage, of device: DeviceID?, within timeout: BusDuration) async throws -> [UInt8] {
    try openQuestions.ask(question.id, of: device)
    defer { openQuestions.forget(question.id) }
    try await post(question, by: .live, to: device)
    let late = RunBusError(
      .timeout,
      "\(device?.rawValue ?? "the hub") gave no answer to \"\(question.name)\" within \(timeout.seconds) s")
    let timer = loop.makeTimer { [openQuestions] in openQuestions.finish(question.id, .failure(late)) }
    timer.deadline = loop.now + timeout
    defer { timer.deadline = nil }
    return try await openQuestions.answer(to: question.id, isolation: self).get()
  }

  /// Answers the questions of a name until the task is cancelled or the node ends.
  func serveQuestions(
    _ name: MessageName, _ answer: @escaping @Sendable (ReceivedMessage) async throws -> [UInt8]
  ) async throws(RunBusError) {
    await serve(try openQuestions.questions(named: name.rawValue), named: name.rawValue, answer)
  }

  /// Answers questions of a name until the task is cancelled or the node ends; the name is free then.
  func serve(
    _ questions: AsyncStream<ReceivedMessage>, named name: String,
    _ answer: @escaping @Sendable (ReceivedMessage) async throws -> [UInt8]
  ) async {
    defer { openQuestions.stopAnswering(name) }
    for await question in questions {
      openQuestions.begin(question)
      guard let reply = await answerQuestion(question, answer) else { return }
      let message = AppMessage(
        id: .random(), name: Reply.messageName, body: reply.body(to: question.message.id))
      // A device that is out of reach by now gets no answer, and its request ends by its time-out.
      try? await post(message, by: .live, to: question.from)
    }
  }
}

/// The app's reply to a question, made off the node's thread; `nil` when the task was cancelled meanwhile.
@concurrent private func answerQuestion(
  _ question: ReceivedMessage, _ answer: @Sendable (ReceivedMessage) async throws -> [UInt8]
) async -> Reply? {
  do {
    let content = try await answer(question)
    guard content.count <= Reply.contentMax else {
      return .failed("the answer has \(content.count) bytes, and \(Reply.contentMax) are possible")
    }
    return .answer(content)
  } catch {
    return Task.isCancelled ? nil : .failed("\(error)")
  }
}
