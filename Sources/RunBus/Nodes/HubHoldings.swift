public import RunCore

// What an app asks a hub, and what it changes there.
extension Hub {
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
    guard case .peers(let reports) = try await asked(.peers) else { throw unexpected() }
    return reports
  }

  /// See ``Node/report()``.
  public func report() async throws -> RunReport? {
    guard case .report(let report) = try await asked(.report) else { throw unexpected() }
    return report
  }

  /// Changes title and note of a record. Peers receive the new version.
  ///
  /// - Parameters:
  ///   - run: The run of the record.
  ///   - title: The new title, at most ``RunCore/RecordSummary/titleBytesMax`` bytes; `nil` leaves the present one.
  ///   - note: The new note, at most ``RunCore/RecordSummary/noteBytesMax`` bytes; `nil` leaves the present one.
  /// - Throws: ``RunBusError/Code/notFound`` when there is no record of the run, ``RunBusError/Code/badInput`` for a
  ///   text that is too long, ``RunBusError/Code/closed`` when the hub does not run.
  public func editRecord(_ run: RunID, title: String? = nil, note: String? = nil) async throws(RunBusError) {
    _ = try await asked(.editRecord(run, title: title, note: note))
  }

  /// Removes a record with its route and series, here and from the peers.
  ///
  /// - Throws: ``RunBusError/Code/notFound`` when there is no record of the run, ``RunBusError/Code/closed`` when the
  ///   hub does not run.
  public func removeRecord(_ run: RunID) async throws(RunBusError) { _ = try await asked(.removeRecord(run)) }

  /// Keeps a record that was made elsewhere, such as an imported recording, and gives it to the peers.
  ///
  /// - Returns: Whether the record is new here. A known run is left as it is.
  /// - Throws: ``RunBusError/Code/badInput`` when the record contradicts itself or is too long,
  ///   ``RunBusError/Code/closed`` when the hub does not run.
  @discardableResult
  public func importRecord(_ record: RunRecord) async throws(RunBusError) -> Bool {
    guard driver.lifecycle.isRunning else { throw RunBusError(.closed, "the hub does not run") }
    return !(try await rethrowing { try await KeptRecords { await self.askKeeper($0) }.put(record) })
  }

  /// Asks the hub's core, as a shell does over the admin socket.
  package func ask(_ inquiry: Inquiry) async -> InquiryAnswer { await askKeeper(inquiry) }
}
