/// Leaves out what later operations of the same batch make useless, so that most of what a log held for a while never
/// reaches a table: a row that was sent and acknowledged meanwhile, a press that was judged, all but the newest mark.
///
/// It is asked for one operation after the other, from the last one backwards. What it leaves out changes nothing of what
/// a store holds in the end (``StoredState``).
package struct SupersededOperations {
  private struct Place: Hashable {
    var stream: OutboundStreamID
    var sequence: UInt64
  }
  private var hasView = false
  private var hasFailureMark = false
  private var hasClock = false
  private var watermarks: Set<StreamID> = []
  private var acknowledged: [OutboundStreamID: UInt64] = [:]
  private var removed: Set<Place> = []
  private var judged: Set<CommandID> = []

  /// Nothing follows yet.
  package init() {}

  /// Whether an operation has an effect in front of those that were seen.
  package mutating func keeps(_ operation: StoreOperation) -> Bool {
    switch operation {
    case .setView:
      defer { hasView = true }
      return !hasView
    case .setFailureMark(let mark):
      // A store notes when an alarm was raised.
      guard mark.duty != .alarmed else { return true }
      defer { hasFailureMark = true }
      return !hasFailureMark
    case .setClock:
      defer { hasClock = true }
      return !hasClock
    case .setWatermark(let stream, _): return watermarks.insert(stream).inserted
    case .judge(_, let press, _):
      judged.insert(press.command.id)
      return true
    case .accept(let press, _): return !judged.contains(press.command.id)
    case .reclassify(let command, _), .claim(let command, _): return !judged.contains(command)
    case .acknowledge(let stream, let through):
      if let later = acknowledged[stream], later >= through { return false }
      acknowledged[stream] = through
      return true
    case .remove(let stream, let sequence):
      removed.insert(Place(stream: stream, sequence: sequence))
      return true
    case .enqueue(let row): return !isGone(row.stream, row.sequence)
    case .tombstone(let stream, let sequence): return !isGone(stream, sequence)
    case .countTries(let stream, let first, let last): return first != last || !isGone(stream, first)
    case .append, .settle, .setAlias, .endJournal, .dateRun, .setLatest, .receiveLatest, .quarantine, .unquarantine,
      .setUnanswered, .discard:
      return true
    default:
      // It may change what the others refer to.
      self = SupersededOperations()
      return true
    }
  }

  /// Whether the row at a place is deleted later.
  private func isGone(_ stream: OutboundStreamID, _ sequence: UInt64) -> Bool {
    if removed.contains(Place(stream: stream, sequence: sequence)) { return true }
    // Commands stay until their verdict is known.
    return stream.kind != .commands && acknowledged[stream].map { $0 >= sequence } ?? false
  }
}
