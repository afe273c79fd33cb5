import RunCore

extension RecordSummary {
  /// The device name of records that were imported from files of other programs.
  package static let importDevice: DeviceID = "import"

  /// Whether it is likely the same run as another record: one of the two was imported, they cover nearly the same time,
  /// and their distances are about the same. Two services give one run other points, and sometimes other ends.
  package func isLikelyDouble(of other: RecordSummary) -> Bool {
    guard runID != other.runID, isImported || other.isImported else { return false }
    let (end, otherEnd) = (
      startedAtUnixSeconds + elapsed.seconds, other.startedAtUnixSeconds + other.elapsed.seconds
    )
    let both = min(end, otherEnd) - max(startedAtUnixSeconds, other.startedAtUnixSeconds)
    let either = max(end, otherEnd) - min(startedAtUnixSeconds, other.startedAtUnixSeconds)
    guard both > 0, both >= Self.sharedTimeMin * either else { return false }
    guard let meters = distanceMeters, let otherMeters = other.distanceMeters else { return true }
    return abs(meters - otherMeters) <= Self.distanceShareMax * max(meters, otherMeters)
  }

  private var isImported: Bool { deviceID == Self.importDevice }
  /// The least share of the time that two records of one run have in common.
  fileprivate static var sharedTimeMin: Double { 0.8 }
  /// How much the distances of one run differ between services, as a share.
  private static var distanceShareMax: Double { 0.1 }
}

/// Records that are likely of one run.
package struct RecordDoubles: Sendable {
  private var originals: [RunID: RunID] = [:]

  /// Compares records. Of two of one run, the one that RunBus measured is the original, else the one that began first.
  package init(_ summaries: [RecordSummary]) {
    let sorted = summaries.sorted { $0.startedAtUnixSeconds < $1.startedAtUnixSeconds }
    var likenesses = [[Int]](repeating: [], count: sorted.count)
    for (index, summary) in sorted.enumerated() {
      // A later start leaves too little time in common.
      let latest = summary.startedAtUnixSeconds + summary.elapsed.seconds * (1 - RecordSummary.sharedTimeMin)
      for other in index + 1..<max(index + 1, sorted.count) {
        guard sorted[other].startedAtUnixSeconds <= latest, likenesses[index].count < Self.likenessesMax else { break }
        guard summary.isLikelyDouble(of: sorted[other]) else { continue }
        likenesses[index].append(other)
        likenesses[other].append(index)
      }
    }
    func rank(_ index: Int) -> (Int, Int) { (sorted[index].deviceID == RecordSummary.importDevice ? 1 : 0, index) }
    for index in sorted.indices.sorted(by: { rank($0) < rank($1) }) {
      let original = likenesses[index].filter { rank($0) < rank(index) && originals[sorted[$0].runID] == nil }
        .min { rank($0) < rank($1) }
      if let original { originals[sorted[index].runID] = sorted[original].runID }
    }
  }

  /// More copies of one run are not expected; the bound limits how many records of one moment are compared.
  private static let likenessesMax = 100

  /// The record of which another is likely a double; `nil` for an original.
  package func original(of run: RunID) -> RunID? { originals[run] }
}
