import Foundation
package import RunBus

/// A value of the state as its JSON states it.
package enum StateValue: Hashable, Sendable, Codable {
  case null
  case boolean(Bool)
  case whole(Int64)
  case number(Double)
  case text(String)
  case list([StateValue])
  case object([String: StateValue])

  /// The JSON of `busnode state --json`.
  package init(_ snapshot: Snapshot) {
    // A snapshot is made of strings and finite numbers, which JSON can always encode and read back.
    let data = try? JSONEncoder().encode(snapshot)
    self = data.flatMap { try? JSONDecoder().decode(StateValue.self, from: $0) } ?? .null
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .whole(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([StateValue].self) {
      self = .list(value)
    } else {
      self = .object(try container.decode([String: StateValue].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .boolean(let value): try container.encode(value)
    case .whole(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .list(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// A member of an object; `null` where there is none.
  package func member(_ name: Substring) -> StateValue {
    if case .object(let members) = self { members[String(name)] ?? .null } else { .null }
  }
}

/// A field of the state, by its path in the JSON of `busnode state --json`.
package struct StateField: Hashable, Sendable {
  /// What the values of a field are.
  package enum Form: Hashable, Sendable {
    /// A whole number.
    case whole
    case boolean
    /// A word of a set, or any word when the set is empty.
    case word([String])
    /// A number in units of people, of which the first is the one in the JSON.
    case measure(Measure)
    /// A list of words of a set.
    case list([String])
    case object
  }

  /// A kind of number with a unit.
  package enum Measure: Hashable, Sendable { case time, length, pace, heartRate, cadence, energy }

  /// Its path in the JSON, with dots.
  package let path: String
  package let form: Form

  /// Finds a field by its path, also without `metrics.`, or by its short name, which lacks the unit as well:
  /// `metrics.distanceMeters`, `distanceMeters`, `distance`.
  ///
  /// - Throws: ``TextError`` that names the nearest field.
  package init(_ name: some StringProtocol) throws(TextError) {
    let name = String(name)
    let found = Self.all.first { $0.path == name || $0.shortName == name || $0.path == "metrics." + name }
    guard let field = found else {
      let guess = Self.nearest(name)
      throw TextError(
        "the state has no field '\(name)'"
          + (guess.map { ": did you mean \($0)?" } ?? " (busnode state --json shows all)"))
    }
    self = field
  }

  private init(path: String, form: Form) { (self.path, self.form) = (path, form) }

  /// Its value in the JSON of a snapshot; `null` when it is not known.
  package func value(in state: StateValue) -> StateValue {
    path.split(separator: ".").reduce(state) { $0.member($1) }
  }

  /// Its value in a snapshot; `null` when it is not known.
  package func value(in snapshot: Snapshot) -> StateValue { value(in: StateValue(snapshot)) }

  /// The path without `metrics.` and without its unit.
  package var shortName: String {
    let bare = path.hasPrefix("metrics.") ? String(path.dropFirst("metrics.".count)) : path
    let unit = Self.units.first { bare.hasSuffix($0) && bare != $0 }
    return unit.map { String(bare.dropLast($0.count)) } ?? bare
  }

  private static let units = [
    "SecondsPerKilometer", "BusNanoseconds", "StepsPerMinute", "Seconds", "Meters", "Bpm", "Joules",
  ]

  private static func nearest(_ name: String) -> String? {
    let lowered = name.lowercased()
    let near = all.flatMap { [$0.path, $0.shortName] }.map {
      (name: $0, slips: Spelling.slips(from: lowered, to: $0.lowercased()))
    }
    let close = near.filter { $0.slips == 0 || Spelling.isClose(lowered, $0.name.lowercased()) }
    return close.min { ($0.slips, $0.name.count) < ($1.slips, $1.name.count) }?.name
  }
}

extension StateField {
  private static let ofState: [(String, Form)] = [
    ("term", .whole), ("revision", .whole), ("tick", .whole), ("phase", .word(RunPhase.allCases.map(\.rawValue))),
    ("runId", .word([])), ("changedBy", .object), ("changedBy.source", .word([])), ("changedBy.deviceId", .word([])),
    ("changedBy.commandId", .word([])), ("recovering", .boolean), ("clockStopped", .boolean),
    ("startedAtBusNanoseconds", .whole), ("capturedAtBusNanoseconds", .whole), ("goalSeconds", .measure(.time)),
    ("remainingSeconds", .measure(.time)), ("metrics", .object),
  ]

  private static let ofMetrics: [(String, Form)] = [
    ("elapsedSeconds", .measure(.time)), ("activeSeconds", .measure(.time)), ("distanceMeters", .measure(.length)),
    ("pedometerMeters", .measure(.length)), ("currentPaceSecondsPerKilometer", .measure(.pace)),
    ("averagePaceSecondsPerKilometer", .measure(.pace)), ("bestPaceSecondsPerKilometer", .measure(.pace)),
    ("worstPaceSecondsPerKilometer", .measure(.pace)), ("heartRateBpm", .measure(.heartRate)),
    ("averageHeartRateBpm", .measure(.heartRate)), ("maxHeartRateBpm", .measure(.heartRate)),
    ("cadenceStepsPerMinute", .measure(.cadence)), ("averageCadenceStepsPerMinute", .measure(.cadence)),
    ("altitudeMeters", .measure(.length)), ("elevationGainMeters", .measure(.length)),
    ("elevationLossMeters", .measure(.length)), ("energyJoules", .measure(.energy)),
    ("positionAccuracyMeters", .measure(.length)),
    ("activity", .word(["walking", "running", "stationary", "unknown"])), ("activityInferred", .boolean),
    ("autoPaused", .boolean), ("lapCount", .whole), ("ages", .object), ("stale", .list(groups)),
  ]

  private static let groups = ["distance", "position", "heartRate", "cadence", "elevation", "activity"]

  /// All fields, in the order of docs/json.md.
  package static let all: [StateField] =
    ofState.map { StateField(path: $0, form: $1) } + ofMetrics.map { StateField(path: "metrics." + $0, form: $1) }
    + groups.map { StateField(path: "metrics.ages.\($0)Seconds", form: .measure(.time)) }
}
