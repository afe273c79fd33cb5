package import RunCore

/// What answers questions: the app's own node, a node of this machine at its admin socket, a node that does not run, a
/// hub over the bus.
package protocol Answerer {
  /// Asks one question.
  ///
  /// - Throws: ``RunBusError`` for a refusal and for a failure on the way.
  func ask<Answer>(_ question: Question<Answer>) async throws -> Answer
}

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
      throw driver.lifecycle.hasEnded ? RunBusError(.closed, "the \(driver.word) has ended") : RunBusError(error)
    }
  }
}

extension RunBusError {
  /// The error of a question that a node does not answer.
  package init(_ failure: InquiryFailure) {
    let code: Code =
      switch failure.code {
      case .tooLate: .tooLate
      case .notFound: .notFound
      case .full: .full
      case .unsupported: .wireMismatch
      case .notRecovering: .notRecovering
      case .store: .store
      case .closed: .closed
      case .invalid, .forbidden, .notHere, .unknown: .badInput
      }
    self.init(code, failure.message, cause: failure)
  }

  /// What a node answered to a question that it does not answer; `nil` for an error of another kind.
  package var failure: InquiryFailure? { cause as? InquiryFailure }
}
