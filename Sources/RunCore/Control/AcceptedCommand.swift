/// A command as the hub has accepted it: with its sender's place and times on the hub's own line.
public struct AcceptedCommand: Hashable, Sendable, Codable {
  /// The command, its run id as the sender gave it.
  public let command: Command
  /// The device that it came from; a sender is a device, its one-shot streams included.
  public let deviceID: DeviceID
  /// The stream that it came by.
  public let stream: StreamID
  /// Its place in that stream.
  public let sequence: UInt64
  /// When the person pressed.
  public let pressedAt: BusTime
  /// When it first arrived.
  public let arrivedAt: BusTime
  /// The press time was estimated across a reboot of the sender.
  public let isUncertain: Bool
  /// The stop of its run lies behind it in the sender's queue.
  public let stopFollows: Bool

  /// A press from its parts.
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

  /// The order of a window: (press time, device, sequence, command id).
  public static func precedes(_ left: AcceptedCommand, _ right: AcceptedCommand) -> Bool {
    (left.pressedAt.nanoseconds, left.deviceID, left.sequence, left.command.id)
      < (right.pressedAt.nanoseconds, right.deviceID, right.sequence, right.command.id)
  }
}

/// How an accepted command stands until it is judged. It is decided on arrival and kept.
public enum Admission: String, Hashable, Sendable, Codable {
  /// In the open window.
  case window
  /// Waits for the open window to settle and then opens (or joins) the next.
  case next
  /// Arrived late: judged alone, in press order, when no window is open.
  case late
  /// Part of a chain whose stop has not arrived yet.
  case held
}
