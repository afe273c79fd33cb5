// The route of the run, published as it grows and changes, and the answers to questions about the run.
extension HubCore {
  /// The state of publishing the route.
  struct RouteFollowing: Sendable {
    /// Whether anybody has subscribed in this incarnation.
    var isWanted = false
    /// Whether a run has begun of which nothing is published yet.
    var isNewRun = false
    /// The number of the last part that was published.
    var number: UInt64 = 0
  }

  /// Starts to publish the route when somebody subscribes for the first time. Subscribers ask for the part before that.
  /// The number grows, so that one that has asked already notices that it missed something.
  mutating func followRoute() {
    guard !route.isWanted else { return }
    route.isWanted = true
    route.isNewRun = false
    _ = ledger.takeRouteChange()
    route.number += 1
  }

  /// Notes that the ledger is that of a new run from here on.
  mutating func beginRoute() { route.isNewRun = true }

  /// Returns effects that publish what the commit in preparation changes in the route. Nothing is computed before the
  /// first subscription.
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

  /// A report on the present run, or else on the last one.
  mutating func reportAnswer(at now: BusTime) -> InquiryAnswer {
    sendOffSamples(at: now)
    return .report(arbiter.control.runID == nil ? nil : ledger.report(at: now))
  }

  /// A part of the same run's route, from a point on.
  mutating func routeAnswer(from: Int, at now: BusTime) -> InquiryAnswer {
    sendOffSamples(at: now)
    ledger.foldAll()
    return .route(arbiter.control.runID.map { routePart(of: $0, from: max(0, from)) })
  }

  /// Commits and publishes gathered samples now. An answer that leaves after that commit holds nothing that could be
  /// lost or that followers of the route would miss.
  private mutating func sendOffSamples(at now: BusTime) {
    if !samples.operations.isEmpty { commitSamples(at: now) }
  }
}
