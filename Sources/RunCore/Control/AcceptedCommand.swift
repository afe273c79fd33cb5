/// A command that the hub has accepted, with its position in the sender's stream and its times on the hub's bus clock.
public struct AcceptedCommand: Hashable, Sendable, Codable {
  /// The command; its run id is the one the sender gave, with aliases unresolved.
  public let command: Command
  /// The device that sent it. The hub judges by device, so requests for a device count as that device.
  public let deviceID: DeviceID
  /// The stream in which it arrived.
  public let stream: StreamID
  /// Its sequence number in that stream.
  public let sequence: UInt64
  /// When the person pressed.
  public let pressedAt: BusTime
  /// When the command first arrived.
  public let arrivedAt: BusTime
  /// Whether the press time is an estimate by wall time, because the sender rebooted after the press.
  public let isUncertain: Bool
  /// Whether the sender says that the stop of this command's run follows in its queue.
  public let stopFollows: Bool

  /// An accepted command from its parts.
  public init(
    command: Command, deviceID: DeviceID, stream: StreamID, sequence: UInt64, pressedAt: BusTime, arrivedAt: BusTime,
    isUncertain: Bool = false, stopFollows: Bool = false
  ) {
    self.command = command
    self.deviceID = deviceID
    self.stream = stream
    self.sequence = sequence
    self.pressedAt = pressedAt
    self.arrivedAt = arrivedAt
    self.isUncertain = isUncertain
    self.stopFollows = stopFollows
  }

  /// The order in which the hub judges commands: by (press time, device, sequence, command id).
  public static func precedes(_ left: AcceptedCommand, _ right: AcceptedCommand) -> Bool {
    (left.pressedAt.nanoseconds, left.deviceID, left.sequence, left.command.id)
      < (right.pressedAt.nanoseconds, right.deviceID, right.sequence, right.command.id)
  }
}

/// How an accepted command waits for its verdict. The hub decides it on arrival and stores it.
public enum Admission: String, Hashable, Sendable, Codable {
  /// It belongs to the open window.
  case window
  /// It waits for the open window to settle, then opens or joins the next one.
  case next
  /// It arrived late. The hub judges late commands one by one, in press order, while no window is open.
  case late
  /// It belongs to a run that was made out of reach, and waits for that run's stop (``HeldRuns``).
  case held
}
