import RunBus

/// Compares what the nodes show: at every revision they must show the same run.
struct Agreement: Sendable {
  /// What must be the same wherever a revision is shown.
  private struct Standing: Hashable {
    let phase: RunPhase
    let runId: String?
    let commandId: String?
  }
  private struct Revision: Hashable {
    let term: UInt64
    let revision: UInt64
  }
  /// What one node has shown.
  struct Seen: Sendable {
    var snapshots = 0
    var revisions: Set<UInt64> = []
    var last: SnapshotJSON?
  }

  /// Publications that are kept for comparison: no node is further behind than that.
  private static let keptMax = 4096
  /// More than these would say nothing new.
  private static let disagreementsMax = 20

  private var standings: [Revision: (standing: Standing, node: SpawnedNode)] = [:]
  private var publications: [SnapshotOrder: (snapshot: SnapshotJSON, node: SpawnedNode)] = [:]
  private var order: [SnapshotOrder] = []
  private(set) var seen: [SpawnedNode: Seen] = [:]
  /// What was not the same, one sentence each.
  private(set) var disagreements: [String] = []

  /// A node shows a snapshot.
  mutating func saw(_ snapshot: SnapshotJSON, on node: SpawnedNode) {
    if let last = seen[node]?.last, snapshot.order <= last.order {
      disagree("\(node.rawValue) went back from \(Sentence.order(last)) to \(Sentence.order(snapshot))")
    }
    seen[node, default: Seen()].snapshots += 1
    seen[node, default: Seen()].revisions.insert(snapshot.revision)
    seen[node, default: Seen()].last = snapshot

    let standing = Standing(phase: snapshot.phase, runId: snapshot.runId, commandId: snapshot.changedBy?.commandId)
    let revision = Revision(term: snapshot.term, revision: snapshot.revision)
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
        disagree("\(Sentence.order(snapshot)) is not the same on \(other.node.rawValue) and \(node.rawValue)")
      }
    } else {
      publications[snapshot.order] = (snapshot, node)
      order.append(snapshot.order)
      if order.count > Self.keptMax { publications[order.removeFirst()] = nil }
    }
  }

  /// A node begins a new life: it may show again what its last life has shown.
  mutating func forgetLast(of node: SpawnedNode) { seen[node]?.last = nil }

  /// The revisions that any node has shown and this one has not: it was away.
  func missed(by node: SpawnedNode) -> Int {
    let all = seen.values.reduce(into: Set<UInt64>()) { $0.formUnion($1.revisions) }
    return all.subtracting(seen[node]?.revisions ?? []).count
  }

  /// The nodes show the same publication.
  func isSettled(_ nodes: some Sequence<SpawnedNode>) -> Bool {
    let shown = Set(nodes.map { seen[$0]?.last?.order })
    return shown.count == 1 && shown.first != .some(nil)
  }

  /// Something else is not as it must be.
  mutating func disagree(_ sentence: String) {
    if disagreements.count < Self.disagreementsMax { disagreements.append(sentence) }
  }
}
