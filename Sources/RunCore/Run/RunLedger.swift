/// The entries of one run in the order in which they happened, and the metrics computed from them.
///
/// The ledger folds an entry at its end at once. For a late entry it goes back to the nearest checkpoint before the
/// entry, and folds a bounded number of entries again with each insertion, so that an hour of heart rates from a watch
/// that was out of reach never blocks the hub. Metrics are at any time those of a full fold, to the last bit.
///
/// ```swift
/// var ledger = RunLedger()
/// ledger.insert(contentsOf: entries)
/// let metrics = ledger.metrics(at: ledger.stoppedAt ?? now)
/// ```
package struct RunLedger: Sendable {
  /// Every entry, in the order of ``LedgerEntry/precedes(_:_:)``.
  package private(set) var entries: [LedgerEntry] = []
  /// How many entries were inserted one by one: two equal numbers mean equal entries.
  private(set) var insertions = 0

  /// The number of entries between two checkpoints: about three seconds of a run, so that for a reading from the watch
  /// that is a second or two late only a few entries are folded again.
  private static let checkpointSpacing = 16
  /// More checkpoints than this are thinned out. With this many, the distance between neighbours is at most a fifth of
  /// their age, even after ten hours.
  private static let checkpointsMax = 64
  /// The most entries that are folded again with each insertion.
  private static let catchUpMax = 64

  /// A class, because a calculator has about 2,000 bytes, and removing one from an array would move those after it.
  private final class Checkpoint: Sendable {
    /// The number of entries folded into it.
    let count: Int
    let calculator: Calculator
    /// The number of points of the route at the checkpoint.
    let routeCount: Int
    /// The number of samples of the series at the checkpoint.
    let seriesCount: Int

    init(count: Int, calculator: Calculator, routeCount: Int, seriesCount: Int) {
      self.count = count
      self.calculator = calculator
      self.routeCount = routeCount
      self.seriesCount = seriesCount
    }
  }

  /// The checkpoint before the first entry.
  private let empty: Checkpoint
  private var checkpoints: [Checkpoint] = []
  private var calculator: Calculator
  /// The number of entries folded into `calculator`.
  private var folded = 0
  private var phases = PhaseTrack()
  private var routeChangedFrom: Int?
  /// A gap of which only the beginning is known (``stopClock(at:)``), and how many entries precede it.
  private var openGap: (gap: LedgerEntry, index: Int)?

  /// An empty ledger.
  package init(settings: MetricsSettings = MetricsSettings()) {
    calculator = Calculator(settings: settings)
    empty = Checkpoint(count: 0, calculator: calculator, routeCount: 0, seriesCount: 0)
  }

  /// A ledger with entries in any order. It sorts them and folds them once, while inserting them one by one would fold
  /// a stretch again for every late reading.
  package init(settings: MetricsSettings = MetricsSettings(), entries: some Sequence<LedgerEntry>) {
    self.init(settings: settings)
    self.entries = Array(entries)
    LedgerEntry.sort(&self.entries)
    for index in self.entries.indices {
      if case .transition(let transition) = self.entries[index].event {
        phases.insert(transition, at: self.entries[index].time, position: self.entries[index].position)
      }
    }
    let end = self.entries.count
    for count in Self.lastingCheckpoints(of: end) {
      while folded < count { foldNext() }
      addCheckpoint()
    }
    while folded < end { foldNext() }
  }

  /// The checkpoints that a ledger of so many entries keeps, by their numbers of entries: the distance between two is a
  /// fifth of their age, as after ``thinOut()``.
  private static func lastingCheckpoints(of count: Int) -> [Int] {
    var counts: [Int] = []
    var place = count / checkpointSpacing * checkpointSpacing
    while place > 0 {
      counts.append(place)
      place -= max(1, (count - place) / 5 / checkpointSpacing) * checkpointSpacing
    }
    return counts.reversed()
  }

  /// Whether time stands since a moment; see ``stopClock(at:)``.
  public var isClockStopped: Bool { openGap != nil }
  /// When the run started; `nil` before it has.
  package var startedAt: BusTime? { phases.startedAt }
  /// When the run was stopped; `nil` before it was.
  package var stoppedAt: BusTime? { phases.stoppedAt }
  /// The goal that the start of the run names; `nil` without one.
  package var goal: RunGoal? { phases.goal }
  /// The phase of the run after all transitions up to and at a moment.
  package func phase(at time: BusTime) -> RunPhase { phases.phase(at: time) }

  /// Inserts an entry in order of time.
  package mutating func insert(_ entry: LedgerEntry) {
    insertions += 1
    let index = place(of: entry)
    // Nearly all entries belong at the end, where no search is needed.
    if index == entries.count { entries.append(entry) } else { entries.insert(entry, at: index) }
    if case .transition(let transition) = entry.event {
      phases.insert(transition, at: entry.time, position: entry.position)
    }
    if let open = openGap, LedgerEntry.precedes(entry, open.gap) { openGap?.index += 1 }
    if index < folded { goBack(to: index) }
    catchUp()
  }

  /// Lets no time from a moment on count as active until ``releaseClock()``, because the hub was down from then on and
  /// it is not decided for how long. Metrics and route are those of a gap without an end. The ledger gets no entry.
  package mutating func stopClock(at time: BusTime) {
    releaseClock()
    let gap = LedgerEntry(time: time, position: .max, event: .gap(BusDuration(nanoseconds: .max)))
    let index = place(of: gap)
    openGap = (gap, index)
    if index < folded { goBack(to: index) }
    catchUp()
  }

  /// Ends ``stopClock(at:)``: time counts as the entries say.
  package mutating func releaseClock() {
    guard let index = openGap?.index else { return }
    openGap = nil
    if index < folded { goBack(to: index) }
    catchUp()
  }

  /// Inserts entries in order of time.
  package mutating func insert(contentsOf entries: some Sequence<LedgerEntry>) {
    for entry in entries { insert(entry) }
  }

  /// How many entries late insertions have left to fold.
  package var unfoldedCount: Int { entries.count - folded }

  /// Folds all entries that late insertions have left to fold, so that the route is complete. It costs as much as
  /// reading the metrics.
  package mutating func foldAll() {
    while folded < entries.count { catchUp() }
  }

  /// Every fix of the run with its verdict, in order. It is incomplete while late entries are being folded again; see
  /// ``foldAll()``.
  package private(set) var route: [RoutePoint] = []
  /// The metrics over run time, at a reading every ten seconds, and at fewer after five and a half hours, so that the
  /// series of a week stays below 9,000 samples. It is incomplete while late entries are being folded again.
  package private(set) var series: [RunSeries.Sample] = []
  /// Returns and resets the index of the first point of the route that is new or has changed since the last call.
  ///
  /// - Returns: the index, or `nil` when no point has changed. It is the end of the route when points were only removed;
  ///   the next insertions bring them back.
  package mutating func takeRouteChange() -> Int? {
    defer { routeChangedFrom = nil }
    return routeChangedFrom
  }

  /// The metrics at a moment; see ``Calculator/metrics(at:)``.
  package func metrics(at now: BusTime) -> RunMetrics { caughtUp.metrics(at: now) }
  /// The metrics at a moment with splits, laps and distance sources; see ``Calculator/report(at:)``.
  package func report(at now: BusTime) -> RunReport { caughtUp.report(at: now) }

  /// The metrics as of a moment that may be past, with distance sources: what was entered for later does not count.
  package func report(asOf moment: BusTime) -> RunReport {
    var (count, end) = (0, entries.count)
    while count < end {
      let middle = (count + end) / 2
      if entries[middle].time > moment { end = middle } else { count = middle + 1 }
    }
    guard count < entries.count else { return report(at: moment) }
    let checkpoint = checkpoints.last { $0.count <= count } ?? empty
    var calculator = checkpoint.calculator
    for entry in entries[checkpoint.count..<count] { calculator.fold(entry) }
    return calculator.report(at: moment)
  }

  /// The calculator with every entry folded, and an open gap.
  private var caughtUp: Calculator {
    guard folded < entries.count || openGap != nil else { return calculator }
    var calculator = calculator
    for index in folded...entries.count {
      if let openGap, openGap.index == index { calculator.fold(openGap.gap) }
      if index < entries.count { calculator.fold(entries[index]) }
    }
    return calculator
  }

  /// The index at which an entry belongs: after all entries that precede it and after its equals, so that entries stay
  /// in the order of their insertion.
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
    series.removeSubrange(min(checkpoint.seriesCount, series.count)...)
    guard checkpoint.routeCount < route.count else { return }
    route.removeSubrange(checkpoint.routeCount...)
    routeChangedFrom = min(routeChangedFrom ?? checkpoint.routeCount, checkpoint.routeCount)
  }

  private mutating func catchUp() {
    let end = min(entries.count, folded + Self.catchUpMax)
    while folded < end {
      foldNext()
      if folded.isMultiple(of: Self.checkpointSpacing) {
        addCheckpoint()
        if checkpoints.count > Self.checkpointsMax { thinOut() }
      }
    }
  }

  private mutating func foldNext() {
    if let openGap, openGap.index == folded { calculator.fold(openGap.gap) }
    if let point = calculator.fold(entries[folded]) {
      routeChangedFrom = routeChangedFrom ?? route.count
      route.append(point)
    }
    sample(at: entries[folded].time)
    folded += 1
  }

  private mutating func addCheckpoint() {
    checkpoints.append(
      Checkpoint(count: folded, calculator: calculator, routeCount: route.count, seriesCount: series.count))
  }

  private mutating func sample(at time: BusTime) {
    guard let start = startedAt, time >= start, time <= stoppedAt ?? time else { return }
    let offset = time - start
    let spacing = max(RecordSeries.usualInterval, BusDuration(nanoseconds: offset.nanoseconds / 2000))
    guard series.last.map({ offset >= $0.offset + spacing }) ?? true else { return }
    series.append(RunSeries.Sample(offset: offset, values: RecordSeries.Sample(calculator.metrics(at: time))))
  }

  /// Removes the checkpoint whose neighbours have the fewest entries between them, relative to its age. So the distance
  /// between checkpoints grows with their age, and the entries folded again for a late entry stay proportional to its
  /// lateness.
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
