/// One phase transition of the authoritative run state.
public struct Transition: Hashable, Sendable, Codable {
  /// What made it.
  public let kind: CommandKind
  /// The revision it made.
  public let revision: UInt64
  /// Who asked.
  public let change: Author

  /// A transition from its parts.
  public init(kind: CommandKind, revision: UInt64, change: Author) {
    self.kind = kind
    self.revision = revision
    self.change = change
  }
}

/// What a runner chose for a run. It is kept with the run, so that its numbers stay the same whoever folds them later.
public struct RunSetup: Hashable, Sendable, Codable {
  /// The runner's weight, kilograms; without it there is no energy.
  public var weightKilograms: Double?
  /// The clock stands while the runner does.
  public var isAutoPauseOn: Bool
  /// A pedometer fills in where positions are missing or contradict it.
  public var usesPedometer: Bool

  /// A setup from its parts; without any, what a run has that says nothing.
  public init(weightKilograms: Double? = nil, isAutoPauseOn: Bool = false, usesPedometer: Bool = true) {
    self.weightKilograms = weightKilograms
    self.isAutoPauseOn = isAutoPauseOn
    self.usesPedometer = usesPedometer
  }
}

/// What can happen in a run.
public enum LedgerEvent: Hashable, Sendable, Codable {
  /// The phase changed.
  case transition(Transition)
  /// A lap was marked.
  case lap(Author)
  /// A sensor spoke; the device it belongs to.
  case sample(SampleValue, DeviceID)
  /// The hub was dead from the entry's time on, for this long: no phase change, no active time.
  case gap(BusDuration)
  /// What the runner chose, from here on; an entry of the start, where it differs from what is usual.
  case setup(RunSetup)
}

/// One entry of a run's ledger.
public struct LedgerEntry: Hashable, Sendable, Codable {
  /// When it happened, on the hub's time line.
  public let time: BusTime
  /// Its place in the journal, which breaks ties.
  public let position: UInt64
  /// What happened.
  public let event: LedgerEvent

  /// An entry from its parts.
  public init(time: BusTime, position: UInt64, event: LedgerEvent) {
    self.time = time
    self.position = position
    self.event = event
  }

  /// By time. At one instant what changes the phase comes before laps, and these before what is measured, then kind by kind and device by
  /// device, so that it does not matter who arrived first and a replay gives the same numbers every time; then by journal
  /// position.
  public static func precedes(_ left: LedgerEntry, _ right: LedgerEntry) -> Bool {
    if left.time != right.time { return left.time < right.time }
    let ranks = (left.rank, right.rank)
    if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
    if case .sample(_, let leftDevice) = left.event, case .sample(_, let rightDevice) = right.event,
      leftDevice != rightDevice
    {
      return leftDevice < rightDevice
    }
    return left.position < right.position
  }

  private var rank: Int {
    switch event {
    case .setup: -1
    case .transition: 0
    case .lap: 1
    case .gap: 2
    case .sample(let value, _):
      switch value {
      case .motion: 3
      case .position: 4
      case .altitude: 5
      case .cadence: 6
      case .pedometer: 7
      case .heartRate: 8
      }
    }
  }
}
