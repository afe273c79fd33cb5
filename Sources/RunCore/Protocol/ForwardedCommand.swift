/// A press that a one-shot sender left in the spool of its machine, for whoever gets through to the hub.
public struct ForwardedCommand: Hashable, Sendable {
  /// The command.
  public let command: Command
  /// The device that it was pressed on.
  public let deviceID: DeviceID
  /// When, on this node's monotonic clock.
  public let since: BusTime
  /// `since` was estimated by wall time, across a reboot.
  public let isUncertain: Bool

  /// A press from its parts.
  public init(command: Command, deviceID: DeviceID, since: BusTime, isUncertain: Bool) {
    self.command = command
    self.deviceID = deviceID
    self.since = since
    self.isUncertain = isUncertain
  }

  /// The press as it goes to the hub at a moment.
  func request(at now: BusTime) -> Request {
    Request(command: command, deviceID: deviceID, age: max(.zero, now - since), isUncertain: isUncertain)
  }
}
