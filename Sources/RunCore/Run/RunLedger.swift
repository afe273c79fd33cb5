/// One run's entries in order of when they happened, and the numbers they fold to.
///
/// An entry at the end folds at once. A late one lands where it belongs: the fold goes back to the nearest checkpoint
/// before it and catches up a bounded piece with every insertion, so that an hour of heart rates from a watch that was
/// away never stalls the run. The numbers are those of a full fold at any time, to the last bit.
public struct RunLedger: Sendable {
  /// Every entry, in the order of ``LedgerEntry/precedes(_:_:)``.
  public private(set) var entries: [LedgerEntry] = []

  /// A new checkpoint every this many entries: about three seconds of a run, so that readings that take a second or two
  /// on their way from the watch send the fold back by few.
  private static let checkpointSpacing = 16
  /// More checkpoints than this are thinned out. So many lie a fifth of their age apart at most, even after
  /// ten hours.
  private static let checkpointsMax = 64
  /// How many entries that a late one has left behind are folded again with each insertion.
  private static let catchUpMax = 64

  /// A class, because a calculator is two thousand bytes, and dropping one of an array would move the others.
  private final class Checkpoint: Sendable {
    /// How many entries are folded into it.
    let count: Int
    let calculator: Calculator
    /// How many points the route had then.
    let routeCount: Int

    init(count: Int, calculator: Calculator, routeCount: Int) {
      self.count = count
      self.calculator = calculator
      self.routeCount = routeCount
    }
  }

  /// The checkpoint before the first entry.
  private let empty: Checkpoint
  private var checkpoints: [Checkpoint] = []
  private var calculator: Calculator
  /// How many entries are folded into `calculator`.
  private var folded = 0
  private var phases = PhaseTrack()
  private var routeChangedFrom: Int?

  /// An empty ledger.
  public init(settings: MetricsSettings = MetricsSettings()) {
    calculator = Calculator(settings: settings)
    empty = Checkpoint(count: 0, calculator: calculator, routeCount: 0)
  }

  /// A ledger with a past, in whatever order it is told: folded once, where one entry after the other would fold a stretch
  /// again for every reading that came late.
  public init(settings: MetricsSettings = MetricsSettings(), entries: some Sequence<LedgerEntry>) {
    self.init(settings: settings)
    let entries = Array(entries)
    let isInOrder = !zip(entries, entries.dropFirst()).contains { LedgerEntry.precedes($1, $0) }
    self.entries = isInOrder ? entries : entries.sorted(by: LedgerEntry.precedes)
    for entry in self.entries {
      if case .transition(let transition) = entry.event {
        phases.insert(transition.kind, at: entry.time, position: entry.position)
      }
    }
    foldAll()
  }

  /// When the run started; `nil` before it has.
  public var startedAt: BusTime? { phases.startedAt }
  /// When the run was stopped; `nil` before it was.
  public var stoppedAt: BusTime? { phases.stoppedAt }
  /// The phase that the ledger shows at a moment, with all that happened up to and at it.
  public func phase(at time: BusTime) -> RunPhase { phases.phase(at: time) }

  /// Puts an entry where it belongs.
  public mutating func insert(_ entry: LedgerEntry) {
    let index = place(of: entry)
    // Nearly all come at the end.
    if index == entries.count { entries.append(entry) } else { entries.insert(entry, at: index) }
    if case .transition(let transition) = entry.event {
      phases.insert(transition.kind, at: entry.time, position: entry.position)
    }
    if index < folded { goBack(to: index) }
    catchUp()
  }

  /// Takes an entry out again, as if it had never been there.
  public mutating func remove(_ entry: LedgerEntry) {
    // Behind its equals, as it was put there.
    let index = place(of: entry) - 1
    guard index >= 0, entries[index] == entry else { return }
    entries.remove(at: index)
    if index < folded { goBack(to: index) }
    catchUp()
  }

  /// Puts entries where they belong.
  public mutating func insert(contentsOf entries: some Sequence<LedgerEntry>) {
    for entry in entries { insert(entry) }
  }

  /// Folds what late entries have left behind: the route is whole then. As much work as the numbers are.
  public mutating func foldAll() {
    while folded < entries.count { catchUp() }
  }

  /// What became of every fix of the run, in order.
  public private(set) var route: [RoutePoint] = []
  /// The first point of the route that is new or has changed since this was asked last; `nil` when none has. The end of
  /// the route, when points were only taken away: they come again with the next insertions.
  public mutating func takeRouteChange() -> Int? {
    defer { routeChangedFrom = nil }
    return routeChangedFrom
  }

  /// The numbers at a moment; see ``Calculator/metrics(at:)``.
  public func metrics(at now: BusTime) -> RunMetrics { caughtUp.metrics(at: now) }
  /// The numbers at a moment with their pieces; see ``Calculator/report(at:)``.
  public func report(at now: BusTime) -> RunReport { caughtUp.report(at: now) }

  /// The calculator with every entry folded.
  private var caughtUp: Calculator {
    guard folded < entries.count else { return calculator }
    var calculator = calculator
    for entry in entries[folded...] { calculator.fold(entry) }
    return calculator
  }

  /// Behind everything that precedes it, and behind its equals: insertions in order stay in order.
  private func place(of entry: LedgerEntry) -> Int {
    if let last = entries.last, !LedgerEntry.precedes(entry, last) { return entries.count }
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if LedgerEntry.precedes(entry, entries[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private mutating func goBack(to index: Int) {
    while let last = checkpoints.last, last.count > index { checkpoints.removeLast() }
    let checkpoint = checkpoints.last ?? empty
    (calculator, folded) = (checkpoint.calculator, checkpoint.count)
    guard checkpoint.routeCount < route.count else { return }
    route.removeSubrange(checkpoint.routeCount...)
    routeChangedFrom = min(routeChangedFrom ?? checkpoint.routeCount, checkpoint.routeCount)
  }

  private mutating func catchUp() {
    let end = min(entries.count, folded + Self.catchUpMax)
    while folded < end {
      if let point = calculator.fold(entries[folded]) {
        routeChangedFrom = routeChangedFrom ?? route.count
        route.append(point)
      }
      folded += 1
      if folded.isMultiple(of: Self.checkpointSpacing) {
        checkpoints.append(Checkpoint(count: folded, calculator: calculator, routeCount: route.count))
        if checkpoints.count > Self.checkpointsMax { thinOut() }
      }
    }
  }

  /// Drops the checkpoint that is missed least: the entries between its neighbours are few for its age. So the distance
  /// between checkpoints grows with their age, and a late entry sends the fold back by a share of its lateness more.
  private mutating func thinOut() {
    var least = Double.infinity
    var dropped = 0
    var before = 0
    for index in checkpoints.indices.dropLast() {
      let count = checkpoints[index].count
      let share = Double(checkpoints[index + 1].count - before) / Double(folded - count)
      if share < least { (least, dropped) = (share, index) }
      before = count
    }
    checkpoints.remove(at: dropped)
  }
}
