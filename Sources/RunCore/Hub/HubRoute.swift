// The run's pieces: its route, published as it grows and changes, and what a peer asks about the run.
extension HubCore {
  /// What is known of those who follow the route.
  struct RouteFollowing: Sendable {
    /// Somebody has subscribed in this life.
    var isWanted = false
    /// A run has begun of which nothing is published yet.
    var isNewRun = false
    /// The number of the last part that was published.
    var number: UInt64 = 0
  }

  /// Somebody subscribed to the route. What was before is for those who ask; who asked already must learn that it has
  /// missed something.
  mutating func followRoute() {
    guard !route.isWanted else { return }
    route.isWanted = true
    route.isNewRun = false
    _ = ledger.takeRouteChange()
    route.number += 1
  }

  /// The ledger is another run's from here on.
  mutating func beginRoute() { route.isNewRun = true }

  /// What the commit that is being put together changes of the route, to be published once it is durable. Nothing is
  /// built as long as nobody has ever asked for it.
  mutating func publishRoute() -> [Effect] {
    guard route.isWanted, let runID = arbiter.control.runID else { return [] }
    ledger.foldAll()
    guard let from = ledger.takeRouteChange() ?? (route.isNewRun ? 0 : nil) else { return [] }
    route.isNewRun = false
    var effects: [Effect] = []
    var index = from
    repeat {
      route.number += 1
      let part = routePart(of: runID, from: index)
      effects.append(.act(.publish(.route(part))))
      index += RoutePart.pointsMax
    } while index < ledger.route.count
    return effects
  }

  private func routePart(of runID: RunID, from: Int) -> RoutePart {
    let points = ledger.route
    return RoutePart(
      runID: runID, term: term, number: route.number, from: from,
      points: Array(points.dropFirst(from).prefix(RoutePart.pointsMax)), total: points.count)
  }

  /// The numbers of the present run, or else of the last one, with their pieces.
  mutating func reportAnswer(at now: BusTime) -> InquiryAnswer {
    sendOffSamples(at: now)
    return .report(arbiter.control.runID == nil ? nil : ledger.report(at: now))
  }

  /// A part of its route.
  mutating func routeAnswer(from: Int, at now: BusTime) -> InquiryAnswer {
    sendOffSamples(at: now)
    ledger.foldAll()
    return .route(arbiter.control.runID.map { routePart(of: $0, from: max(0, from)) })
  }

  /// What gathers is committed, and published, now: an answer that leaves after that holds nothing that could be lost,
  /// and nothing of which followers will not hear.
  private mutating func sendOffSamples(at now: BusTime) {
    if !samples.operations.isEmpty { commitSamples(at: now) }
  }
}
