public import RunBus

/// What the machine of the records' owner does for the page. A page without one only shows records.
public protocol RecordOwner: Sendable {
  /// The formats in which a record can be exported, by the ends of their files' names.
  var formats: [String] { get }

  /// Whether the phone's store is on this machine. Other machines have copies, which they do not change.
  func canChange() async -> Bool

  /// What the phone of this machine has changed and the page's node may not have heard of, because the phone does not
  /// run.
  func unheard() async -> UnheardRecords

  /// Gives a run another title.
  ///
  /// - Throws: ``RunBusError`` with ``RunBusError/Code/notFound`` for a run that the phone does not keep, and with the
  ///   reason when it cannot be asked.
  func rename(_ run: RunID, to title: String) async throws

  /// Removes a run for good.
  ///
  /// - Throws: As ``rename(_:to:)``.
  func remove(_ run: RunID) async throws

  /// A record as a file of one of ``formats``.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` for a record that the format cannot hold.
  func export(_ record: RunRecord, as format: String) throws -> String
}

/// What a phone that does not run has changed.
public struct UnheardRecords: Sendable {
  /// The runs that it has removed.
  public var removed: Set<RunID>
  /// The records that it keeps.
  public var kept: [RunID: RecordSummary]

  /// Changes from their parts; none without them.
  public init(removed: Set<RunID> = [], kept: [RecordSummary] = []) {
    self.removed = removed
    self.kept = Dictionary(kept.map { ($0.runID, $0) }) { $1 }
  }

  /// A summary as the phone has it; `nil` for a run that it has removed.
  func newest(_ summary: RecordSummary) -> RecordSummary? {
    guard !removed.contains(summary.runID) else { return nil }
    guard let other = kept[summary.runID], other.version > summary.version else { return summary }
    return other
  }
}
