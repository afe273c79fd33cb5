import Foundation
package import RunCore

/// A command as it waits in the spool.
///
/// Its press time is stored twice: on the monotonic clock, for processes of the same boot, and as wall time, for later
/// boots.
package struct SpooledCommand: Hashable, Sendable {
  /// The command.
  package var command: Command
  /// The device on which it was pressed.
  package var deviceID: DeviceID
  /// When it was pressed, on the clock of ``Loop/now``.
  package var pressedAt: BusTime
  /// The boot of ``pressedAt``, from ``MachineBoot/id``.
  package var bootID: String
  /// When it was pressed, as wall time in seconds since 1970.
  package var wallSeconds: Double
  /// How often it may have been sent. A command with 0 was certainly never sent.
  package var tries: UInt32

  /// Makes a spooled command from its parts.
  package init(
    command: Command, deviceID: DeviceID, pressedAt: BusTime, bootID: String, wallSeconds: Double, tries: UInt32 = 0
  ) {
    self.command = command
    self.deviceID = deviceID
    self.pressedAt = pressedAt
    self.bootID = bootID
    self.wallSeconds = wallSeconds
    self.tries = tries
  }

  /// A command that is pressed now.
  package static func now(_ command: Command, on deviceID: DeviceID) -> SpooledCommand {
    SpooledCommand(
      command: command, deviceID: deviceID, pressedAt: Loop.now, bootID: MachineBoot.id,
      wallSeconds: Date().timeIntervalSince1970)
  }

  /// The command as a request carries it to the hub.
  package func forwarded() -> ForwardedCommand {
    forwarded(now: Loop.now, wallSeconds: Date().timeIntervalSince1970, bootID: MachineBoot.id)
  }

  /// The command as a request carries it to the hub, by these clocks.
  func forwarded(now: BusTime, wallSeconds: Double, bootID: String) -> ForwardedCommand {
    let (age, isUncertain) = age(now: now, wallSeconds: wallSeconds, bootID: bootID)
    return ForwardedCommand(command: command, deviceID: deviceID, since: now - age, isUncertain: isUncertain)
  }

  /// How long ago it was pressed; never negative. In the same boot the monotonic clock tells. For an earlier boot the
  /// wall time tells, and the age is uncertain.
  package func age(
    now: BusTime, wallSeconds: Double, bootID: String
  ) -> (age: BusDuration, isUncertain: Bool) {
    let isSameBoot = !bootID.isEmpty && self.bootID == bootID && now >= pressedAt
    return isSameBoot
      ? (now - pressedAt, false) : (max(.zero, BusDuration(seconds: wallSeconds - self.wallSeconds)), true)
  }

  /// Commands in the order in which they were pressed: first those of earlier boots, ordered by the wall time of each
  /// boot's first command, then those of the present boot. Within a boot the monotonic clock decides, because wall time
  /// may have been changed.
  static func inOrderOfPress(_ commands: [SpooledCommand], bootID: String) -> [SpooledCommand] {
    let beginnings = Dictionary(grouping: commands, by: \.bootID).mapValues { $0.map(\.wallSeconds).min() ?? 0 }
    func isBefore(_ left: SpooledCommand, _ right: SpooledCommand) -> Bool {
      guard left.bootID == right.bootID else {
        if left.bootID == bootID || right.bootID == bootID { return right.bootID == bootID }
        let (first, second) = (beginnings[left.bootID] ?? 0, beginnings[right.bootID] ?? 0)
        return (first, left.bootID) < (second, right.bootID)
      }
      // On a machine without boot ids only wall time is left.
      if left.bootID.isEmpty, left.wallSeconds != right.wallSeconds { return left.wallSeconds < right.wallSeconds }
      return (left.pressedAt, left.command.id) < (right.pressedAt, right.command.id)
    }
    return commands.sorted(by: isBefore)
  }
}

extension SpooledCommand: Codable {
  /// The version of the file format. A reader does not change files of newer versions.
  static let version = 1

  private enum CodingKeys: String, CodingKey {
    case version, command, deviceID, pressedAtNanoseconds, bootID, wallSeconds, tries
  }

  /// Reads what ``encode(to:)`` has written. Refuses a command that the wire cannot carry.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard try container.decode(Int.self, forKey: .version) == Self.version else {
      throw DecodingError.dataCorruptedError(forKey: .version, in: container, debugDescription: "another version")
    }
    self.init(
      command: try container.decode(Command.self, forKey: .command),
      deviceID: try container.decode(DeviceID.self, forKey: .deviceID),
      pressedAt: BusTime(nanoseconds: try container.decode(Int64.self, forKey: .pressedAtNanoseconds)),
      bootID: try container.decode(String.self, forKey: .bootID),
      wallSeconds: try container.decode(Double.self, forKey: .wallSeconds),
      tries: try container.decode(UInt32.self, forKey: .tries))
    guard isSendable else {
      throw DecodingError.dataCorruptedError(
        forKey: .command, in: container, debugDescription: "a command that the wire does not take")
    }
  }

  /// Writes the command with the version of the format.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Self.version, forKey: .version)
    try container.encode(command, forKey: .command)
    try container.encode(deviceID, forKey: .deviceID)
    try container.encode(pressedAt.nanoseconds, forKey: .pressedAtNanoseconds)
    try container.encode(bootID, forKey: .bootID)
    try container.encode(wallSeconds, forKey: .wallSeconds)
    try container.encode(tries, forKey: .tries)
  }

  /// The schema limits counters: a hub would refuse a larger one every time.
  private var isSendable: Bool { (command.base?.revision ?? 0) <= 1 << 62 }
}
