/// A command that goes to the hub in a request: one of a shell, or one that waits in the spool of a machine, whose nodes
/// forward it.
package struct ForwardedCommand: Hashable, Sendable {
  /// The command.
  package let command: Command
  /// The device on whose behalf it is sent.
  package let deviceID: DeviceID
  /// The press time on this node's monotonic clock.
  package let since: BusTime
  /// Whether `since` is an estimate by wall time, because the machine rebooted after the press.
  package let isUncertain: Bool

  /// A forwarded command from its parts.
  package init(command: Command, deviceID: DeviceID, since: BusTime, isUncertain: Bool) {
    self.command = command
    self.deviceID = deviceID
    self.since = since
    self.isUncertain = isUncertain
  }

  /// The request that carries the command to the hub, with its age at `now`.
  ///
  /// - Parameter bootID: the boot of this machine; empty when unknown.
  func request(at now: BusTime, bootID: String) -> Request {
    let pressed = isUncertain || bootID.isEmpty ? nil : MachineTime(bootID: bootID, reading: since)
    return Request(
      .command(
        CommandRequest(
          command: command, deviceID: deviceID, age: max(.zero, now - since), isUncertain: isUncertain,
          pressed: pressed)))
  }
}

/// A command of a kind that this version does not know. The codec builds the reply, which repeats the unknown kind; the
/// hub only decides when to send it.
package struct UnsupportedCommand: Hashable, Sendable {
  /// The session's number in the command's frame.
  package var session: UInt64
  /// Its sequence number in the sender's stream of commands; `nil` when it came in a request.
  package var sequence: UInt64?
  /// The encoded verdict `rejected(unsupported)`.
  package var reply: [UInt8]

  /// An unsupported command from its parts.
  package init(session: UInt64, sequence: UInt64?, reply: [UInt8]) {
    self.session = session
    self.sequence = sequence
    self.reply = reply
  }
}
