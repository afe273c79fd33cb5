/// What a hub knows of runs that are over: whose records are kept, were removed, or are still to be made, and whose
/// journals are kept. It numbers the changes of records for the peers.
struct RecordKeeping: Sendable {
  /// A run whose record is to be made, or made anew.
  struct Expected: Sendable {
    var record: ExpectedRecord
    /// When to make it: at once after the stop, and some time after a part of the run that came later.
    var dueAt: BusTime
    /// Whether a part of the run came since its journal was requested.
    var hasChanged = false
  }

  /// Parts that come after the stop gather for as long as the run has been over, so that those of the first moments are
  /// soon in the record, and thousands make a handful of versions. These are the bounds, in real time.
  static let (quietMin, quietMax) = (BusDuration.seconds(2), BusDuration.seconds(60))

  /// The summaries of the kept records.
  private(set) var kept: [RunID: RecordSummary] = [:] { didSet { edition += 1 } }
  /// The versions with which records were removed.
  private var removed: [RunID: UInt64] = [:] { didSet { edition += 1 } }
  /// The records that are to be made.
  private(set) var expected = ExpectedRecords() { didSet { edition += 1 } }
  /// Runs that never become records.
  private var discarded: Set<RunID> { didSet { edition += 1 } }
  /// The runs whose journals are kept, and when each ended.
  private var journals: EndedJournals { didSet { edition += 1 } }
  /// When the runs whose journals are kept began, by the wall clock of then, in seconds since 1970.
  private var dates: [RunID: Double]
  /// The run whose journal was requested. One is read at a time, to bound the memory.
  private var reading: RunID? { didSet { edition += 1 } }
  /// The record that is being made: one at a time, to bound the memory. It is outside of the core's own bytes, which are
  /// copied with every event.
  var making: [RecordInMaking] = []
  /// Whether records are made in one piece.
  private(set) var isHurried = false
  /// Counts the changes of the tables above, so that values derived from them are recomputed after changes only.
  private var edition = 1
  /// The order of the records in a list, and the edition of which that is.
  private var list = (edition: 0, pages: RecordList())
  /// When the next journal can be dropped, and the inputs from which that was computed.
  private var journalDue: (edition: Int, present: RunID?, at: BusTime?) = (0, nil, nil)
  /// Questions that wait for a due record to be made.
  private var questions = RecordQuestions()
  /// The bytes received so far of a record that is being uploaded.
  private var upload: [UInt8] = []
  /// The last change of each record. Peers ask for changes by their numbers.
  private var changes: RecordChanges
  private var lastChange: UInt64
  /// Ranges of numbers that no change in this store has: above a key, up to its value.
  private var skipped: [UInt64: UInt64]
  /// The last change that is durable, and so may be told to peers.
  private(set) var durableChange: UInt64
  /// How fast bus time passes.
  let speed: BusSpeed

  init(_ history: HubHistory, term: UInt64, speed: BusSpeed, now: BusTime) {
    self.speed = speed
    for record in history.records { kept[record.runID] = record }
    removed = history.removedRecords
    discarded = history.discarded
    journals = EndedJournals(history.endedJournals)
    dates = history.runDates
    changes = RecordChanges(history.recordChanges)
    // A number in a damaged store may be so high that none is left for the next change.
    durableChange = min(changes.highest ?? 0, 1 << 62)
    // Numbers begin above those of every earlier incarnation, lost ones included, because peers remember how far they
    // have come.
    lastChange = max(durableChange, HubTerm.changes(in: term))
    skipped = history.skippedChanges
    skipped[durableChange] = lastChange
    for record in history.expectedRecords {
      expected[record.runID] = Expected(record: record, dueAt: now)
    }
  }

  /// Whether there is a record of a run, was one, or is to be one.
  func knows(_ run: RunID) -> Bool {
    kept[run] != nil || removed[run] != nil || expected[run] != nil || discarded.contains(run) || journals[run] != nil
  }

  /// The answer to a question for the kept records and the removed runs, from an index on.
  mutating func page(from: Int) -> InquiryAnswer {
    if list.edition != edition { list = (edition, RecordList(of: kept.values, removed: removed)) }
    return list.pages.page(of: kept, removed: removed, from: from)
  }

  /// When the next record is to be made, or a question has waited for long enough.
  var deadline: BusTime? {
    BusTime.earliest(making.isEmpty ? (mayBegin ? expected.firstDue : nil) : making[0].since, questions.deadline)
  }

