import RunCore

// What an app asks its own node, and what it changes there. Each question is an inquiry to the node's core, as a shell
// sends it over the admin socket.
extension DrivenNode {
  func heldOutbox() async throws(RunBusError) -> [OutboxReport] {
    guard case .outbox(let reports) = try await asked(.outbox) else { throw unexpected() }
    return reports
  }

  func cancelHeld(_ id: MessageID) async throws(RunBusError) { _ = try await asked(.cancel(id)) }

  func heldQuarantine() async throws(RunBusError) -> [QuarantineReport] {
    guard case .quarantine(let reports) = try await asked(.quarantine) else { throw unexpected() }
    return reports
  }

  func retryHeld(_ id: MessageID) async throws(RunBusError) -> MessageID {
    guard case .done(let new?) = try await asked(.retry(id)) else { throw unexpected() }
    return new
  }

  func discardHeld(_ id: MessageID) async throws(RunBusError) { _ = try await asked(.discard(id)) }

  func heldRecords() async throws(RunBusError) -> [RecordSummary] {
    guard driver.lifecycle.isRunning else { return [] }
    return try await rethrowing { try await KeptRecords { await self.askKeeper($0) }.summaries() } ?? []
  }

  func heldRecord(of run: RunID) async throws(RunBusError) -> RunRecord? {
    guard let summary = try await heldRecords().first(where: { $0.runID == run }) else { return nil }
    return try await rethrowing { try await KeptRecords { await self.askKeeper($0) }.record(summary) }
  }

  /// Asks the node's core and turns a refusal into an error.
  func asked(_ inquiry: Inquiry) async throws(RunBusError) -> InquiryAnswer {
    guard driver.lifecycle.isRunning else { throw RunBusError(.closed, "the \(driver.word) does not run") }
    let answer = await askKeeper(inquiry)
    if case .failed(let reason) = answer { throw RunBusError(refusal: reason, isEnded: driver.lifecycle.hasEnded) }
    return answer
  }

  /// The error for an answer of another kind than that of the question. Only a later version could give one.
  func unexpected() -> RunBusError { RunBusError(.wireMismatch, InquiryFailure.unknownAnswer) }

  /// Narrows the errors of a body that throws only errors of RunBus.
  func rethrowing<Value>(_ body: () async throws -> Value) async throws(RunBusError) -> Value {
    do {
      return try await body()
    } catch {
      throw error as? RunBusError ?? RunBusError(.store, "\(error)")
    }
  }
}

extension RunBusError {
  /// The error for a question that a node refuses with a sentence.
  init(refusal: String, isEnded: Bool = false) {
    let code: Code =
      switch refusal {
      case _ where isEnded: .closed
      case InquiryFailure.notCancellable: .tooLate
      case InquiryFailure.notWaiting, InquiryFailure.notQuarantined, InquiryFailure.noRecord,
        InquiryFailure.receiverUnknown:
        .notFound
      case InquiryFailure.outboxFull: .full
      case InquiryFailure.unknown, InquiryFailure.unknownAnswer: .wireMismatch
      default: .badInput
      }
    self.init(code, refusal)
  }
}
