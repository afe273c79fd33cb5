package import RunCore
import SwiftProtobuf

// Entries of a run's journal. Readings are the bulk of a store: an entry names its device by a number that the store has
// given it.
extension Codec {
  /// An entry of a journal as it was stored.
  package struct StoredEntry: Hashable, Sendable {
    /// When it happened.
    package var time: BusTime
    /// What happened. A reading has the device for which the store was asked.
    package var event: LedgerEvent
  }

  /// Encodes an entry.
  ///
  /// - Parameter device: The number of a reading's device; 0 for any other entry.
  package static func stored(_ event: LedgerEvent, at time: BusTime, device: UInt32) -> [UInt8] {
    var message = WireStoredEntry()
    message.timeNs = StoredNumber.nanoseconds(time)
    message.device = device
    switch event {
    case .transition(let transition):
      var stored = WireStoredTransition()
      stored.kind = word(transition.kind)
      stored.revision = transition.revision
      stored.change = self.message(transition.change)
      if let goal = transition.goal { stored.goalNs = goal.time.nanoseconds }
      message.event = .transition(stored)
    case .lap(let change): message.event = .lap(self.message(change))
    case .gap(let duration): message.event = .gapNs(StoredNumber.clamped(duration.nanoseconds))
    case .setup(let setup): message.event = .setup(self.message(setup))
    case .sample(let value, _): message.event = self.event(value)
    }
    return stored(message)
  }

  /// Reads an entry.
  ///
  /// - Parameter device: The device with a number; `nil` when there is none.
  package static func entry(_ bytes: [UInt8], device: (UInt32) -> DeviceID?) throws(StoredError) -> StoredEntry {
    let message: WireStoredEntry = try open(bytes)
    return try reading { () throws(WireError) in
      let event = try value(message, device)
      return StoredEntry(time: try storedMoment(message.timeNs), event: event)
    }
  }

  /// The revision of a stored transition, whatever its kind is; `nil` for another entry, and for one out of range.
  package static func revision(_ bytes: [UInt8]) -> UInt64? {
    guard let message = try? open(bytes) as WireStoredEntry, case .transition(let stored) = message.event else {
      return nil
    }
    return try? storedRevision(stored.revision)
  }

  private static func value(
    _ message: WireStoredEntry, _ device: (UInt32) -> DeviceID?
  ) throws(WireError) -> LedgerEvent {
    let reading: SampleValue
    switch message.event {
    case .transition(let stored):
      return .transition(
        Transition(
          kind: try known(stored.kind), revision: try storedRevision(stored.revision),
          change: try value(stored.change), goal: stored.hasGoalNs ? try goal(stored.goalNs) : nil))
    case .lap(let change): return .lap(try value(change))
    case .gapNs(let duration): return .gap(try storedSpan(duration))
    case .setup(let setup): return .setup(value(setup))
    case .position(let position): reading = .position(value(position))
    case .altitude(let altitude): reading = .altitude(meters: altitude.meters, source(altitude.source))
    case .heartRateBpm(let bpm): reading = .heartRate(bpm: bpm)
    case .cadenceStepsPerMinute(let stepsPerMinute): reading = .cadence(stepsPerMinute: stepsPerMinute)
    case .pedometerMeters(let meters): reading = .pedometer(meters: meters)
    case .motion(let word): reading = .motion(activity(word))
    case nil: throw .unknown("an entry of a journal")
    }
    guard let device = device(message.device) else { throw .malformed("reading of a device without a name") }
    return .sample(reading, device)
  }

  private static func event(_ value: SampleValue) -> WireStoredEntry.OneOf_Event {
    switch value {
    case .position(let position): .position(message(position))
    case .altitude(let meters, let source): .altitude(message(altitude: meters, source))
    case .heartRate(let bpm): .heartRateBpm(bpm)
    case .cadence(let stepsPerMinute): .cadenceStepsPerMinute(stepsPerMinute)
    case .pedometer(let meters): .pedometerMeters(meters)
    case .motion(let activity): .motion(word(activity))
    }
  }

  private static func message(_ setup: RunSetup) -> WireStoredSetup {
    var message = WireStoredSetup()
    if let weight = setup.weightKilograms { message.weightKilograms = weight }
    message.autoPause = setup.isAutoPauseOn
    message.pedometer = setup.usesPedometer
    return message
  }

  private static func value(_ message: WireStoredSetup) -> RunSetup {
    RunSetup(
      weightKilograms: message.hasWeightKilograms ? message.weightKilograms : nil,
      isAutoPauseOn: message.autoPause, usesPedometer: message.pedometer)
  }

  /// Encodes the name of a device that has a number.
  package static func stored(_ device: DeviceID) -> [UInt8] {
    var message = WireStoredDevice()
    message.deviceID = device.rawValue
    return stored(message)
  }

  /// Reads the name of a device that has a number.
  package static func deviceName(_ bytes: [UInt8]) throws(StoredError) -> DeviceID {
    let message: WireStoredDevice = try open(bytes)
    return try reading { () throws(WireError) in try device(message.deviceID) }
  }
}