  /// The record that has been due for longest.
  func nextDue(at now: BusTime) -> (run: RunID, expected: Expected)? { expected.next(at: now) }

  /// Whether a record is due that is not made yet.
  func hasDue(at now: BusTime) -> Bool { !mayBegin || expected.firstDue.map { $0 <= now } ?? false }

  /// Gives the next change number to a record.
  private mutating func change(_ run: RunID) -> UInt64 {
    lastChange += 1
    changes.append(lastChange, of: run)
    return lastChange
  }

  /// Notes that a change is durable.
  mutating func makeDurable(_ change: UInt64) { durableChange = max(durableChange, change) }

  /// The write that stores which numbers this incarnation skips. This store may be an older copy that replaced one with
  /// higher numbers.
  var skip: StoreOperation {
    .skipChanges(after: durableChange, through: skipped[durableChange] ?? durableChange)
  }

  /// The last change that this store has in common with a peer whose last change has a number that was skipped here;
  /// `nil` if the number may be one of this store's.
  func lastCommon(with change: UInt64) -> UInt64? { skipped.first { $0.key < change && change <= $0.value }?.key }

  /// The record with the first change after a number, and that change's number.
  func next(after change: UInt64) -> (run: RunID, change: UInt64)? { changes.next(after: change) }

  // MARK: Making records

  /// Whether a run never becomes a record.
  func isDiscarded(_ run: RunID) -> Bool { discarded.contains(run) }

  /// Notes that a run never becomes a record, and returns the write for that.
  mutating func discard(_ run: RunID) -> StoreOperation {
    discarded.insert(run)
    return .discard(run)
  }

  /// Makes all expected records due now.
  mutating func hurry(at now: BusTime) {
    isHurried = true
    expected.hurry(at: now)
  }

  /// Makes what is left of the present record in one piece.
  mutating func hasten() { isHurried = true }

  /// Whether a run's journal was requested and has not come.
  var isReading: Bool { reading != nil }
  /// Whether no record is being read for or made, so that the next one can be.
  var mayBegin: Bool { reading == nil && making.isEmpty }

  /// Notes that a run's journal is requested. A part of the run that comes from now on may be missing in it.
  mutating func beginReading(_ run: RunID) {
    reading = run
    noteUnchanged(run)
  }

  /// Notes that what a record is made of holds all that has come of its run.
  mutating func noteUnchanged(_ run: RunID) { expected[run]?.hasChanged = false }

  /// Notes that a journal has come; `false` if it was not requested.
  mutating func endReading(_ run: RunID) -> Bool {
    guard reading == run else { return false }
    reading = nil
    return true
  }

  /// Forgets that a record is to be made.
  mutating func forgetExpected(_ run: RunID) { expected[run] = nil }

  // MARK: Changes of records

  /// Keeps a record, or a new version of it.
  ///
  /// - Returns: the number of the change.
  mutating func keep(_ summary: RecordSummary) -> UInt64 {
    kept[summary.runID] = summary
    removed[summary.runID] = nil
    return change(summary.runID)
  }

  /// Removes a record for good, one that is to be made anew included.
  ///
  /// - Returns: the version of the removal and the number of the change; `nil` if there is no such record.
  mutating func remove(_ run: RunID) -> (version: UInt64, change: UInt64)? {
    guard let known = kept.removeValue(forKey: run) else { return nil }
    expected[run] = nil
    making.removeAll { $0.run == run }
    removed[run] = known.version + 1
    return (known.version + 1, change(run))
  }

  /// The version with which a record was removed; `nil` if it was not.
  func removal(of run: RunID) -> UInt64? { removed[run] }

  /// The state of an upload after one more part.
  enum Upload: Sendable {
    case misfit
    case incomplete
    case complete([UInt8])
  }

  /// Receives a part of a record that is being uploaded. A part from byte 0 begins anew; after a part that does not fit
  /// all is forgotten.
  mutating func receive(_ part: RecordUpload) -> Upload {
    if part.from == 0 { upload = [] }
    guard part.from == upload.count, part.bytes.count <= RecordPart.bytesMax,
      part.total <= RunRecord.bytesMax, part.from + part.bytes.count <= part.total
    else {
      upload = []
      return .misfit
    }
    upload += part.bytes
    guard upload.count == part.total else { return .incomplete }
    defer { upload = [] }
    return .complete(upload)
  }

