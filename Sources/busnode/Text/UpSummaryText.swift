import RunBus
import RunScripts

extension UpSummary {
  /// With more nodes than this each role is a line.
  private static let nodesMax = 12

  /// The summary as text.
  var lines: [String] {
    var lines = [agreed ? Tongue.say(.nodesAgreed) : Tongue.say(.nodesDisagreed)]
    lines += disagreements.map { "  \($0)" }
    lines += nodes.count > Self.nodesMax ? roleLines : nodeLines
    let counted = presses == 1 ? Tongue.say(.pressesOne) : Tongue.say(.pressesMany, ["count": presses])
    lines.append(
      Tongue.say(
        .verdictCounts,
        [
          "presses": counted, "applied": verdicts.applied, "coalesced": verdicts.coalesced,
          "superseded": verdicts.superseded, "rejected": verdicts.rejected,
        ]))
    if let faults {
      lines.append(
        Tongue.say(
          .faultCounts,
          [
            "seed": faults.seed, "links": faults.links, "kills": faults.kills, "sleeps": faults.sleeps,
          ]))
      lines.append(Tongue.say(.reconnectCounts, ["count": reconnects]))
    }
    if let phase { lines.append(Tongue.say(.runIs, ["phase": phase.spoken])) }
    if let metrics { lines += MetricsText.table(metrics, in: .metric, isRunning: false).map { "  \($0)" } }
    return lines
  }

  private var nodeLines: [String] {
    let width = max(8, (nodes.map { TextWidth.of($0.node.rawValue) }.max() ?? 0) + 2)
    return nodes.map { node in
      let missed = node.revisionsMissed == 0 ? "" : Tongue.say(.nodeMissed, ["count": node.revisionsMissed])
      return TextWidth.fitted(node.node.rawValue, to: width)
        + Tongue.say(
          .nodeSeen,
          ["snapshots": node.snapshots, "revisions": node.revisionsSeen, "missed": missed, "last": node.lastText])
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
      return TextWidth.fitted(role.rawValue, to: 8)
        + Tongue.say(.roleSeen, ["nodes": nodes.count, "snapshots": snapshots])
        + (away == 0 ? "" : Tongue.say(.roleMissed, ["count": away]))
        + (isOne ? first.lastText : Tongue.say(.roleLasts))
    }
  }
}

extension UpSummary.Node {
  /// `; last 1.4.19`: its last publication.
  fileprivate var lastText: String {
    lastTick.map { Tongue.say(.lastIs, ["term": lastTerm ?? 0, "revision": lastRevision ?? 0, "tick": $0]) } ?? ""
  }
}
