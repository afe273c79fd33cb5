/// One event of a node while it is handled: its time, what the node does about it, and what it writes.
///
/// Every part of a core that handles the event gets the turn and adds to it, in the order of its decisions.
struct Turn<Action: Sendable>: Sendable {
  typealias Durable = RunCore.Durable<Action>

  /// What a core keeps from one turn to the next: its commits, its random numbers, its clock, and when it is to be woken.
  struct Rest: Sendable {
    var commits = CommitQueue<Durable>()
    var generator: SeededGenerator
    /// The next moment at which the core has something to do; `nil` if there is none.
    var deadline: BusTime?
    /// Converts the core's time to that of the monotonic clock.
    let clock: BusClock
    /// What was repeated since the driver took it.
    var tally = DeliveryTally()
  }

  /// The time of the event, on the core's clock.
  let now: BusTime
  private let clock: BusClock
  /// What the driver is to do, in order.
  private(set) var actions: [Action] = []
  /// The commits under way and the one that gathers.
  var commits: CommitQueue<Durable>
  var generator: SeededGenerator
  /// What was repeated, in this event and before.
  var tally: DeliveryTally

  /// Begins a turn with what the last one left.
  init(at now: BusTime, _ rest: inout Rest) {
    self.now = now
    clock = rest.clock
    (commits, generator, tally) = (rest.commits, rest.generator, rest.tally)
    // With two holders each write would copy the commit that gathers.
    rest.commits = CommitQueue()
  }

  /// Ends the turn, and returns its actions.
  consuming func end(_ rest: inout Rest) -> [Action] {
    (rest.commits, rest.generator, rest.tally) = (commits, generator, tally)
    return actions
  }

  /// The time of the event on the monotonic clock, at real speed.
  var monotonic: BusTime { clock.real(at: now) }

  /// Adds an action, or several.
  mutating func act(_ actions: Action...) { self.actions += actions }

  mutating func act(contentsOf actions: [Action]) { self.actions += actions }

  /// Adds writes to the commit that gathers.
  ///
  /// - Parameters:
  ///   - operations: The writes.
  ///   - then: What follows once they are durable.
  ///   - isUrgent: Whether they are committed at once. If not, they wait a moment for others.
  mutating func write(_ operations: [StoreOperation], then: [Durable] = [], isUrgent: Bool = true) {
    let patience = isUrgent ? nil : clock.speed.bus(fromReal: CommitTiming.writeDelayMax)
    commits.add(operations, then: then, dueAt: patience.map { now + $0 })
  }

  /// Adds writes that wait for others until a moment.
  mutating func write(_ operations: [StoreOperation], by due: BusTime) {
    commits.add(operations, then: [], dueAt: due)
  }

  /// What waits for writes about the newest values for a store goes to the store that follows it; see
  /// ``Durable/moved(from:to:)``.
  mutating func moveValues(from store: StoreID, to heir: StoreID) {
    commits.changeActions { $0 = $0.moved(from: store, to: heir) }
  }

  /// Whether so much gathers that the core must accept nothing more.
  var isCongested: Bool { commits.isCongested }
}
