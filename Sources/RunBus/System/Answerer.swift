package import RunCore

/// What answers questions: the app's own node, a node of this machine at its admin socket, a node that does not run, a
/// hub over the bus.
package protocol Answerer {
  /// Asks one question.
  ///
  /// - Throws: ``RunBusError`` for a refusal and for a failure on the way.
  func ask<Answer>(_ question: Question<Answer>) async throws -> Answer
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
      case .unreachable: .unreachable
      case .timeout: .timeout
      case .refused: .refused
      case .alreadyHandled: .alreadyHandled
      case .invalid, .forbidden, .notHere, .unknown: .badInput
      }
    self.init(code, failure.message, cause: failure)
  }

  /// What a node answered to a question that it does not answer; `nil` for an error of another kind.
  package var failure: InquiryFailure? { cause as? InquiryFailure }
}
