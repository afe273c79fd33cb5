/// A hub's records at a peer: it asks for one change after another, and each is taken in whole.
///
/// - `idle` (nothing is missing, or there is nobody to ask) can go to: `asking`.
/// - `asking` can go to: `asking` (the next part), `writing` (a change is whole), `idle` (the session is over), `stuck`.
/// - `writing` (it is on its way to the disk) can go to: `asking`, `idle`.
/// - `stuck` (this build cannot read what the hub sends) can go to: `idle` (the next session: there may be another hub).
struct RecordInbox: Sendable {
  private enum State: Hashable, Sendable {
    case idle
    case asking(retryAt: BusTime)
    case writing
    case stuck
  }

  /// What comes of a change that came in.
  enum Outcome: Hashable, Sendable {
    /// It is an answer to an earlier question, or there is more to come of it: ask on.
    case ask
    /// It is whole: the record takes the place of what is kept of its run. Not news when it is summed up as that was.
    case keep(RunRecord, isNews: Bool)
    /// The record was removed.
    case remove
    /// It was removed before it had come here.
    case neverCame
    /// It is no record that this build can read.
    case unreadable
  }

  /// How long an answer may take.
  private static let patience = BusDuration.seconds(5)

  private var state = State.idle
  private var isOpen = false
  /// The last change of the hub, as far as it has said.
  private var newest: UInt64 = 0
  /// The last change that is taken in.
  private(set) var through: UInt64
  /// What is kept here.
  private(set) var kept: [RunID: RecordSummary] = [:]
  private var partial: (change: RecordChange, bytes: [UInt8])?

  /// What an earlier life had taken in.
  init(_ records: [RecordSummary], through: UInt64) {
    self.through = through
    for record in records { kept[record.runID] = record }
  }

  /// When to ask again; `nil` while nobody owes an answer.
  var retryAt: BusTime? { if case .asking(let due) = state { due } else { nil } }

  /// The hub has changes that are not here, and is there to be asked.
  var isBehind: Bool { isOpen && state != .stuck && (newest > through || state == .writing) }

  /// A session is open with a hub that has made changes up to here. `false` when it has fewer than were taken in: it has
  /// lost history, and everything is looked at again.
  mutating func open(newest: UInt64) -> Bool {
    (isOpen, partial, self.newest) = (true, nil, newest)
    if state != .writing { state = .idle }
    guard newest < through else { return true }
    through = 0
    return false
  }

  /// The session is over.
  mutating func close() {
    isOpen = false
    if state != .writing { state = .idle }
    partial = nil
  }

  /// Another hub: its changes have numbers of their own. What is kept stays until it says otherwise.
  mutating func renumber() {
    through = 0
    newest = 0
    partial = nil
  }

  /// The hub has made changes up to here. `false` when it has fewer than were taken in: it has lost history, and everything
  /// is looked at again.
  mutating func note(newest: UInt64) -> Bool {
    guard newest < through else {
      self.newest = max(self.newest, newest)
      return true
    }
    return open(newest: newest)
  }

  /// The next question, when there is one to be asked now.
  mutating func ask(at now: BusTime, generator: inout SeededGenerator) -> RecordFetch? {
    guard isOpen, newest > through, state == .idle || retryAt.map({ $0 <= now }) ?? false else { return nil }
    state = .asking(retryAt: now + generator.jittered(Self.patience))
    return RecordFetch(after: through, from: partial?.bytes.count ?? 0)
  }

  /// The hub's answer.
  mutating func receive(_ change: RecordChange) -> Outcome? {
    guard case .asking = state, change.number > through else { return nil }
    newest = max(newest, change.number)
    guard let summary = change.summary else {
      finish(change)
      return kept.removeValue(forKey: change.runID) == nil ? .neverCame : .remove
    }
    // Also when it is summed up as what is kept: a hub that has lost history may have made something else of it since,
    // under the same version.
    var bytes: [UInt8] = []
    if let partial, partial.change.number == change.number, partial.change.total == change.total {
      guard change.from == partial.bytes.count else { return nil }
      bytes = partial.bytes
    } else if change.from > 0 {
      // Another change has taken the place of the one that was begun.
      partial = nil
      state = .idle
      return .ask
    }
    bytes += change.bytes
    guard bytes.count < change.total else {
      guard bytes.count == change.total, summary.runID == change.runID, let body = RecordBody(encoded: bytes) else {
        return getStuck()
      }
      finish(change)
      let isNews = kept.updateValue(summary, forKey: change.runID) != summary
      return .keep(RunRecord(summary: summary, body: body), isNews: isNews)
    }
    guard !change.bytes.isEmpty, change.total <= RunRecord.bytesMax else { return getStuck() }
    partial = (change, bytes)
    state = .idle
    return .ask
  }

  /// The change is durable, or need not be: the next one can be asked for.
  mutating func finishWriting() { if state == .writing { state = .idle } }

  private mutating func finish(_ change: RecordChange) {
    through = change.number
    partial = nil
    state = .writing
  }

  private mutating func getStuck() -> Outcome {
    partial = nil
    state = .stuck
    return .unreadable
  }
}
