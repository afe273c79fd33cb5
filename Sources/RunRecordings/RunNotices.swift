package import RunCore

/// What a runner should know about the positions of a measured run, one sentence for each.
package enum RunNotices {
  /// A shorter wait for the first good position is usual.
  private static let startSecondsMin = 10.0
  /// More refused positions than one of this many are told.
  private static let refusedShareMin = 10

  /// The sentences about a route.
  package static func sentences(_ route: [RoutePoint], settings: MetricsSettings = MetricsSettings()) -> [String] {
    let judged = route.filter { $0.verdict.counts || $0.verdict.isRefusal }
    let refused = judged.filter(\.verdict.isRefusal)
    guard !refused.isEmpty else { return [] }
    guard let first = judged.first(where: \.verdict.counts) else {
      return ["none of its \(refused.count) positions counts: \(causes(refused, settings))"]
    }
    var sentences: [String] = []
    let atStart = judged.prefix { $0.verdict.isRefusal }
    var others = refused.count
    if let earliest = atStart.first, (first.offset - earliest.offset).seconds >= startSecondsMin {
      let seconds = GPXWriter.decimal((first.offset - earliest.offset).seconds, places: 0)
      sentences.append("the first \(seconds) s have no usable position: \(causes(Array(atStart), settings))")
      others -= atStart.count
    }
    if others * refusedShareMin > judged.count {
      sentences.append(
        "\(refused.count) of \(judged.count) positions do not count: \(causes(refused, settings))")
    }
    return sentences
  }

  private static func causes(_ points: [RoutePoint], _ settings: MetricsSettings) -> String {
    let limit = GPXWriter.decimal(settings.accuracyMetersLimit, places: 0)
    let causes: [(FixVerdict, String)] = [
      (.inaccurate, "not accurate within \(limit) m"), (.impossibleSpeed, "too far from the last for a runner"),
      (.invalid, "invalid"),
    ]
    return causes.compactMap { verdict, words in
      let count = points.count { $0.verdict == verdict }
      return count == 0 ? nil : "\(count) \(count == 1 ? "is" : "are") \(words)"
    }.joined(separator: ", ")
  }
}

extension FixVerdict {
  /// Whether the position itself was not good enough.
  fileprivate var isRefusal: Bool {
    switch self {
    case .invalid, .inaccurate, .impossibleSpeed: true
    case .counted, .anchored, .notRunning, .autoPaused, .stationary, .repeated, .otherReceiver, .unknown: false
    }
  }
}

extension MeasuredRun {
  /// What a runner should know about its positions.
  package var notices: [String] { RunNotices.sentences(route) }
}
