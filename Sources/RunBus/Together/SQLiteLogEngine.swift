import Dispatch
import RunCore
import Synchronization

/// The state of a log's thread: the open file, who follows which room, and what waits for its turn to be written.
///
/// `@unchecked Sendable`: `heard` and `shouts` are locked; everything else is used on the thread only, or does not change.
final class SQLiteLogEngine: @unchecked Sendable {
  typealias Job = @Sendable (LogFile) throws(SharedLogError) -> LogBell.Note?
  typealias Done = @Sendable (Result<Void, SharedLogError>) -> Void

  private struct Write {
    let job: Job
    let done: Done
    /// How often others have had the turn, and until when it is tried again.
    var misses: (count: Int, until: BusTime)?
  }
  private struct Follower {
    var cursor: LogCursor
    /// What comes before the next read; at most a word about the log and the batches of one read.
    var news: [LogNews] = []
    var pull: Pull<LogNews>?
    /// The next batch is told also when it is empty.
    var owesBatch = true
    var trouble: String?
  }
  private struct Heard {
    /// What the thread has not looked at yet.
    var notes: [(note: LogBell.Note, moment: BusTime)] = []
    var isLookPending = false
  }
  /// Of more notes that wait the newest stand for the others.
  private static let notesMax = 64
  /// How long the thread waits for a turn before it does other work and tries again. While many write, readings wait: each
  /// then takes in what all of them have written.
  private static let shortPatience = BusDuration.milliseconds(50)
  /// How often a write asks for the turn at least: the thread may be busy with other work for longer than the patience.
  private static let missesMin = 100
  /// How often a write is made anew because the file was replaced under it.
  private static let triesMax = 3
  /// Live messages that wait for the thread; a member may send two a second.
  private static let shoutsMax = 64

  private let place: LogPlace
  private let options: LogOptions
  private let thread: StoreThread
  private let heard = Mutex(Heard())
  private let shouts = Mutex(0)

  private var file: LogFile?
  /// A former file that was moved away, and its write-ahead log.
  private var stray: (file: FileIdentity, wal: FileIdentity)?
  private var turn: LogTurn?
  // Bounded by the callers that wait.
  private var writes: [Write] = []
  private var isRetryPending = false
  private var followers: [Int: Follower] = [:]
  private var lastNumber = 0
  private var marks = BellMarks()
  private var watcher: LogWatcher?
  private var isClosed = false
  private let live: SQLiteLive

  init(_ place: LogPlace, _ options: LogOptions, _ thread: StoreThread) {
    self.place = place
    self.options = options
    self.thread = thread
    live = SQLiteLive(place, options)
  }

  // MARK: The file

  /// The open file; opened anew when another one is at its path.
  func connection() throws(SharedLogError) -> LogFile {
    if isClosed { throw .closed }
    if let file, file.isInPlace { return file }
    leaveFile()
    try refuseStray()
    try place.prepare()
    let turn = try LogTurn(path: place.directory + "/lock")
    guard turn.take(within: options.patience) else { throw .busy }
    defer { turn.giveBack() }
    let file = try LogFile(place, options)
    self.file = file
    self.turn = turn
    return file
  }

  /// SQLite would write the write-ahead log of a former file into whatever file is at the path.
  private func refuseStray() throws(SharedLogError) {
    guard let (former, wal) = stray else { return }
    guard wal.isInPlace, FileIdentity(path: place.file) != nil, !former.isInPlace else {
      if !wal.isInPlace || former.isInPlace { stray = nil }
      return
    }
    throw .unavailable(
      "\(place.file) was replaced and \(wal.path) belongs to the former file: move it away; nothing was changed")
  }

  private func leaveFile() {
    if let file, !file.isInPlace, let wal = file.wal { stray = (file.identity, wal) }
    file?.close()
    (file, turn) = (nil, nil)
    // Positions of another file say nothing about this one.
    marks.removeAll()
  }

