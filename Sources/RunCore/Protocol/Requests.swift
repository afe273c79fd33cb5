/// Asks the hub for one thing, without a session. Within a session a peer forwards commands from the spool with it.
package struct Request: Hashable, Sendable {
  /// What a request asks for.
  package enum Subject: Hashable, Sendable {
    /// To accept a command. The answers are its receipts.
    indirect case command(CommandRequest)
    /// The newest snapshot.
    case state
    /// What the hub holds.
    indirect case inquiry(Inquiry)
  }
  /// The sender's wire version.
  package var version: UInt32
  /// What it asks for.
  package var subject: Subject

  /// A request from its parts.
  package init(_ subject: Subject, version: UInt32 = wireVersion) {
    self.subject = subject
    self.version = version
  }
}

/// A command that is sent without a stream.
package struct CommandRequest: Hashable, Sendable {
  /// The command.
  package var command: Command
  /// The device on whose behalf it is sent.
  package var deviceID: DeviceID
  /// Real time from the press to the sending.
  package var age: BusDuration
  /// Whether the age was measured by wall time, because the sender rebooted after the press.
  package var isUncertain: Bool
  /// When it was pressed, by the clock of the sender's machine. A hub on that machine uses it instead of the age.
  package var pressed: MachineTime?

  /// A request from its parts.
  package init(
    command: Command, deviceID: DeviceID, age: BusDuration, isUncertain: Bool = false, pressed: MachineTime? = nil
  ) {
    self.command = command
    self.deviceID = deviceID
    self.age = age
    self.isUncertain = isUncertain
    self.pressed = pressed
  }
}

/// A reading of a machine's monotonic clock.
package struct MachineTime: Hashable, Sendable {
  /// The boot of the machine; readings of two boots cannot be compared.
  package var bootID: String
  /// The reading.
  package var reading: BusTime

  /// A reading in a boot.
  package init(bootID: String, reading: BusTime) {
    self.bootID = bootID
    self.reading = reading
  }
}
