#if ZeroMQ
  public import RunCore

  /// Asks a running node what it holds, through its door.
  public enum AdminClient {
    /// Asks the node of a device on a bus of this machine.
    ///
    /// Throws ``RunBusError/Code/unreachable`` when no such node runs here or it does not answer in time,
    /// ``RunBusError/Code/wireMismatch`` when what answers is no node of this version, ``RunBusError/Code/transport``
    /// when there is no socket to ask with, and ``RunBusError/Code/closed`` when the asking task was cancelled.
    public static func ask(
      _ inquiry: Inquiry, of device: DeviceID, on location: BusLocation, within span: BusDuration = .seconds(5)
    ) async throws(RunBusError) -> InquiryAnswer {
      // Somebody else could have put an ear where our directory is not yet.
      guard location.hasSafeAdminDirectory(for: device) else {
        throw nobody("\(device) on bus \(location.displayName)")
      }
      return try await ask(
        inquiry, at: location.adminEndpoint(for: device), called: "\(device) on bus \(location.displayName)",
        within: span)
    }

    /// Asks whoever answers at a door's endpoint, `ipc://PATH`.
    ///
    /// Throws like ``ask(_:of:on:within:)``.
    public static func ask(
      _ inquiry: Inquiry, at endpoint: String, within span: BusDuration = .seconds(5)
    ) async throws(RunBusError) -> InquiryAnswer {
      try await ask(inquiry, at: endpoint, called: endpoint, within: span)
    }

    private static func ask(
      _ inquiry: Inquiry, at endpoint: String, called name: String, within span: BusDuration
    ) async throws(RunBusError) -> InquiryAnswer {
      // Said at once, instead of waiting for somebody who is not there.
      guard SocketFile.isAlive(at: endpoint) else { throw nobody(name) }
      let loop = try Loop()
      defer { loop.stop() }
      let call = ZeroMQAdminCall(on: loop)
      guard let bytes = try await call.ask(AdminFrames.frame(inquiry), at: endpoint, within: span) else {
        throw RunBusError(.unreachable, "\(name) does not answer within \(span.seconds) s")
      }
      guard let answer = AdminFrames.answer(in: bytes) else {
        throw RunBusError(.wireMismatch, "what answers for \(name) is no node of this version of RunBus")
      }
      return answer
    }

    private static func nobody(_ name: String) -> RunBusError {
      RunBusError(.unreachable, "\(name) does not run on this machine")
    }
  }
#endif
