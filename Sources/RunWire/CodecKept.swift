package import RunCore
import SwiftProtobuf

// What else nodes store: what a peer saw last, its failure detection, paired devices, and commands in a spool.
extension Codec {
  /// Encodes the last snapshot that a peer has seen.
  package static func stored(_ view: Snapshot) -> [UInt8] {
    var message = WireStoredView()
    message.snapshot = self.message(view)
    return stored(message)
  }

  /// Reads the last snapshot that a peer has seen.
  package static func view(_ bytes: [UInt8]) throws(StoredError) -> Snapshot {
    let message: WireStoredView = try open(bytes)
    return try reading { () throws(WireError) in try value(message.snapshot) }
  }

  /// Encodes what the hub's next silence leads to.
  package static func stored(_ mark: HubFailureMark) -> [UInt8] {
    var message = WireStoredFailureMark()
    message.duty = UInt32(mark.duty.rawValue)
    if let lost = mark.lastAlarm {
      var alarm = WireStoredAlarm()
      if let runID = lost.runID { alarm.runID = data(runID) }
      if let device = lost.deviceID { alarm.deviceID = device.rawValue }
      alarm.order = self.message(lost.order)
      alarm.silenceNs = StoredNumber.clamped(lost.silence.nanoseconds)
      message.last = alarm
    }
    return stored(message)
  }

  /// Reads what the hub's next silence leads to.
  package static func failureMark(_ bytes: [UInt8]) throws(StoredError) -> HubFailureMark {
    let message: WireStoredFailureMark = try open(bytes)
    return try reading { () throws(WireError) in
      guard let duty = HubFailureMark.Duty(rawValue: Int(message.duty)) else {
        throw .unknown("what a silence leads to")
      }
      guard message.hasLast else { return HubFailureMark(duty: duty) }
      let alarm = message.last
      return HubFailureMark(
        duty: duty,
        lastAlarm: HubLost(
          runID: alarm.hasRunID ? try identifier(alarm.runID, "run id") : nil,
          deviceID: alarm.hasDeviceID ? try device(alarm.deviceID) : nil, order: try value(alarm.order),
          silence: try storedSpan(alarm.silenceNs)))
    }
  }

  /// Encodes a paired device.
  ///
  /// - Parameter old: What was stored of it before, if anything: unknown fields of that stay.
  package static func stored(_ device: PairedDevice, replacing old: [UInt8]? = nil) -> [UInt8] {
    var message = self.message(device)
    if let old, let before = try? open(old) as WirePairedDevice { add(unknown(in: before), to: &message) }
    return stored(message)
  }

  /// Reads a paired device.
  package static func pairedDevice(_ bytes: [UInt8]) throws(StoredError) -> PairedDevice {
    let message: WirePairedDevice = try open(bytes)
    return try reading { () throws(WireError) in try value(message) }
  }

  /// A command in a spool, with the clocks by which it was pressed.
  package struct StoredPress: Hashable, Sendable {
    /// The command.
    package var command: Command
    /// The device on which it was pressed.
    package var deviceID: DeviceID
    /// When it was pressed, by the clock of a boot.
    package var pressedAt: BusTime
    /// That boot; empty on a machine that does not name its boots.
    package var bootID: String
    /// When it was pressed, in seconds since 1970.
    package var wallSeconds: Double
    /// How often it may have been sent.
    package var tries: UInt32
    /// Fields of a later version.
    package var unknown: [UInt8] = []

    /// A command from its parts.
    package init(
      command: Command, deviceID: DeviceID, pressedAt: BusTime, bootID: String, wallSeconds: Double, tries: UInt32
    ) {
      self.command = command
      self.deviceID = deviceID
      self.pressedAt = pressedAt
      self.bootID = bootID
      self.wallSeconds = wallSeconds
      self.tries = tries
    }
  }

  /// Encodes a command in a spool.
  package static func stored(_ press: StoredPress) -> [UInt8] {
    var message = WireStoredPress()
    message.command = self.message(press.command)
    message.deviceID = press.deviceID.rawValue
    message.pressed.bootID = press.bootID
    message.pressed.monotonicNs = StoredNumber.nanoseconds(press.pressedAt)
    message.wallSeconds = press.wallSeconds
    message.tries = press.tries
    add(press.unknown, to: &message)
    return stored(message)
  }

  /// Reads a command in a spool.
  package static func press(_ bytes: [UInt8]) throws(StoredError) -> StoredPress {
    let message: WireStoredPress = try open(bytes)
    return try reading { () throws(WireError) in
      guard message.hasPressed else { throw .malformed("stored press without its time") }
      var press = StoredPress(
        command: try value(message.command), deviceID: try device(message.deviceID),
        pressedAt: try storedMoment(message.pressed.monotonicNs),
        bootID: try text(message.pressed.bootID, "boot id", bytesMax: wordBytesMax),
        wallSeconds: try finite(message.wallSeconds, "wall time"), tries: message.tries)
      press.unknown = unknown(in: message)
      return press
    }
  }
}
