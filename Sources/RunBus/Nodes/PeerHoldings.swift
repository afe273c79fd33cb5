public import RunCore

// What an app asks a peer, and the hub through it.
extension Peer {
  /// See ``Node/ready()``.
  public func ready() async throws { try await driver.readiness.wait(isolation: self) }

  /// See ``Node/outbox()``.
  public func outbox() async throws(RunBusError) -> [OutboxReport] { try await heldOutbox() }

  /// See ``Node/cancel(_:)-(CommandID)``.
  public func cancel(_ command: CommandID) async throws(RunBusError) {
    try await cancelHeld(MessageID(high: command.high, low: command.low))
  }

  /// See ``Node/cancel(_:)-(MessageID)``.
  public func cancel(_ message: MessageID) async throws(RunBusError) { try await cancelHeld(message) }

  /// See ``Node/quarantine()``.
  public func quarantine() async throws(RunBusError) -> [QuarantineReport] { try await heldQuarantine() }

  /// See ``Node/retry(_:)``.
  @discardableResult
  public func retry(_ message: MessageID) async throws(RunBusError) -> MessageID { try await retryHeld(message) }

  /// See ``Node/discard(_:)``.
  public func discard(_ message: MessageID) async throws(RunBusError) { try await discardHeld(message) }

  /// See ``Node/records()``.
  public func records() async throws(RunBusError) -> [RecordSummary] { try await heldRecords() }

  /// See ``Node/record(of:)``.
  public func record(of run: RunID) async throws(RunBusError) -> RunRecord? { try await heldRecord(of: run) }

  /// See ``Node/peers()``.
  public func peers() async throws -> [PeerReport] {
    guard case .peers(let reports) = try await askedOfHub(.peers) else { throw unexpected() }
    return reports
  }

  /// See ``Node/report()``.
  public func report() async throws -> RunReport? {
    guard case .report(let report) = try await askedOfHub(.report) else { throw unexpected() }
    return report
  }

  /// The numbers of the present run over time, or of the last one; `nil` before the first run. Waits and throws as
  /// ``report()`` does.
  package func series() async throws -> RunSeries? {
    guard case .series(let series) = try await askedOfHub(.series) else { throw unexpected() }
    return series
  }

  /// Asks the hub, waits until it is in reach and answers, and turns a refusal into an error.
  private func askedOfHub(_ inquiry: Inquiry) async throws -> InquiryAnswer {
    guard !driver.lifecycle.hasEnded else { throw RunBusError(.closed, "the peer has ended") }
    let answer = await inquire(inquiry)
    if case .failed(let reason) = answer {
      try Task.checkCancellation()
      throw RunBusError(refusal: reason, isEnded: driver.lifecycle.hasEnded)
    }
    return answer
  }

  /// Asks this peer's core, not the hub, as a shell does over the admin socket.
  package func ask(_ inquiry: Inquiry) async -> InquiryAnswer { await askKeeper(inquiry) }
}
