/// Fetches the hub's records to a peer, one change after another, part by part.
///
/// - `idle` (nothing is missing, or there is no session) can go to: `asking`.
/// - `asking` can go to: `idle` (a part arrived, a change cannot be read, or the session is over), `writing` (a change
///   is complete).
/// - `writing` (the change is being committed) can go to: `idle`.
struct RecordInbox: Sendable {
  private enum State: Hashable, Sendable {
    case idle
    case asking(retryAt: BusTime)
    case writing
  }

  /// What the peer has to do after it received a part of a change.
  enum Outcome: Hashable, Sendable {
    /// Ask for the next part, or from byte 0 again if another change has replaced the one that was begun.
    case ask
    /// The change is complete: keep the record instead of the run's older one. `isNews` unless the summary is the same.
    case keep(RunRecord, isNews: Bool)
    /// Remove the record.
    case remove
    /// Store only the change's number: the removed record was never kept here.
    case neverCame
    /// This build cannot read the record, which is passed over: ask for the next change.
    case unreadable
  }

  /// How long the peer waits for an answer before it asks again, in real time.
  private static let patience = BusDuration.seconds(5)

  private var state = State.idle
  private var isOpen = false
  /// The highest number of a change that the hub has stated.
  private var newest: UInt64 = 0
  /// The number of the last complete change.
  private(set) var through: UInt64
  /// Whether a change was passed over that this build cannot read. The numbers of later changes are then not stored, so
  /// that the peer fetches from that change on again after its next start, possibly as a later build.
  private(set) var hasPassedOver = false
  /// The records that are kept here.
  private(set) var kept: [RunID: RecordSummary] = [:] { didSet { edition += 1 } }
  /// The runs whose copies were removed, with the versions of the removals.
  private(set) var removed: [RunID: UInt64] { didSet { edition += 1 } }
  /// Counts the changes of both.
  private(set) var edition = 1
  private var partial: (change: RecordChange, bytes: [UInt8])?

  /// An inbox with what its store holds.
  init(_ records: [RecordSummary], removed: [RunID: UInt64] = [:], through: UInt64) {
    self.through = through
    self.removed = removed
    for record in records { kept[record.runID] = record }
  }

  /// When to ask again; `nil` while no question is open.
  var retryAt: BusTime? { if case .asking(let due) = state { due } else { nil } }

  /// Whether the hub is connected and has changes that are not stored here.
  var isBehind: Bool { isOpen && (newest > through || state == .writing) }

  /// Begins a session with a hub whose last change is `newest`.
  ///
  /// - Returns: `false` when that is less than the peer has: the hub has lost history, and the peer asks for all
  ///   changes again.
  mutating func open(newest: UInt64) -> Bool {
    (isOpen, partial, self.newest) = (true, nil, newest)
    if state != .writing { state = .idle }
    guard newest < through else { return true }
    (through, hasPassedOver) = (0, false)
    return false
  }

  /// Ends the session.
  mutating func close() {
    isOpen = false
    if state != .writing { state = .idle }
    partial = nil
  }

  /// Begins again at change 0, because another hub store has numbers of its own. The records that are kept stay until
  /// that hub changes or removes them.
  mutating func renumber() {
    (through, hasPassedOver) = (0, false)
    newest = 0
    partial = nil
  }

  /// The hub states its last change within the session. Without a session the statement counts for nothing. For the
  /// result see ``open(newest:)``.
  mutating func note(newest: UInt64) -> Bool {
    guard isOpen else { return true }
    guard newest < through else {
      self.newest = max(self.newest, newest)
      return true
    }
    return open(newest: newest)
  }

  /// The next question; `nil` when nothing is missing or an answer is awaited.
  mutating func ask(at now: BusTime, generator: inout SeededGenerator) -> RecordFetch? {
    guard isOpen, newest > through, state == .idle || retryAt.map({ $0 <= now }) ?? false else { return nil }
    state = .asking(retryAt: now + generator.jittered(Self.patience))
    return RecordFetch(after: through, from: partial?.bytes.count ?? 0)
  }

  /// Receives the hub's answer; `nil` when it is not the awaited one.
  mutating func receive(_ change: RecordChange) -> Outcome? {
    guard case .asking = state, change.number > through else { return nil }
    newest = max(newest, change.number)
    if change.isUnreadable { return passOver(change) }
    guard let summary = change.summary else {
      finish(change)
      guard kept.removeValue(forKey: change.runID) != nil else { return .neverCame }
      removed[change.runID] = change.version
      return .remove
    }
    // The body is fetched even if the summary is the same as the kept one: a hub that has lost history may have made
    // another record with the same version.
    var bytes: [UInt8] = []
    if let partial, partial.change.number == change.number, partial.change.total == change.total {
      guard change.from == partial.bytes.count else { return nil }
      bytes = partial.bytes
    } else if change.from > 0 {
      // Another change has replaced the one that was begun.
      partial = nil
      state = .idle
      return .ask
    }
    bytes += change.bytes
    guard bytes.count < change.total else {
      guard bytes.count == change.total, summary.runID == change.runID, let body = RecordBody(encoded: bytes) else {
        return passOver(change)
      }
      finish(change)
      removed[change.runID] = nil
      let isNews = kept.updateValue(summary, forKey: change.runID) != summary
      return .keep(RunRecord(summary: summary, body: body), isNews: isNews)
    }
    guard !change.bytes.isEmpty, change.total <= RunRecord.bytesMax else { return passOver(change) }
    partial = (change, bytes)
    state = .idle
    return .ask
  }

  /// The change is durable, so the peer can ask for the next one.
  mutating func finishWriting() { if state == .writing { state = .idle } }

  private mutating func finish(_ change: RecordChange) {
    through = change.number
    partial = nil
    state = .writing
  }

  private mutating func passOver(_ change: RecordChange) -> Outcome {
    (through, hasPassedOver) = (change.number, true)
    partial = nil
    state = .idle
    return .unreadable
  }
}
