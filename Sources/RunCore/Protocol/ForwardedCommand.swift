/// A command that a one-shot left in the spool of its machine. Any node there that reaches the hub forwards it.
public struct ForwardedCommand: Hashable, Sendable {
  /// The command.
  public let command: Command
  /// The device for which the one-shot sent it.
  public let deviceID: DeviceID
  /// The press time on this node's monotonic clock.
  public let since: BusTime
  /// Whether `since` is an estimate by wall time, because the machine rebooted after the press.
  public let isUncertain: Bool

  /// A forwarded command from its parts.
  public init(command: Command, deviceID: DeviceID, since: BusTime, isUncertain: Bool) {
    self.command = command
    self.deviceID = deviceID
    self.since = since
    self.isUncertain = isUncertain
  }

  /// The request that carries the command to the hub, with its age at `now`.
  func request(at now: BusTime) -> Request {
    Request(command: command, deviceID: deviceID, age: max(.zero, now - since), isUncertain: isUncertain)
  }
}
