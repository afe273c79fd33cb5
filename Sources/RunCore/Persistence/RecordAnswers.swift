// The answers of hub and peer to inquiries about records.

extension RecordReading {
  /// The answer to an inquiry for this part.
  var answer: InquiryAnswer {
    switch self {
    case .found(let stored): .record(stored.part)
    case .missing: .failed(.noRecord)
    case .failed(let reason): .failed(InquiryFailure(.store, "the record cannot be read: \(reason)"))
    }
  }
}

/// The order in which records are listed. Sorting thousands for each page would make a list as long again with each.
struct RecordList: Sendable {
  /// The most summaries in one answer. A frame may hold fewer.
  private static let linesMax = 256

  /// The records, oldest first.
  private var kept: [RunID] = []
  /// The runs that were removed.
  private var removed: [RunID] = []

  /// A list of nothing.
  init() {}

  /// The list of these.
  init(of all: some Collection<RecordSummary>, removed: [RunID: UInt64]) {
    kept = all.map { (at: $0.startedAtUnixSeconds, run: $0.runID) }.sorted { ($0.at, $0.run) < ($1.at, $1.run) }
      .map(\.run)
    self.removed = removed.keys.sorted()
  }

  /// Kept records from an index on, oldest first, and then the runs that were removed, with their versions.
  ///
  /// - Parameters:
  ///   - all: the records of which this is the list.
  ///   - versions: the removed runs, with the versions of the removals.
  func page(of all: [RunID: RecordSummary], removed versions: [RunID: UInt64], from: Int) -> InquiryAnswer {
    let page = kept.dropFirst(max(0, from)).prefix(Self.linesMax).compactMap { all[$0] }
    let removals = removed.dropFirst(max(0, from - kept.count)).prefix(Self.linesMax - page.count)
    return .records(
      page, removed: removals.map { RecordRemoval(runID: $0, version: versions[$0] ?? 0) },
      total: kept.count + removed.count)
  }
}
