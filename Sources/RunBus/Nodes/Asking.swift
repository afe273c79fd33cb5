import RunCore

// Questions of the node's own app. The cores answer them as they answer a shell at the admin socket.
extension DrivenNode {
  /// Asks this node, and waits until it has begun.
  ///
  /// - Throws: The error that ended the node, or ``RunBusError/Code/closed``; what a refusal stands for;
  ///   `CancellationError` when the task is cancelled before the node has begun.
  package func ask<Answer>(_ question: Question<Answer>) async throws -> Answer {
    try await readiness.wait(isolation: self)
    return try content(of: question, await askCore(question.inquiry))
  }

  /// Asks the hub, and waits until it is in reach and answers.
  ///
  /// - Throws: As ``ask(_:)``, and `CancellationError` when the task is cancelled before the answer comes.
  func askHub<Answer>(_ question: Question<Answer>) async throws -> Answer {
    try await readiness.wait(isolation: self)
    let answer = await inquire(question.inquiry)
    if case .failed = answer { try Task.checkCancellation() }
    return try content(of: question, answer)
  }

  private func content<Answer>(of question: Question<Answer>, _ answer: InquiryAnswer) throws -> Answer {
    do throws(InquiryFailure) {
      return try question.content(of: answer)
    } catch {
      throw driver.lifecycle.ending(of: driver.word) ?? RunBusError(error)
    }
  }
}
