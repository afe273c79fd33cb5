/// The run that the hub shows, which is the present one or else the last: its ledger, and how much of its route is
/// published. It also numbers the ledger entries of all runs.
struct PresentRun: Sendable {
  /// Everything that happened in the run.
  private(set) var ledger: RunLedger
  private let metrics: MetricsSettings
  /// The position of the last ledger entry of any run.
  private var lastPosition: UInt64
  /// Whether any peer has subscribed to the route in this incarnation.
  private var isRouteWanted = false
  /// Whether a run has begun of which nothing is published yet.
  private var isRouteNew = false
  /// The number of the last part of the route that was published.
  private var routeNumber: UInt64 = 0

  /// - Parameters:
  ///   - metrics: the settings of the metrics, without the runner's setup.
  ///   - entries: the entries of the last run.
  ///   - lastPosition: the position of the last entry of any run in the store.
  init(metrics: MetricsSettings, entries: [LedgerEntry], lastPosition: UInt64) {
    self.metrics = metrics
    ledger = RunLedger(settings: metrics, entries: entries)
    self.lastPosition = lastPosition
  }

  // MARK: The ledger

  /// Makes an entry with the next position. The entry can belong to any run.
  mutating func entry(at time: BusTime, _ event: LedgerEvent) -> LedgerEntry {
    lastPosition += 1
    return LedgerEntry(time: time, position: lastPosition, event: event)
  }

  /// Begins the ledger of a new run.
  mutating func begin() {
    ledger = RunLedger(settings: metrics)
    isRouteNew = true
  }

  mutating func insert(_ entry: LedgerEntry) { ledger.insert(entry) }

  /// Lets no time since the hub's death count as active until ``releaseClock()``.
  mutating func stopClock(at death: BusTime) { ledger.stopClock(at: death) }

  /// The recovery is decided: time counts as the entries say.
  mutating func releaseClock() { ledger.releaseClock() }

  /// Removes everything that was measured. The time line stays.
  mutating func erase() {
    let timeLine = ledger.entries.filter(\.event.isOfTimeLine)
    begin()
    ledger.insert(contentsOf: timeLine)
  }

  /// Brings the metrics up to date with the entries.
  mutating func foldAll() { ledger.foldAll() }

  /// The numbers over time, of a long run at every so many readings.
  func series(of runID: RunID, at now: BusTime) -> RunSeries {
    let every = max(1, (ledger.series.count + RunSeries.samplesMax - 1) / RunSeries.samplesMax)
    return RunSeries(
      runID: runID,
      samples: stride(from: 0, to: ledger.series.count, by: every).map { ledger.series[$0] },
      pauses: ledger.pauses(to: ledger.stoppedAt ?? now).suffix(RunSeries.pausesMax))
  }

  // MARK: The route

  /// Starts to publish the route when a peer subscribes for the first time. Subscribers ask for the part before that.
  /// The number grows, so that a peer that has asked already notices that it missed something.
  mutating func followRoute() {
    guard !isRouteWanted else { return }
    isRouteWanted = true
    isRouteNew = false
    _ = ledger.takeRouteChange()
    routeNumber += 1
  }

  /// Returns the parts of the route that changed since the last call. Nothing is computed before the first subscription.
  mutating func takeRouteParts(of runID: RunID?, term: UInt64) -> [RoutePart] {
    guard isRouteWanted, let runID else { return [] }
    ledger.foldAll()
    guard let from = ledger.takeRouteChange() ?? (isRouteNew ? 0 : nil) else { return [] }
    isRouteNew = false
    var parts: [RoutePart] = []
    var index = from
    repeat {
      routeNumber += 1
      parts.append(routePart(of: runID, term: term, from: index))
      index += RoutePart.pointsMax
    } while index < ledger.route.count
    return parts
  }

  /// A part of the route, from a point on.
  func routePart(of runID: RunID, term: UInt64, from: Int) -> RoutePart {
    let points = ledger.route
    return RoutePart(
      runID: runID, term: term, number: routeNumber, from: from,
      points: Array(points.dropFirst(from).prefix(RoutePart.pointsMax)), total: points.count)
  }
}
