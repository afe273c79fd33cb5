/// One phase transition of the authoritative run state.
package struct Transition: Hashable, Sendable {
  // It stands first, where it takes no room: a run has thousands of entries, each as large as the largest.
  /// The goal of the run that a start begins; `nil` without one, and for any other kind.
  package let goal: RunGoal?
  /// The kind of the command that made it.
  package let kind: CommandKind
  /// The revision that it made.
  package let revision: UInt64
  /// The command that made it.
  package let change: Author

  /// A transition from its parts.
  package init(kind: CommandKind, revision: UInt64, change: Author, goal: RunGoal? = nil) {
    self.goal = goal
    self.kind = kind
    self.revision = revision
    self.change = change
  }
}

/// The runner's choices for one run. The ledger contains them, so that the metrics do not change when a hub with other
/// settings computes them later.
public struct RunSetup: Hashable, Sendable {
  /// The runner's weight, kilograms; without it there is no energy.
  public var weightKilograms: Double?
  /// Whether the clock stops while the runner stands still.
  public var isAutoPauseOn: Bool
  /// Whether a pedometer measures the distance where positions are missing or contradict it.
  public var usesPedometer: Bool

  /// A setup from its parts. The defaults are those of a run whose ledger has no setup entry.
  public init(weightKilograms: Double? = nil, isAutoPauseOn: Bool = false, usesPedometer: Bool = true) {
    self.weightKilograms = weightKilograms
    self.isAutoPauseOn = isAutoPauseOn
    self.usesPedometer = usesPedometer
  }
}

/// What can happen in a run.
package enum LedgerEvent: Hashable, Sendable {
  /// The phase changed.
  case transition(Transition)
  /// A lap was marked.
  case lap(Author)
  /// A sensor reading and the device that took it.
  case sample(SampleValue, DeviceID)
  /// The hub was down from the entry's time for this long. The phase stays the same and no active time is added.
  case gap(BusDuration)
  /// The runner's choices. The hub writes it at the start of a run when they differ from the defaults.
  case setup(RunSetup)

  /// Whether the entry says when the run was on, and nothing of what was measured. The time line of a run stays when its
  /// journal is dropped.
  package var isOfTimeLine: Bool {
    switch self {
    case .transition, .gap: true
    case .lap, .sample, .setup: false
    }
  }
}

/// One entry of a run's ledger.
package struct LedgerEntry: Hashable, Sendable {
  /// When it happened, on the hub's time line.
  package let time: BusTime
  /// Its position in the journal, which breaks ties.
  package let position: UInt64
  /// What happened.
  package let event: LedgerEvent

  /// An entry from its parts.
  package init(time: BusTime, position: UInt64, event: LedgerEvent) {
    self.time = time
    self.position = position
    self.event = event
  }

  /// Whether one entry comes before another in a ledger.
  ///
  /// Entries are ordered by time, then setup, transitions, laps, gaps and samples, samples by kind and device, and last
  /// by journal position. So the metrics do not depend on which reading of an instant arrived first.
  package static func precedes(_ left: LedgerEntry, _ right: LedgerEntry) -> Bool {
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

  /// Puts entries in order. In a journal a reading stands a few places from where it belongs, so each is moved there by
  /// itself; when that is more work than a sort, the rest is sorted.
  package static func sort(_ entries: inout [LedgerEntry]) {
    var steps = 8 * entries.count
    for index in entries.indices.dropFirst() {
      var place = index
      while place > 0, steps > 0, precedes(entries[place], entries[place - 1]) {
        entries.swapAt(place, place - 1)
        place -= 1
        steps -= 1
      }
      guard steps > 0 else { return entries.sort(by: precedes) }
    }
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
