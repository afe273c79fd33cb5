import Foundation
package import RunBus

/// The summary at the end of `up`; with `--json` it is the last line.
package struct UpSummary: Codable, Hashable, Sendable {
  package struct Node: Codable, Hashable, Sendable {
    package var node: SpawnedNode
    package var role: UpDevice.Role
    package var snapshots: Int
    package var revisionsSeen: Int
    package var revisionsMissed: Int
    @Explicit package var lastTerm: UInt64?
    @Explicit package var lastRevision: UInt64?
    @Explicit package var lastTick: UInt64?
    /// How often it found the hub again.
    package var reconnects: Int
  }
  /// What `--faults` did.
  package struct Faults: Codable, Hashable, Sendable {
    /// The seed that draws the same faults again.
    package var seed: UInt64
    package var links: Int
    package var kills: Int
    package var sleeps: Int

    package init(seed: UInt64, links: Int, kills: Int, sleeps: Int) {
      (self.seed, self.links, self.kills, self.sleeps) = (seed, links, kills, sleeps)
    }
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
  /// How many presses the nodes made.
  package var presses: Int
  package var verdicts: Verdicts
  /// How often nodes found the hub again, all together.
  package var reconnects: Int
  /// `nil` without `--faults`.
  @Explicit package var faults: Faults?
  @Explicit package var phase: RunPhase?
  @Explicit package var runId: RunID?
  @Explicit package var metrics: RunMetrics?

  package init(
    _ agreement: Agreement, devices: UpDevices = .usual, presses: Int = 0, verdicts: Verdicts,
    reconnects: [SpawnedNode: Int] = [:], faults: Faults? = nil
  ) {
    agreed = agreement.disagreements.isEmpty
    disagreements = agreement.disagreements
    let revisions = agreement.revisions
    nodes = devices.all.map { device in
      let seen = agreement.seen[device.node]
      return Node(
        node: device.node, role: device.role, snapshots: seen?.snapshots ?? 0,
        revisionsSeen: seen?.revisions.count ?? 0,
        revisionsMissed: revisions.subtracting(seen?.revisions ?? []).count, lastTerm: seen?.last?.order.term,
        lastRevision: seen?.last?.order.revision, lastTick: seen?.last?.order.tick,
        reconnects: reconnects[device.node] ?? 0)
    }
    self.presses = presses
    self.reconnects = reconnects.values.reduce(0, +)
    _faults = Explicit(wrappedValue: faults)
    self.verdicts = verdicts
    let last = agreement.seen.values.compactMap(\.last).max { $0.order < $1.order }
    _phase = Explicit(wrappedValue: last?.phase)
    _runId = Explicit(wrappedValue: last?.runID)
    _metrics = Explicit(wrappedValue: last.flatMap { $0.phase == .idle ? nil : $0.metrics })
  }
}
