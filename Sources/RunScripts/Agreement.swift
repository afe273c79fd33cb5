package import RunBus

/// Compares what the nodes show: at each revision all of them must show the same run.
package struct Agreement: Sendable {
  /// What every node must show alike at a revision.
  private struct Standing: Hashable {
    let phase: RunPhase
    let runID: RunID?
    let commandID: CommandID?
  }
  private struct Revision: Hashable {
    let term: UInt64
    let revision: UInt64
  }
  /// What one node has shown.
  package struct Seen: Sendable {
    package var snapshots = 0
    package var revisions: Set<UInt64> = []
    package var last: Snapshot?
  }

  /// How many publications are kept for comparison: no node lags further behind.
  private static let keptMax = 4096
  /// Further disagreements are not listed, because they would add nothing.
  private static let disagreementsMax = 20

  private var standings: [Revision: (standing: Standing, node: SpawnedNode)] = [:]
  private var publications: [SnapshotOrder: (snapshot: Snapshot, node: SpawnedNode)] = [:]
  private var order: [SnapshotOrder] = []
  package private(set) var seen: [SpawnedNode: Seen] = [:]
  /// The differences that were found, one sentence each.
  package private(set) var disagreements: [String] = []

  package init() {}

  /// Compares a snapshot that a node shows with those of the other nodes.
  package mutating func saw(_ snapshot: Snapshot, on node: SpawnedNode) {
    if let last = seen[node]?.last, snapshot.order <= last.order {
      disagree("\(node.rawValue) went back from \(last.order.text) to \(snapshot.order.text)")
    }
    seen[node, default: Seen()].snapshots += 1
    seen[node, default: Seen()].revisions.insert(snapshot.order.revision)
    seen[node, default: Seen()].last = snapshot

    let standing = Standing(phase: snapshot.phase, runID: snapshot.runID, commandID: snapshot.changedBy?.commandID)
    let revision = Revision(term: snapshot.order.term, revision: snapshot.order.revision)
    if let other = standings[revision] {
      if other.standing != standing {
        disagree(
          "revision \(revision.revision) is \(other.standing.phase.rawValue) on \(other.node.rawValue) "
            + "and \(standing.phase.rawValue) on \(node.rawValue), or was made by another command or for another run")
      }
    } else {
      standings[revision] = (standing, node)
    }
    if let other = publications[snapshot.order] {
      if other.snapshot != snapshot {
        disagree("\(snapshot.order.text) differs between \(other.node.rawValue) and \(node.rawValue)")
      }
    } else {
      publications[snapshot.order] = (snapshot, node)
      order.append(snapshot.order)
      if order.count > Self.keptMax { publications[order.removeFirst()] = nil }
    }
  }

  /// Forgets the last snapshot of a node that is restarted: it may show the same or an older snapshot again.
  package mutating func forgetLast(of node: SpawnedNode) { seen[node]?.last = nil }

  /// All revisions that any node has shown.
  package var revisions: Set<UInt64> { seen.values.reduce(into: []) { $0.formUnion($1.revisions) } }

  /// Whether all of `nodes` show the same publication.
  package func isReached(by nodes: some Sequence<SpawnedNode>) -> Bool {
    let shown = Set(nodes.map { seen[$0]?.last?.order })
    return shown.count == 1 && shown.first != .some(nil)
  }

  /// Adds a disagreement.
  package mutating func disagree(_ sentence: String) {
    if disagreements.count < Self.disagreementsMax { disagreements.append(sentence) }
  }
}

extension SnapshotOrder {
  /// `1.2.14`: term, revision, tick.
  package var text: String { "\(term).\(revision).\(tick)" }
}
