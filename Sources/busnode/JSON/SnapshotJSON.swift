import RunBus

/// A snapshot as `state --json` writes it. The keys carry their units and never change.
struct SnapshotJSON: Codable, Hashable, Sendable {
  struct ChangedBy: Codable, Hashable, Sendable {
    var source: String
    var deviceId: String
    var commandId: String
  }

  var term: UInt64
  var revision: UInt64
  var tick: UInt64
  var phase: RunPhase
  @Explicit var runId: String?
  @Explicit var changedBy: ChangedBy?
  /// The hub died while the run was on and waits for a decision: resume, finish or discard.
  var recovering: Bool
  var metrics: MetricsJSON

  /// Its position in the order of all publications.
  var order: SnapshotOrder { SnapshotOrder(term: term, revision: revision, tick: tick) }
}

extension SnapshotJSON {
  init(_ snapshot: Snapshot) {
    self.init(
      term: snapshot.order.term, revision: snapshot.order.revision, tick: snapshot.order.tick, phase: snapshot.phase,
      runId: snapshot.runID?.description,
      changedBy: snapshot.changedBy.map {
        ChangedBy(
          source: $0.source.rawValue, deviceId: $0.deviceID.rawValue, commandId: $0.commandID.description)
      },
      recovering: snapshot.isRecovering, metrics: MetricsJSON(snapshot.metrics))
  }
}
