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

extension RecordSummary {
  /// The most summaries in one answer. A frame may hold fewer.
  private static let linesMax = 256

  /// Kept records from an index on, oldest first, and then the runs that were removed, with their versions.
  static func page(of all: some Collection<RecordSummary>, removed: [RunID: UInt64], from: Int) -> InquiryAnswer {
    let sorted = all.sorted { ($0.startedAtUnixSeconds, $0.runID) < ($1.startedAtUnixSeconds, $1.runID) }
    let kept = Array(sorted.dropFirst(max(0, from)).prefix(linesMax))
    let removals = removed.sorted { $0.key < $1.key }.dropFirst(max(0, from - sorted.count))
    return .records(
      kept,
      removed: removals.prefix(linesMax - kept.count).map { RecordRemoval(runID: $0.key, version: $0.value) },
      total: sorted.count + removed.count)
  }
}
