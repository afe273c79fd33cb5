import Foundation
package import RunCore
import RunWire

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
  /// Fields of a later version in its file, which stay.
  private var unknown: [UInt8] = []

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

extension SpooledCommand {
  /// The bytes of its file.
  var bytes: [UInt8] {
    var press = Codec.StoredPress(
      command: command, deviceID: deviceID, pressedAt: pressedAt, bootID: bootID, wallSeconds: wallSeconds,
      tries: tries)
    press.unknown = unknown
    return Codec.stored(press)
  }

  /// Reads the bytes of a file. Refuses a command that the wire cannot carry.
  init(bytes: [UInt8]) throws(StoredError) {
    let press = try Codec.press(bytes)
    self.init(
      command: press.command, deviceID: press.deviceID, pressedAt: press.pressedAt, bootID: press.bootID,
      wallSeconds: press.wallSeconds, tries: press.tries)
    unknown = press.unknown
  }
}
