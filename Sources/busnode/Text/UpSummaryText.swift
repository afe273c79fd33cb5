import RunBus
import RunScripts

extension UpSummary {
  /// With more nodes than this each role is a line.
  private static let nodesMax = 12

  /// The summary as text.
  var lines: [String] {
    var lines = [agreed ? "All nodes agreed at every revision." : "The nodes did not agree:"]
    lines += disagreements.map { "  \($0)" }
    lines += nodes.count > Self.nodesMax ? roleLines : nodeLines
    let counted = presses == 1 ? "1 press" : "\(presses) presses"
    lines.append(
      "\(counted); verdicts: \(verdicts.applied) applied, \(verdicts.coalesced) coalesced, "
        + "\(verdicts.superseded) superseded, \(verdicts.rejected) rejected")
    if let faults {
      lines.append(
        "faults of seed \(faults.seed): \(faults.links) links, \(faults.kills) kills, \(faults.sleeps) sleeps; "
          + "nodes found the phone again \(reconnects) times")
    }
    if let phase { lines.append("the run is \(phase.rawValue)") }
    if let metrics { lines += MetricsText.table(metrics, in: .metric, isRunning: false).map { "  \($0)" } }
    return lines
  }

  private var nodeLines: [String] {
    let width = max(8, (nodes.map { TextWidth.of($0.node.rawValue) }.max() ?? 0) + 2)
    return nodes.map { node in
      let missed = node.revisionsMissed == 0 ? "" : ", missed \(node.revisionsMissed) while away"
      return TextWidth.fitted(node.node.rawValue, to: width)
        + "\(node.snapshots) snapshots, \(node.revisionsSeen) revisions\(missed)\(node.lastText)"
    }
  }

  /// A line for each role.
  private var roleLines: [String] {
    UpDevice.Role.allCases.compactMap { role in
      let nodes = nodes.filter { $0.role == role }
      guard let first = nodes.first else { return nil }
      let snapshots = nodes.map(\.snapshots).reduce(0, +)
      let away = nodes.count { $0.revisionsMissed > 0 }
      let isOne = nodes.allSatisfy { $0.lastText == first.lastText }
      return TextWidth.fitted(role.rawValue, to: 8) + "\(nodes.count) nodes, \(snapshots) snapshots"
        + (away == 0 ? "" : ", \(away) missed revisions while away") + (isOne ? first.lastText : "; not at one last")
    }
  }
}

extension UpSummary.Node {
  /// `; last 1.4.19`: its last publication.
  fileprivate var lastText: String { lastTick.map { "; last \(lastTerm ?? 0).\(lastRevision ?? 0).\($0)" } ?? "" }
}
