import Foundation
public import RunCore

/// A command of a one-shot sender as it waits in the spool: what was pressed, where, and when.
///
/// A moment is kept twice: on the monotonic clock, which a later process of the same boot goes on with, and by wall time
/// for a later boot.
public struct SpooledCommand: Hashable, Sendable {
  /// The press.
  public var command: Command
  /// The device that it was pressed on.
  public var deviceID: DeviceID
  /// When it was pressed, on the line of ``Loop/now``.
  public var pressedAt: BusTime
  /// The boot that ``pressedAt`` belongs to, as ``MachineBoot/id`` names it.
  public var bootID: String
  /// When it was pressed by wall time, in seconds since 1970.
  public var wallSeconds: Double
  /// How often it may have been sent. At 0 it surely never was.
  public var tries: UInt32

  /// A spooled command from its parts.
  public init(
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
  public static func now(_ command: Command, on deviceID: DeviceID) -> SpooledCommand {
    SpooledCommand(
      command: command, deviceID: deviceID, pressedAt: Loop.now, bootID: MachineBoot.id,
      wallSeconds: Date().timeIntervalSince1970)
  }

  /// How long ago it was pressed, never negative. Within one boot the monotonic clock says so; from an earlier boot only
  /// wall time does, and the age is uncertain.
  public func age(
    now: BusTime, wallSeconds: Double, bootID: String
  ) -> (age: BusDuration, isUncertain: Bool) {
    let isSameBoot = !bootID.isEmpty && self.bootID == bootID && now >= pressedAt
    return isSameBoot
      ? (now - pressedAt, false) : (max(.zero, BusDuration(seconds: wallSeconds - self.wallSeconds)), true)
  }

  /// Commands in the order in which they were pressed: those of earlier boots by wall time, boot after boot, then those of
  /// the present one. Within a boot the monotonic clock decides, whatever wall time did meanwhile.
  static func inOrderOfPress(_ commands: [SpooledCommand], bootID: String) -> [SpooledCommand] {
    let beginnings = Dictionary(grouping: commands, by: \.bootID).mapValues { $0.map(\.wallSeconds).min() ?? 0 }
    func isBefore(_ left: SpooledCommand, _ right: SpooledCommand) -> Bool {
      guard left.bootID == right.bootID else {
        if left.bootID == bootID || right.bootID == bootID { return right.bootID == bootID }
        let (first, second) = (beginnings[left.bootID] ?? 0, beginnings[right.bootID] ?? 0)
        return (first, left.bootID) < (second, right.bootID)
      }
      // A machine that does not name its boots leaves only wall time.
      if left.bootID.isEmpty, left.wallSeconds != right.wallSeconds { return left.wallSeconds < right.wallSeconds }
      return (left.pressedAt, left.command.id) < (right.pressedAt, right.command.id)
    }
    return commands.sorted(by: isBefore)
  }
}

extension SpooledCommand: Codable {
  /// The version of the file. A reader leaves newer ones alone.
  static let version = 1

  private enum CodingKeys: String, CodingKey {
    case version, command, deviceID, pressedAtNanoseconds, bootID, wallSeconds, tries
  }

  /// Reads what ``encode(to:)`` wrote, and nothing that no node could send on.
  public init(from decoder: any Decoder) throws {
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

  /// Writes it with its version.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Self.version, forKey: .version)
    try container.encode(command, forKey: .command)
    try container.encode(deviceID, forKey: .deviceID)
    try container.encode(pressedAt.nanoseconds, forKey: .pressedAtNanoseconds)
    try container.encode(bootID, forKey: .bootID)
    try container.encode(wallSeconds, forKey: .wallSeconds)
    try container.encode(tries, forKey: .tries)
  }

  /// The schema's rule for a counter: a hub would refuse anything else for ever.
  private var isSendable: Bool { (command.base?.revision ?? 0) <= 1 << 62 }
}
