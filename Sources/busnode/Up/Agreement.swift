import RunBus

/// Compares what the nodes show: at each revision all of them must show the same run.
struct Agreement: Sendable {
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
  struct Seen: Sendable {
    var snapshots = 0
    var revisions: Set<UInt64> = []
    var last: Snapshot?
  }

  /// How many publications are kept for comparison: no node lags further behind.
  private static let keptMax = 4096
  /// Further disagreements are not listed, because they would add nothing.
  private static let disagreementsMax = 20

  private var standings: [Revision: (standing: Standing, node: SpawnedNode)] = [:]
  private var publications: [SnapshotOrder: (snapshot: Snapshot, node: SpawnedNode)] = [:]
  private var order: [SnapshotOrder] = []
  private(set) var seen: [SpawnedNode: Seen] = [:]
  /// The differences that were found, one sentence each.
  private(set) var disagreements: [String] = []

  /// Compares a snapshot that a node shows with those of the other nodes.
  mutating func saw(_ snapshot: Snapshot, on node: SpawnedNode) {
    if let last = seen[node]?.last, snapshot.order <= last.order {
      disagree("\(node.rawValue) went back from \(Sentence.order(last)) to \(Sentence.order(snapshot))")
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
        disagree("\(Sentence.order(snapshot)) differs between \(other.node.rawValue) and \(node.rawValue)")
      }
    } else {
      publications[snapshot.order] = (snapshot, node)
      order.append(snapshot.order)
      if order.count > Self.keptMax { publications[order.removeFirst()] = nil }
    }
  }

  /// Forgets the last snapshot of a node that is restarted: it may show the same or an older snapshot again.
  mutating func forgetLast(of node: SpawnedNode) { seen[node]?.last = nil }

  /// How many revisions other nodes have shown and this one has not, because it was away.
  func missed(by node: SpawnedNode) -> Int {
    let all = seen.values.reduce(into: Set<UInt64>()) { $0.formUnion($1.revisions) }
    return all.subtracting(seen[node]?.revisions ?? []).count
  }

  /// Whether all of `nodes` show the same publication.
  func isSettled(_ nodes: some Sequence<SpawnedNode>) -> Bool {
    let shown = Set(nodes.map { seen[$0]?.last?.order })
    return shown.count == 1 && shown.first != .some(nil)
  }

  /// Adds a disagreement.
  mutating func disagree(_ sentence: String) {
    if disagreements.count < Self.disagreementsMax { disagreements.append(sentence) }
  }
}
