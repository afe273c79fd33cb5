/// Asks the hub for one thing, without a session. Within a session a peer forwards commands from the spool with it.
public struct Request: Hashable, Sendable {
  /// What a request asks for.
  public enum Subject: Hashable, Sendable {
    /// To accept a command. The answers are its receipts.
    indirect case command(CommandRequest)
    /// The newest snapshot.
    case state
    /// What the hub holds.
    indirect case inquiry(Inquiry)
  }
  /// The sender's wire version.
  public var version: UInt32
  /// What it asks for.
  public var subject: Subject

  /// A request from its parts.
  public init(_ subject: Subject, version: UInt32 = wireVersion) {
    self.subject = subject
    self.version = version
  }
}

/// A command that is sent without a stream.
public struct CommandRequest: Hashable, Sendable {
  /// The command.
  public var command: Command
  /// The device on whose behalf it is sent.
  public var deviceID: DeviceID
  /// Real time from the press to the sending.
  public var age: BusDuration
  /// Whether the age was measured by wall time, because the sender rebooted after the press.
  public var isUncertain: Bool
  /// When it was pressed, by the clock of the sender's machine. A hub on that machine uses it instead of the age.
  public var pressed: MachineTime?

  /// A request from its parts.
  public init(
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
public struct MachineTime: Hashable, Sendable {
  /// The boot of the machine; readings of two boots cannot be compared.
  public var bootID: String
  /// The reading.
  public var reading: BusTime

  /// A reading in a boot.
  public init(bootID: String, reading: BusTime) {
    self.bootID = bootID
    self.reading = reading
  }
}
