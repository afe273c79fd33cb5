/// Identifies a commit within one life of a node.
public typealias CommitID = UInt64

/// When writes are due.
enum CommitTiming {
  /// Upper bound on how long a non-urgent write may wait for an urgent one to share its commit, in real time.
  static let writeDelayMax = BusDuration.milliseconds(250)
}

/// Group commit: one commit is in flight while the next batch gathers, and what must follow a commit waits with it.
///
/// What nobody waits for (rows that are done with, acknowledgements) gathers without haste: it goes with the next write
/// that is urgent, or when its time has come. All writes keep their order.
struct CommitQueue<Action: Sendable>: Sendable {
  private struct Batch: Sendable {
    var operations: [StoreOperation] = []
    var then: [Action] = []
    var isUrgent = false
    var dueAt: BusTime?

    /// A command that is accepted and judged in one commit needs no row to wait in.
    mutating func forgetTheJudged() {
      var judged: Set<CommandID> = []
      for case .judge(let verdict, _, _) in operations { judged.insert(verdict.commandID) }
      guard !judged.isEmpty else { return }
      operations.removeAll {
        switch $0 {
        case .accept(let press, _): judged.contains(press.command.id)
        case .reclassify(let id, _): judged.contains(id)
        default: false
        }
      }
    }
  }
  private var gathering = Batch()
  private var inFlight: (id: CommitID, batch: Batch)?
  private var lastID: CommitID = 0

  /// More than a minute of a fast bus; a store that is further behind takes nothing more in.
  static var operationsMax: Int { 50_000 }
  /// The batch that gathers is so large that nothing more should be accepted.
  var isCongested: Bool { gathering.operations.count >= Self.operationsMax }
  /// How many writes gather.
  var gatheringCount: Int { gathering.operations.count }
  /// Nothing gathers and nothing is in flight.
  var isIdle: Bool { inFlight == nil && gathering.operations.isEmpty && gathering.then.isEmpty }
  /// Nothing that anybody waits for is still to become durable.
  var isUrgentWorkDone: Bool { inFlight == nil && !gathering.isUrgent }
  /// When what gathers without haste is to go.
  var deadline: BusTime? { inFlight == nil ? gathering.dueAt : nil }

  /// Adds writes to the batch that gathers, and what may leave once they are durable.
  ///
  /// - Parameter dueAt: the latest moment for it to go; `nil` for at once.
  mutating func add(_ operations: [StoreOperation], then: [Action], dueAt: BusTime? = nil) {
    gathering.operations += operations
    gathering.then += then
    if let dueAt {
      gathering.dueAt = min(gathering.dueAt ?? dueAt, dueAt)
    } else {
      gathering.isUrgent = true
    }
  }

  /// The next commit, when none is in flight and something has gathered that is to go by now.
  mutating func next(at now: BusTime) -> (id: CommitID, operations: [StoreOperation])? {
    guard inFlight == nil, !gathering.operations.isEmpty || !gathering.then.isEmpty else { return nil }
    guard gathering.isUrgent || gathering.dueAt.map({ $0 <= now }) ?? false else { return nil }
    lastID += 1
    gathering.forgetTheJudged()
    inFlight = (lastID, gathering)
    gathering = Batch()
    return inFlight.map { ($0.id, $0.batch.operations) }
  }

  /// A commit is durable: what may leave now. Empty for an id that is not in flight.
  mutating func committed(_ id: CommitID) -> [Action] {
    guard let current = inFlight, current.id == id else { return [] }
    inFlight = nil
    return current.batch.then
  }

  /// Whether this is the commit in flight.
  func isInFlight(_ id: CommitID) -> Bool { inFlight?.id == id }

  /// The commit in flight once more, after a failure that may pass.
  func again() -> (id: CommitID, operations: [StoreOperation])? {
    inFlight.map { ($0.id, $0.batch.operations) }
  }
}
