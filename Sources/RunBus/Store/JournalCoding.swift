import Foundation
import RunCore

/// The kind of a journal row. The numbers are part of the file format and never reused.
enum JournalKind: Int64 {
  case transition = 1
  case lap = 2
  case gap = 3
  case position = 4
  case altitude = 5
  case heartRate = 6
  case cadence = 7
  case pedometer = 8
  case motion = 9
  /// A transition without a revision: it amended a run that was over, or belongs to a run that arrived whole.
  case amendment = 10
  case setup = 11
}

/// Encodes journal rows. Samples are the bulk of a store, so their encoding is compact.
enum JournalCoding {
  static func encode(_ event: LedgerEvent) -> (kind: JournalKind, payload: Data) {
    var writer = ByteWriter()
    switch event {
    case .transition(let transition):
      writer.append(code(transition.kind))
      writer.append(transition.revision)
      writer.append(transition.change)
      return (.transition, writer.data)
    case .lap(let change):
      writer.append(change)
      return (.lap, writer.data)
    case .gap(let duration):
      writer.append(duration.nanoseconds)
      return (.gap, writer.data)
    case .setup(let setup):
      writer.append((setup.isAutoPauseOn ? 1 : 0) | (setup.usesPedometer ? 2 : 0) as UInt8)
      if let weight = setup.weightKilograms { writer.append(weight) }
      return (.setup, writer.data)
    case .sample(let value, let deviceID):
      writer.append(deviceID.rawValue)
      return (append(value, to: &writer), writer.data)
    }
  }

  /// `nil` for bytes that no version of this code has written.
  static func decode(kind: JournalKind, payload: Data) -> LedgerEvent? {
    var reader = ByteReader(payload)
    guard let event = read(kind, from: &reader), reader.isAtEnd else { return nil }
    return event
  }

  /// Appends a reading without its kind. It must be the last value of its row.
  static func append(_ value: SampleValue, to writer: inout ByteWriter) -> JournalKind {
    switch value {
    case .position(let position):
      writer.append(position.latitude)
      writer.append(position.longitude)
      if let accuracy = position.horizontalAccuracyMeters { writer.append(accuracy) }
      return .position
    case .altitude(let meters, let source):
      writer.append(meters)
      writer.append(code(source))
      return .altitude
    case .heartRate(let bpm):
      writer.append(bpm)
      return .heartRate
    case .cadence(let stepsPerMinute):
      writer.append(stepsPerMinute)
      return .cadence
    case .pedometer(let meters):
      writer.append(meters)
      return .pedometer
    case .motion(let activity):
      writer.append(code(activity))
      return .motion
    }
  }

  private static func read(_ kind: JournalKind, from reader: inout ByteReader) -> LedgerEvent? {
    switch kind {
    case .transition, .amendment:
      guard let code = reader.byte(), let kind = commandKind(code), let revision = reader.unsigned(),
        let change = reader.change()
      else { return nil }
      return .transition(Transition(kind: kind, revision: revision, change: change))
    case .lap:
      return reader.change().map(LedgerEvent.lap)
    case .gap:
      return reader.signed().map { .gap(BusDuration(nanoseconds: $0)) }
    case .setup:
      guard let flags = reader.byte() else { return nil }
      var setup = RunSetup()
      setup.isAutoPauseOn = flags & 1 != 0
      setup.usesPedometer = flags & 2 != 0
      if !reader.isAtEnd {
        guard let weight = reader.double() else { return nil }
        setup.weightKilograms = weight
      }
      return .setup(setup)
    case .position, .altitude, .heartRate, .cadence, .pedometer, .motion:
      guard let deviceID = reader.text().flatMap({ DeviceID($0) }), let value = readSample(kind, from: &reader) else {
        return nil
      }
      return .sample(value, deviceID)
    }
  }

  /// Reads the rest of a row as a reading.
  static func readSample(_ kind: JournalKind, from reader: inout ByteReader) -> SampleValue? {
    switch kind {
    case .position:
      guard let latitude = reader.double(), let longitude = reader.double() else { return nil }
      var accuracy: Double?
      if !reader.isAtEnd {
        guard let value = reader.double() else { return nil }
        accuracy = value
      }
      return .position(Position(latitude: latitude, longitude: longitude, horizontalAccuracyMeters: accuracy))
    case .altitude:
      guard let meters = reader.double(), let source = reader.byte().flatMap(altitudeSource) else { return nil }
      return .altitude(meters: meters, source)
    case .heartRate: return reader.double().map(SampleValue.heartRate)
    case .cadence: return reader.double().map(SampleValue.cadence)
    case .pedometer: return reader.double().map(SampleValue.pedometer)
    case .motion: return reader.byte().flatMap(activity).map(SampleValue.motion)
    case .transition, .amendment, .lap, .gap, .setup: return nil
    }
  }
}

/// The numbers of enum cases. They are part of the file format and never reused.
extension JournalCoding {
  static func code(_ kind: CommandKind) -> UInt8 {
    switch kind {
    case .start: 1
    case .pause: 2
    case .resume: 3
    case .stop: 4
    case .lap: 5
    }
  }
  static func commandKind(_ code: UInt8) -> CommandKind? { CommandKind.allCases.first { Self.code($0) == code } }

  private static func code(_ source: AltitudeSource) -> UInt8 {
    switch source {
    case .gps: 1
    case .barometer: 2
    case .unstated: 3
    }
  }
  private static func altitudeSource(_ code: UInt8) -> AltitudeSource? {
    [AltitudeSource.gps, .barometer, .unstated].first { Self.code($0) == code }
  }
  private static func code(_ activity: MotionActivity) -> UInt8 {
    switch activity {
    case .walking: 1
    case .running: 2
    case .stationary: 3
    case .unknown: 4
    }
  }
  private static func activity(_ code: UInt8) -> MotionActivity? {
    MotionActivity.allCases.first { Self.code($0) == code }
  }
}

extension ByteWriter {
  mutating func append(_ change: Author) {
    append(change.commandID)
    append(change.source.rawValue)
    append(change.deviceID.rawValue)
  }
}

extension ByteReader {
  mutating func change() -> Author? {
    guard let commandID: CommandID = identifier(), let source = text(), let deviceID = text().flatMap({ DeviceID($0) })
    else { return nil }
    return Author(source: ControlSource(rawValue: source), deviceID: deviceID, commandID: commandID)
  }
}
