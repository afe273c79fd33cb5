/// What a hub's store holds of runs: their journals, and what was noted about them.
package struct StoredRuns: Sendable {
  /// All entries of each journal, ordered by position. Of a dropped journal ``journal(of:)`` returns fewer.
  package private(set) var journals: [RunID: [LedgerEntry]] = [:]
  /// Runs whose journals were dropped: only their time lines are read.
  private var dropped: Set<RunID> = []
  private var transitions = StoredTransitions()
  private var lastPosition: UInt64 = 0
  /// When runs ended whose journals are still kept.
  package private(set) var ended: [RunID: BusTime] = [:]
  /// When runs whose journals are kept began, by the wall clock of then.
  package private(set) var dates: [RunID: Double] = [:]
  /// Aliases, with the runs that they name.
  package private(set) var aliases: [RunID: RunID] = [:]
  /// Runs that wait for a recovery decision, with the moment at which the hub died.
  package private(set) var unanswered: [RunID: BusTime] = [:]
  /// Runs that never get a record.
  package private(set) var discarded: Set<RunID> = []

  /// The journal of a run, ordered by position.
  package func journal(of run: RunID) -> [LedgerEntry] {
    let entries = journals[run] ?? []
    return dropped.contains(run) ? entries.filter(\.event.isOfTimeLine) : entries
  }

  mutating func append(_ entry: LedgerEntry, to run: RunID) {
    // Positions are unique but not in order: a settlement may be written before readings that wait for their commit.
    let index = journals[run]?.lastIndex { $0.position < entry.position }.map { $0 + 1 } ?? 0
    journals[run, default: []].insert(entry, at: index)
    lastPosition = max(lastPosition, entry.position)
    guard case .transition(let transition) = entry.event else { return }
    transitions.append(PastTransition(transition, runID: run, effectiveAt: entry.time), at: entry.position)
  }

  mutating func end(_ run: RunID, at moment: BusTime) { if isKept(run) { ended[run] = moment } }
  mutating func date(_ run: RunID, _ wallSeconds: Double) { if isKept(run) { dates[run] = wallSeconds } }

  mutating func drop(_ run: RunID) {
    aliases = aliases.filter { $0.value != run }
    guard journals[run] != nil else { return }
    dropped.insert(run)
    journals[run] = journal(of: run)
    (ended[run], dates[run]) = (nil, nil)
  }

  mutating func name(_ alias: RunID, of run: RunID) { aliases[alias] = run }
  mutating func ask(about run: RunID, since: BusTime?) { unanswered[run] = since }
  mutating func discard(_ run: RunID) { discarded.insert(run) }

  func fill(_ history: inout HubHistory) {
    history.transitions = transitions.all
    history.endedJournals = ended
    history.runDates = dates
    history.aliases = aliases
    history.unanswered = unanswered
    history.discarded = discarded
    history.journal = history.presentRun.map(journal) ?? []
    history.lastPosition = lastPosition
  }

  private func isKept(_ run: RunID) -> Bool { journals[run] != nil && !dropped.contains(run) }
}

/// The last transitions with a revision and the last amendments, as many of each as `ControlState` remembers. They are
/// kept apart, so that many of one kind never push out the others.
private struct StoredTransitions: Sendable {
  private typealias Line = (position: UInt64, transition: PastTransition)
  private var made: [Line] = []
  private var amended: [Line] = []
  private var revision: UInt64 = 0

  var all: [PastTransition] { (made + amended).sorted { $0.position < $1.position }.map(\.transition) }

  mutating func append(_ transition: PastTransition, at position: UInt64) {
    if transition.revision > revision {
      revision = transition.revision
      Self.insert((position, transition), into: &made)
    } else {
      Self.insert((position, transition), into: &amended)
    }
  }

  private static func insert(_ line: Line, into list: inout [Line]) {
    list.insert(line, at: list.lastIndex { $0.position < line.position }.map { $0 + 1 } ?? 0)
    if list.count > ControlHistory.transitionsMax { list.removeFirst() }
  }
}

extension PastTransition {
  /// A transition from the journal.
  package init(_ transition: Transition, runID: RunID, effectiveAt: BusTime) {
    self.init(
      kind: transition.kind, revision: transition.revision, change: transition.change, runID: runID,
      effectiveAt: effectiveAt)
  }
}