  // MARK: Questions

  /// Whether questions wait.
  var hasQuestions: Bool { !questions.isEmpty }

  /// Lets a question about records wait while a record is due; `false` if it can be answered now.
  mutating func ask(_ inquiry: Inquiry, _ number: UInt64, until: BusTime, at now: BusTime) -> Bool {
    hasDue(at: now) && questions.add(inquiry, number, until: until)
  }

  /// Removes and returns the oldest question, once no record is due or it has waited for long enough.
  mutating func takeQuestion(at now: BusTime) -> (inquiry: Inquiry, number: UInt64)? {
    questions.takeDue(isComplete: !hasDue(at: now), at: now)
  }

  // MARK: Journals

  /// Notes when a run ended. Later amendments do not extend the time for which its journal is kept.
  ///
  /// - Returns: the write; `nil` if the end is known, or the run has been a record.
  mutating func endJournal(of run: RunID, at now: BusTime) -> StoreOperation? {
    guard journals[run] == nil, kept[run] == nil, removed[run] == nil else { return nil }
    journals.add(run, at: now)
    return .endJournal(run, at: now)
  }

  /// Notes when a run began by the present wall clock.
  ///
  /// - Returns: the write; `nil` if the date is known.
  mutating func date(_ run: RunID, wallSeconds: Double) -> StoreOperation? {
    guard dates[run] == nil else { return nil }
    dates[run] = wallSeconds
    return .dateRun(run, wallSeconds: wallSeconds)
  }

  /// When a run began by the wall clock of then, in seconds since 1970; `nil` once its journal is dropped.
  func date(of run: RunID) -> Double? { dates[run] }

  /// When a run ended whose journal is kept; `nil` for any other run.
  func end(of run: RunID) -> BusTime? { journals[run] }

  /// Forgets the journal of a run; `false` if there is none.
  mutating func forgetJournal(of run: RunID) -> Bool {
    dates[run] = nil
    return journals.remove(run)
  }

  /// When the next journal can be dropped.
  mutating func journalDeadline(present: RunID?) -> BusTime? {
    if journalDue.edition != edition || journalDue.present != present {
      let first = journals.firstEnd { isJournalComplete($0, present: present) }
      journalDue = (edition, present, first.map { $0 + ControlHistory.age + BusDuration(nanoseconds: 1) })
    }
    return journalDue.at
  }

  /// Removes and returns the runs that have been over for more than a day, whose journals can be dropped.
  mutating func takeJournals(present: RunID?, at now: BusTime) -> [RunID] {
    let due = journals.runs(endedBefore: now - ControlHistory.age).filter { isJournalComplete($0, present: present) }
    for run in due { _ = forgetJournal(of: run) }
    return due
  }

  /// Whether a run's journal is no longer needed: the run has a record, was removed or was discarded. The last run's
  /// journal is needed until the next run begins, because the state is computed from it.
  private func isJournalComplete(_ run: RunID, present: RunID?) -> Bool {
    run != present && expected[run] == nil && reading != run
      && (kept[run] != nil || removed[run] != nil || discarded.contains(run))
  }

  /// The version number of a run's next record.
  func nextVersion(of run: RunID) -> UInt64 { max(kept[run]?.version ?? 0, removed[run] ?? 0) + 1 }

  /// Postpones a record, so that what came while its journal was read can gather.
  mutating func putOff(_ run: RunID, to due: BusTime) { expected[run]?.dueAt = due }

  /// Expects the record of a run at a moment, or earlier if it is expected earlier already.
  ///
  /// - Returns: the write that makes this durable; `nil` if the run's owner has removed its record. It is returned
  ///   again for a run that is expected already, because the earlier one may not be committed yet.
  mutating func expect(
    _ run: RunID, isConflicted: Bool = false, dueAt: BusTime
  ) -> StoreOperation? {
    guard removed[run] == nil else { return nil }
    if var known = expected[run] {
      known.dueAt = min(known.dueAt, dueAt)
      known.hasChanged = true
      expected[run] = known
      return .expectRecord(known.record)
    }
    let record = ExpectedRecord(runID: run, isConflicted: isConflicted || kept[run]?.isConflicted ?? false)
    expected[run] = Expected(record: record, dueAt: dueAt, hasChanged: true)
    return .expectRecord(record)
  }
}
