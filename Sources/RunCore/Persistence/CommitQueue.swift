/// Identifies a commit within one incarnation of a node.
package typealias CommitID = UInt64

/// How long writes may wait.
enum CommitTiming {
  /// Upper bound on how long a non-urgent write may wait for an urgent one to share its commit, in real time.
  static let writeDelayMax = BusDuration.milliseconds(250)
}

/// Group commit: one commit is in flight while the next batch gathers. A batch also holds the actions that may only
/// follow its commit.
///
/// A write that no action waits for (removed rows, acknowledgements) is not urgent: it is committed with the next
/// urgent write, or at its deadline. All writes keep their order.
struct CommitQueue<Action: Sendable>: Sendable {
  private struct Batch: Sendable {
    var operations: [StoreOperation] = []
    var then: [Action] = []
    var isUrgent = false
    var dueAt: BusTime?

    /// Drops the writes of accepted commands that the same batch judges, because the verdict would delete their rows.
    mutating func dropJudgedRows() {
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
  /// When the commit in flight is tried again; `nil` unless it has failed.
  private var retryAt: BusTime?

  /// The size of a batch above which the core accepts nothing more: more than a minute of writes of a fast bus.
  static var operationsMax: Int { 50_000 }
  /// Whether the batch that gathers is so large that the core must accept nothing more.
  var isCongested: Bool { gathering.operations.count >= Self.operationsMax }
  /// How many writes the gathering batch has.
  var gatheringCount: Int { gathering.operations.count }
  /// Whether nothing gathers and nothing is in flight.
  var isIdle: Bool { inFlight == nil && gathering.operations.isEmpty && gathering.then.isEmpty }
  /// Whether no commit is in flight and no urgent write gathers.
  var isUrgentWorkDone: Bool { inFlight == nil && !gathering.isUrgent }
  /// When the writes that are not urgent must be committed, or the commit in flight is tried again.
  var deadline: BusTime? { inFlight == nil ? gathering.dueAt : retryAt }

  /// Adds writes to the gathering batch.
  ///
  /// - Parameters:
  ///   - operations: the writes.
  ///   - then: the actions that may only follow the commit.
  ///   - dueAt: the latest moment for the commit; `nil` for an urgent write.
  mutating func add(_ operations: [StoreOperation], then: [Action], dueAt: BusTime? = nil) {
    gathering.operations += operations
    gathering.then += then
    if let dueAt {
      gathering.dueAt = min(gathering.dueAt ?? dueAt, dueAt)
    } else {
      gathering.isUrgent = true
    }
  }

  /// Changes the actions that follow commits under way.
  mutating func changeActions(_ change: (inout Action) -> Void) {
    for index in gathering.then.indices { change(&gathering.then[index]) }
    guard var current = inFlight else { return }
    for index in current.batch.then.indices { change(&current.batch.then[index]) }
    inFlight = current
  }

  /// Begins the next commit; `nil` when one is in flight or nothing is due.
  mutating func next(at now: BusTime) -> (id: CommitID, operations: [StoreOperation])? {
    guard inFlight == nil, !gathering.operations.isEmpty || !gathering.then.isEmpty else { return nil }
    guard gathering.isUrgent || gathering.dueAt.map({ $0 <= now }) ?? false else { return nil }
    lastID += 1
    gathering.dropJudgedRows()
    inFlight = (lastID, gathering)
    gathering = Batch()
    return inFlight.map { ($0.id, $0.batch.operations) }
  }

  /// Ends a commit that is durable, and returns its actions; none for an id that is not in flight.
  mutating func committed(_ id: CommitID) -> [Action] {
    guard let current = inFlight, current.id == id else { return [] }
    inFlight = nil
    retryAt = nil
    return current.batch.then
  }

  /// A commit has failed for a reason that may pass.
  ///
  /// - Returns: `false` for an id that is not in flight.
  mutating func fail(_ id: CommitID, retryAt: BusTime) -> Bool {
    guard isInFlight(id) else { return false }
    self.retryAt = retryAt
    return true
  }

  /// The commit that has failed, when the moment for its next try has come.
  mutating func retry(at now: BusTime) -> (id: CommitID, operations: [StoreOperation])? {
    guard let due = retryAt, due <= now else { return nil }
    retryAt = nil
    return again()
  }

  /// Whether this is the commit in flight.
  func isInFlight(_ id: CommitID) -> Bool { inFlight?.id == id }

  /// The commit in flight, to be tried again after a failure that may pass.
  func again() -> (id: CommitID, operations: [StoreOperation])? {
    inFlight.map { ($0.id, $0.batch.operations) }
  }
}