  /// Ends all feeds and closes the file.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    watcher?.end()
    watcher = nil
    for write in writes { write.done(.failure(.closed)) }
    writes = []
    for follower in followers.values { _ = follower.pull?.give(nil) }
    followers = [:]
    live.close()
    leaveFile()
  }

  /// Closes, and ends the thread.
  func end() {
    // A feed that goes may be the last that holds the log, on the log's own thread.
    thread.end { [self] in close() }
  }

  // MARK: Writing

  func write(_ job: @escaping Job, _ done: @escaping Done) {
    writes.append(Write(job: job, done: done))
    work()
  }

  /// Writes what waits, in order, as long as it has the turn.
  private func work() {
    while let write = writes.first {
      let result: Result<Void, SharedLogError>
      switch perform(write.job) {
      case .written(let note):
        if let note { place.bell.ring(note) }
        result = .success(())
      case .failed(let error): result = .failure(error)
      case .noTurn:
        let now = Loop.now
        let misses = (count: (write.misses?.count ?? 0) + 1, until: write.misses?.until ?? now + options.patience)
        writes[0].misses = misses
        if now < misses.until || misses.count < Self.missesMin { return tryLater() }
        result = .failure(.busy)
      }
      writes.removeFirst()
      write.done(result)
    }
  }

  private enum Outcome {
    /// It is durable; with what is to be rung.
    case written(LogBell.Note?)
    /// Another process writes.
    case noTurn
    case failed(SharedLogError)
  }

  private func perform(_ job: Job) -> Outcome {
    do throws(SharedLogError) {
      for _ in 1...Self.triesMax {
        let file = try connection()
        guard let turn, turn.take(within: Self.shortPatience) else { return .noTurn }
        defer { turn.giveBack() }
        guard file.isInPlace else { continue }
        let note = try job(file)
        // What was written to a file that is not at the path any more is lost.
        if file.isInPlace { return .written(note) }
      }
      return .failed(.unavailable("\(place.file) is replaced all the time"))
    } catch {
      return .failed(error)
    }
  }

  /// Other work of the thread goes on meanwhile. A wall clock that is set delays nothing.
  private func tryLater() {
    guard !isRetryPending else { return }
    isRetryPending = true
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2)) { [weak self] in
      guard let self else { return }
      _ = thread.enqueue { [self] in
        isRetryPending = false
        work()
      }
    }
  }

  // MARK: Following

  func follow(_ room: RoomID, from position: UInt64) throws(SharedLogError) -> Int {
    let file = try connection()
    try watch()
    lastNumber += 1
    followers[lastNumber] = Follower(cursor: LogCursor(room, from: position, in: file.id))
    return lastNumber
  }

  func unfollow(_ number: Int) { followers[number] = nil }

  func want(_ number: Int, _ pull: Pull<LogNews>) {
    guard followers[number] != nil else { return _ = pull.give(nil) }
    // Two readers of one feed: the one that waits keeps its place until something comes; the other asks again then.
    if let former = followers[number]?.pull, !former.isOver { _ = former.give(nil) }
    followers[number]?.pull = pull
    serve(number)
  }

  /// Gives a follower that waits what is next, if there is something.
  private func serve(_ number: Int) {
    guard var follower = followers[number], let pull = follower.pull else { return }
    if pull.isOver {
      follower.pull = nil
    } else {
      if follower.news.isEmpty { read(&follower) }
      if let next = follower.news.first, pull.give(next) { follower.news.removeFirst() }
      if pull.isOver { follower.pull = nil }
    }
    followers[number] = follower
  }

  private func read(_ follower: inout Follower) {
    do {
      let file = try connection()
      let found = try file.rows(
        of: follower.cursor.room, from: follower.cursor.position, count: LogBounds.batch + 1)
      let clock = try file.now()
      let moment = options.ownClock()
      let (rows, isReplaced) = follower.cursor.take(Array(found.prefix(LogBounds.batch)), of: file.id) {
        (try? file.mayLack($0)) ?? false
      }
      follower.trouble = nil
      if isReplaced {
        marks.removeAll()
        follower.news.append(.replaced(file.id))
        follower.owesBatch = true
      }
      let hasMore = found.count > LogBounds.batch
      var rest = rows[...]
      while let first = rest.first {
        let heard = marks.moment(of: first.position)
        let batch = rest.prefix { marks.moment(of: $0.position) == heard }
        rest = rest.dropFirst(batch.count)
        follower.news.append(
          .rows(
            LogBatch(
              rows: Array(batch), heard: heard ?? moment, hasMore: hasMore || !rest.isEmpty, clock: clock)))
      }
      if rows.isEmpty, follower.owesBatch {
        follower.news.append(.rows(LogBatch(rows: [], heard: moment, hasMore: false, clock: clock)))
      }
      follower.owesBatch = false
    } catch {
      let sentence = error.description
      if follower.trouble != sentence { follower.news.append(.unavailable(sentence)) }
      follower.trouble = sentence
      follower.owesBatch = true
    }
  }

  private func watch() throws(SharedLogError) {
    guard watcher == nil else { return }
    let watcher: LogWatcher
    do { watcher = try LogWatcher() } catch { throw .unavailable(error.message) }
    self.watcher = watcher
    watcher.add(
      LogWatcher.Target(directory: place.directory, bell: place.bell) { [weak self] in self?.rang($0) })
  }

  /// On the watcher's thread.
  private func rang(_ note: LogBell.Note?) {
    let moment = options.ownClock()
    let mustLook = heard.withLock { heard in
      if let note, note != heard.notes.last?.note {
        if heard.notes.count == Self.notesMax { heard.notes.removeFirst() }
        heard.notes.append((note, moment))
      }
      defer { heard.isLookPending = true }
      return !heard.isLookPending
    }
    if mustLook { _ = thread.enqueue { [self] in look() } }
  }

  private func look() {
    let notes = heard.withLock { heard in
      defer { heard = Heard() }
      return heard.notes
    }
    // A bell may still name an entry of the log whose older copy was put back.
    if let file = try? connection() {
      for (note, moment) in notes where file.has(note) { marks.add(note.position, at: moment) }
    }
    for number in followers.keys.sorted() { serve(number) }
  }

  // MARK: Live messages

  /// Whether the thread takes another live message; called by the sender.
  func mayShout() -> Bool {
    shouts.withLock { count in
      guard count < Self.shoutsMax else { return false }
      count += 1
      return true
    }
  }

  func shout(_ bytes: [UInt8], _ kind: LiveKind, _ room: RoomID, _ author: MemberID) {
    shouts.withLock { $0 -= 1 }
    if !isClosed { live.shout(bytes, kind, room, author) }
  }

  func listen(_ room: RoomID) throws(SharedLogError) -> Int {
    if isClosed { throw .closed }
    try place.prepareLive()
    // The directory of the log has the watcher's first bell.
    _ = try connection()
    try watch()
    if !live.isWatched {
      live.isWatched = true
      watcher?.add(
        LogWatcher.Target(directory: place.liveDirectory, bell: place.liveBell) { [weak self] _ in
          guard let self else { return }
          _ = thread.enqueue { [self] in live.serveAll() }
        })
    }
    lastNumber += 1
    live.listen(room, lastNumber)
    return lastNumber
  }

  func unlisten(_ number: Int) { live.unlisten(number) }
  func want(_ number: Int, _ pull: Pull<[LiveRow]>) { live.want(number, pull) }
}
