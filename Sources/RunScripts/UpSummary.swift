import Foundation
package import RunBus

/// The summary at the end of `up`; with `--json` it is the last line.
package struct UpSummary: Codable, Hashable, Sendable {
  package struct Node: Codable, Hashable, Sendable {
    package var node: SpawnedNode
    package var snapshots: Int
    package var revisionsSeen: Int
    package var revisionsMissed: Int
    @Explicit package var lastTerm: UInt64?
    @Explicit package var lastRevision: UInt64?
    @Explicit package var lastTick: UInt64?
  }
  package struct Verdicts: Codable, Hashable, Sendable {
    package var applied = 0
    package var coalesced = 0
    package var superseded = 0
    package var rejected = 0

    package init() {}

    mutating func count(_ outcome: Outcome) {
      switch outcome {
      case .applied: applied += 1
      case .coalesced: coalesced += 1
      case .superseded: superseded += 1
      case .rejected: rejected += 1
      case .unknown: break
      }
    }
  }

  package var event = "summary"
  /// When `up` has ended.
  package var at = DayTime.text(unixSeconds: Date().timeIntervalSince1970)
  package var agreed: Bool
  package var disagreements: [String]
  package var nodes: [Node]
  package var verdicts: Verdicts
  @Explicit package var phase: RunPhase?
  @Explicit package var runId: RunID?
  @Explicit package var metrics: RunMetrics?

  package init(_ agreement: Agreement, verdicts: Verdicts) {
    agreed = agreement.disagreements.isEmpty
    disagreements = agreement.disagreements
    nodes = SpawnedNode.allCases.map { node in
      let seen = agreement.seen[node]
      return Node(
        node: node, snapshots: seen?.snapshots ?? 0, revisionsSeen: seen?.revisions.count ?? 0,
        revisionsMissed: agreement.missed(by: node), lastTerm: seen?.last?.order.term,
        lastRevision: seen?.last?.order.revision, lastTick: seen?.last?.order.tick)
    }
    self.verdicts = verdicts
    let last = agreement.seen.values.compactMap(\.last).max { $0.order < $1.order }
    _phase = Explicit(wrappedValue: last?.phase)
    _runId = Explicit(wrappedValue: last?.runID)
    _metrics = Explicit(wrappedValue: last.flatMap { $0.phase == .idle ? nil : $0.metrics })
  }
}
