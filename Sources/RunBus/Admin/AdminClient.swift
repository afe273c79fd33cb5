#if ZeroMQ && canImport(CZMQ)
  package import RunCore

  /// Asks running nodes of this machine through their admin sockets.
  ///
  /// ```swift
  /// let waiting = try await AdminClient.ask(.outbox, of: device, on: location)
  /// ```
  package enum AdminClient {
    /// Asks the node of a device on a bus of this machine.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - device: The device whose node answers.
    ///   - location: The bus.
    ///   - span: How long to wait for the answer.
    /// - Throws: ``RunBusError/Code/unreachable`` when no such node runs here or it does not answer in time,
    ///   ``RunBusError/Code/wireMismatch`` when the answer is not one of this version, ``RunBusError/Code/transport``
    ///   when no socket can be opened, ``RunBusError/Code/closed`` when the task is cancelled, and the error that a
    ///   refusal stands for.
    package static func ask<Answer>(
      _ question: Question<Answer>, of device: DeviceID, on location: BusLocation,
      within span: BusDuration = .seconds(5)
    ) async throws(RunBusError) -> Answer {
      // Another user could listen in a directory that is not ours.
      guard location.hasSafeAdminDirectory(for: device) else {
        throw notRunning("\(device) on bus \(location.displayName)")
      }
      return try await ask(
        question, at: location.adminEndpoint(for: device), called: "\(device) on bus \(location.displayName)",
        within: span)
    }

    /// Asks the node that answers at an admin socket's endpoint, `ipc://PATH`.
    ///
    /// - Throws: The same errors as ``ask(_:of:on:within:)``.
    package static func ask<Answer>(
      _ question: Question<Answer>, at endpoint: String, within span: BusDuration = .seconds(5)
    ) async throws(RunBusError) -> Answer {
      try await ask(question, at: endpoint, called: endpoint, within: span)
    }

    private static func ask<Answer>(
      _ question: Question<Answer>, at endpoint: String, called name: String, within span: BusDuration
    ) async throws(RunBusError) -> Answer {
      // A socket file without a listener fails at once; a connect would wait until the time-out.
      guard SocketFile.isAlive(at: endpoint) else { throw notRunning(name) }
      let loop = try Loop()
      defer { loop.stop() }
      let exchange = ZeroMQQuestion(on: loop)
      guard let bytes = try await exchange.ask(AdminFrames.frame(question.inquiry), at: endpoint, within: span) else {
        throw RunBusError(.unreachable, "\(name) does not answer within \(span.seconds) s")
      }
      if let reason = AdminFrames.refusal(in: bytes) {
        throw RunBusError(.wireMismatch, "\(name) cannot read the question: \(reason)")
      }
      guard let answer = AdminFrames.answer(in: bytes) else {
        throw RunBusError(.wireMismatch, "what answers for \(name) is no node of this version of RunBus")
      }
      do throws(InquiryFailure) { return try question.content(of: answer) } catch { throw RunBusError(error) }
    }

    private static func notRunning(_ name: String) -> RunBusError {
      RunBusError(.unreachable, "\(name) does not run on this machine")
    }
  }
#endif
