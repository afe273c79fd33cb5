// The route of the run, published as it grows and changes, and the answers to questions about the run.
extension HubCore {
  /// Publishes what the commit in preparation changes in the route, once that is durable.
  mutating func publishRoute() -> [Durable] {
    presentRun.takeRouteParts(of: arbiter.control.runID, term: term).map { .act(.publish(.route($0))) }
  }

  /// A report on the present run, or else on the last one.
  mutating func reportAnswer(in turn: inout Turn) -> InquiryAnswer {
    commitPendingSamples(in: &turn)
    presentRun.foldAll()
    return .report(arbiter.control.runID == nil ? nil : ledger.report(at: turn.now))
  }

  /// A part of the same run's route, from a point on.
  mutating func routeAnswer(from: Int, in turn: inout Turn) -> InquiryAnswer {
    commitPendingSamples(in: &turn)
    presentRun.foldAll()
    return .route(arbiter.control.runID.map { presentRun.routePart(of: $0, term: term, from: max(0, from)) })
  }

  /// The numbers of the same run over time.
  mutating func seriesAnswer(in turn: inout Turn) -> InquiryAnswer {
    commitPendingSamples(in: &turn)
    presentRun.foldAll()
    return .series(arbiter.control.runID.map { presentRun.series(of: $0, at: turn.now) })
  }

  /// Commits and publishes gathered samples now. An answer that leaves after that commit holds nothing that could be
  /// lost or that followers of the route would miss.
  private mutating func commitPendingSamples(in turn: inout Turn) {
    if samples.isPending { commitSamples(in: &turn) }
  }
}
