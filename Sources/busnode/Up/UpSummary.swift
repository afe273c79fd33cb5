import Foundation
import RunBus

/// The summary at the end of `up`; with `--json` it is the last line.
struct UpSummary: Codable, Hashable, Sendable {
  struct Node: Codable, Hashable, Sendable {
    var node: SpawnedNode
    var snapshots: Int
    var revisionsSeen: Int
    var revisionsMissed: Int
    @Explicit var lastTerm: UInt64?
    @Explicit var lastRevision: UInt64?
    @Explicit var lastTick: UInt64?
  }
  struct Verdicts: Codable, Hashable, Sendable {
    var applied = 0
    var coalesced = 0
    var superseded = 0
    var rejected = 0

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

  var event = "summary"
  /// When `up` has ended.
  var at = DayTime.text(unixSeconds: Date().timeIntervalSince1970)
  var agreed: Bool
  var disagreements: [String]
  var nodes: [Node]
  var verdicts: Verdicts
  @Explicit var phase: RunPhase?
  @Explicit var runId: RunID?
  @Explicit var metrics: RunMetrics?

  init(_ agreement: Agreement, verdicts: Verdicts) {
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

  /// The summary as text.
  var lines: [String] {
    var lines = [agreed ? "All nodes agreed at every revision." : "The nodes did not agree:"]
    lines += disagreements.map { "  \($0)" }
    for node in nodes {
      let missed = node.revisionsMissed == 0 ? "" : ", missed \(node.revisionsMissed) while away"
      let last = node.lastTick.map { "; last \(node.lastTerm ?? 0).\(node.lastRevision ?? 0).\($0)" } ?? ""
      lines.append(
        TextWidth.fitted(node.node.rawValue, to: 8)
          + "\(node.snapshots) snapshots, \(node.revisionsSeen) revisions\(missed)\(last)")
    }
    lines.append(
      "verdicts: \(verdicts.applied) applied, \(verdicts.coalesced) coalesced, \(verdicts.superseded) superseded, "
        + "\(verdicts.rejected) rejected")
    if let phase { lines.append("the run is \(phase.rawValue)") }
    if let metrics { lines += MetricsText.table(metrics, in: .metric, isRunning: false).map { "  \($0)" } }
    return lines
  }
}
