package import RunCore
import Synchronization

/// A log in memory, for tests and simulated buses: the same contract as a real one, and switches for what goes wrong.
///
/// ``another()`` is another member's access to the same log, with switches of its own.
package final class MemoryLog: SharedLog {
  /// What goes wrong for one member.
  package struct Faults: Hashable, Sendable {
    /// Entries are stored, and their appends throw.
    package var losesAnswers = false
    /// Nothing reaches the log, and nothing comes from it.
    package var isStopped = false
    /// So long after an entry is in the log it is told, by the wall's watch and not by the test's clock.
    package var delay = Duration.zero
    /// After a stop so many entries are read again that were given already.
    package var rereads = 0
    /// No fault.
    package init() {}
  }

  private struct Follower {
    var cursor: LogCursor
    var news: [LogNews] = []
    var pull: Pull<LogNews>?
    var owesBatch = true
    var isStopTold = false
    /// Rows that come once more after a stop.
    var again: [LogRow] = []
    /// The newest rows that were given.
    var given: [LogRow] = []
  }
  private struct Listener {
    let room: RoomID
    var number: UInt64 = 0
    var pull: Pull<[LiveRow]>?
  }
  private struct State {
    var faults = Faults()
    var followers: [Int: Follower] = [:]
    var listeners: [Int: Listener] = [:]
    var lastNumber = 0
    var isClosed = false
  }

  private let service: Service
  private let clock: @Sendable () -> BusTime
  private let state = Mutex(State())

  /// A new log.
  ///
  /// - Parameters:
  ///   - capacity: How much of one author it takes.
  ///   - clock: The monotonic clock of its members, from which the log's clock is made.
  package convenience init(
    capacity: LogCapacity = LogCapacity(), clock: @escaping @Sendable () -> BusTime = { Loop.now }
  ) {
    self.init(Service(capacity, clock), clock)
  }

  private init(_ service: Service, _ clock: @escaping @Sendable () -> BusTime) {
    (self.service, self.clock) = (service, clock)
    service.add(self)
  }

  /// Another member's access to the same log.
  ///
  /// - Parameter clock: That member's monotonic clock; `nil` for the same one.
  package func another(clock: (@Sendable () -> BusTime)? = nil) -> MemoryLog {
    MemoryLog(service, clock ?? self.clock)
  }

  // MARK: Switches

  /// What goes wrong for this member.
  package var faults: Faults {
    get { state.withLock { $0.faults } }
    set {
      state.withLock { state in
        let isBack = state.faults.isStopped && !newValue.isStopped
        state.faults = newValue
        guard isBack, newValue.rereads > 0 else { return }
        for number in state.followers.keys {
          guard let given = state.followers[number]?.given else { continue }
          state.followers[number]?.again = Array(given.suffix(newValue.rereads))
        }
      }
      serve()
    }
  }

  /// Sets the log's clock, for all members. Its times stand still until one that was set back has caught up.
  package func step(by span: BusDuration) { service.state.withLock { $0.offset = $0.offset + span } }

  /// Puts an older copy back, for all members: the entries after a position are gone, and their positions are used again.
  package func loseTail(after position: UInt64) {
    service.state.withLock { state in
      state.entries.removeAll { $0.row.position > position }
      state.lastPosition = min(state.lastPosition, position)
    }
    service.ring()
  }

  /// Changes what the log has of a room, as somebody can who writes past its rules. Nobody is told.
  package func tamper(with room: RoomID, _ change: (inout [LogRow]) -> Void) {
    service.state.withLock { state in
      var rows = state.entries.filter { $0.room == room }.map(\.row)
      change(&rows)
      let changed = state.entries.filter { $0.room != room } + rows.map { Service.Entry(room: room, row: $0) }
      state.entries = changed.sorted { $0.row.position < $1.row.position }
      state.lastPosition = max(state.lastPosition, state.entries.last?.row.position ?? 0)
    }
  }

  /// Begins the log anew, for all members.
  package func beginAnew() {
    service.state.withLock { $0 = Service.Content(offset: $0.offset) }
    service.ring()
  }

  // MARK: The log

  package func identity() async throws(SharedLogError) -> LogID {
    try reach()
    return service.state.withLock { $0.id }
  }
  package func now() async throws(SharedLogError) -> LogTime {
    try reach()
    return service.now()
  }

  package func follow(_ room: RoomID, from position: UInt64) async throws(SharedLogError) -> LogFeed {
    try reach()
    let log = service.state.withLock { $0.id }
    let number = state.withLock { state in
      state.lastNumber += 1
      state.followers[state.lastNumber] = Follower(cursor: LogCursor(room, from: position, in: log))
      return state.lastNumber
    }
    return LogFeed { [self] pull in
      let former = state.withLock { state -> Pull<LogNews>? in
        guard state.followers[number] != nil else { return pull }
        defer { state.followers[number]?.pull = pull }
        return state.followers[number]?.pull
      }
      _ = former?.give(nil)
      serve()
    } end: { [weak self] in
      self?.state.withLock { $0.followers[number] = nil }
    }
  }

  package func append(_ bytes: [UInt8], author: MemberID, to room: RoomID) async throws(SharedLogError) {
    guard bytes.count <= LogBounds.bytes else { throw .full(.bytes) }
    try reach()
    try service.append(bytes, author, room)
    service.ring()
    if faults.losesAnswers { throw .unavailable("the answer of the log was lost") }
  }

  package func rooms() async throws(SharedLogError) -> [LogRoom] {
    try reach()
    return service.state.withLock { state in
      Dictionary(grouping: state.entries, by: \.room).compactMap { room, entries in
        entries.last.map {
          LogRoom(
            room: room, position: $0.row.position, time: entries.map(\.row.time).max() ?? $0.row.time,
            count: entries.count)
        }
      }.sorted { $0.position > $1.position }
    }
  }
  package func rows(of room: RoomID, from position: UInt64, count: Int) async throws(SharedLogError) -> [LogRow] {
    try reach()
    return service.rows(of: room, from: position, count: max(0, min(count, LogBounds.batch)))
  }

  package func announce(
    _ advert: [UInt8]?, class name: String, author: MemberID
  ) async throws(SharedLogError) {
    guard (1...LogBounds.classBytes).contains(name.utf8.count) else { throw .full(.className) }
    guard advert?.count ?? 0 <= LogBounds.bytes else { throw .full(.bytes) }
    try reach()
    try service.announce(advert, name, author)
  }
  package func adverts(_ classes: [String]) async throws(SharedLogError) -> [LogAdvert] {
    try reach()
    return service.adverts(Set(classes))
  }

  package func claim(_ nickname: Nickname, for member: MemberID) async throws(SharedLogError) -> Bool {
    try reach()
    return service.state.withLock { state in
      if let owner = state.names[nickname.logKey] { return owner == member }
      state.names = state.names.filter { $0.value != member }
      state.names[nickname.logKey] = member
      return true
    }
  }

  package func shout(_ bytes: [UInt8], kind: LiveKind, room: RoomID, author: MemberID) {
    guard bytes.count <= LogBounds.bytes, (try? reach()) != nil else { return }
    if service.shout(bytes, kind, room, author) { service.ring() }
  }
  package func listen(_ room: RoomID) async throws(SharedLogError) -> LiveFeed {
    try reach()
    let number = state.withLock { state in
      state.lastNumber += 1
      state.listeners[state.lastNumber] = Listener(room: room)
      return state.lastNumber
    }
    return LiveFeed { [self] pull in
      let former = state.withLock { state -> Pull<[LiveRow]>? in
        guard state.listeners[number] != nil else { return pull }
        defer { state.listeners[number]?.pull = pull }
        return state.listeners[number]?.pull
      }
      _ = former?.give(nil)
      serve()
    } end: { [weak self] in
      self?.state.withLock { $0.listeners[number] = nil }
    }
  }

  package func close() async {
    let (followers, listeners) = state.withLock { state in
      state.isClosed = true
      defer { (state.followers, state.listeners) = ([:], [:]) }
      return (state.followers.values.compactMap(\.pull), state.listeners.values.compactMap(\.pull))
    }
    for pull in followers { _ = pull.give(nil) }
    for pull in listeners { _ = pull.give(nil) }
  }

  /// Fails when this member cannot reach the log.
  private func reach() throws(SharedLogError) {
    let (isClosed, isStopped) = state.withLock { ($0.isClosed, $0.faults.isStopped) }
    if isClosed { throw .closed }
    if isStopped { throw .unavailable(Self.outOfReach) }
  }
  private static let outOfReach = "the log is out of reach"

  // MARK: Feeds

  /// Gives those who wait what is next. Called when something has happened, on any thread.
  fileprivate func serve() {
    state.withLock { state in
      for number in state.followers.keys.sorted() {
        if var follower = state.followers[number] {
          serve(&follower, state.faults)
          state.followers[number] = follower
        }
      }
      guard !state.faults.isStopped else { return }
      for number in state.listeners.keys.sorted() {
        guard let listener = state.listeners[number], let pull = listener.pull, !pull.isOver else { continue }
        let (rows, newest) = service.live(of: listener.room, after: listener.number, own: clock())
        guard !rows.isEmpty, pull.give(rows) else { continue }
        state.listeners[number] = Listener(room: listener.room, number: newest)
      }
    }
  }

  private func serve(_ follower: inout Follower, _ faults: Faults) {
    guard let pull = follower.pull, !pull.isOver else { return }
    if follower.news.isEmpty { read(&follower, faults) }
    guard let next = follower.news.first else { return }
    guard case .rows(let batch) = next, faults.delay > .zero else {
      if pull.give(next) { follower.news.removeFirst() }
      follower.pull = nil
      return
    }
    follower.news.removeFirst()
    follower.pull = nil
    // A cancelled reader of a log that is late loses the batch with its feed.
    Task { [clock, delay = faults.delay] in
      try? await Task.sleep(for: delay)
      _ = pull.give(.rows(LogBatch(rows: batch.rows, heard: clock(), hasMore: batch.hasMore, clock: batch.clock)))
    }
  }

  private func read(_ follower: inout Follower, _ faults: Faults) {
    guard !faults.isStopped else {
      if !follower.isStopTold { follower.news.append(.unavailable(Self.outOfReach)) }
      follower.owesBatch = true
      return follower.isStopTold = true
    }
    follower.isStopTold = false
    let found = service.rows(of: follower.cursor.room, from: follower.cursor.position, count: LogBounds.batch + 1)
    // What a reader that connects again is given twice by its server stays below the feed.
    let known = Set(found.map(\.position))
    let answer = follower.again.filter { !known.contains($0.position) } + found.prefix(LogBounds.batch)
    follower.again = []
    let fresh = answer.filter { $0.position >= follower.cursor.position }
    let id = service.state.withLock { $0.id }
    // It deletes nothing.
    let (rows, isReplaced) = follower.cursor.take(fresh, of: id) { _ in false }
    if isReplaced { follower.news.append(.replaced(id)) }
    if !rows.isEmpty || isReplaced || follower.owesBatch {
      follower.news.append(
        .rows(
          LogBatch(
            rows: rows, heard: clock(), hasMore: found.count > LogBounds.batch, clock: service.now())))
    }
    follower.owesBatch = false
    follower.given = (isReplaced ? [] : follower.given.suffix(LogBounds.batch)) + rows
  }
}

// MARK: -

/// What the members of a log in memory share.
private final class Service: Sendable {
  struct Entry {
    let room: RoomID
    let row: LogRow
  }
  struct Content {
    let id = LogID.random()
    var offset: BusDuration
    var entries: [Entry] = []
    var lastPosition: UInt64 = 0
    var lastTime = LogTime.zero
    var adverts: [String: [MemberID: LogAdvert]] = [:]
    var names: [String: MemberID] = [:]
    var live: [(number: UInt64, room: RoomID, row: LiveRow)] = []
    var lastLive: UInt64 = 0
    var paces: [RoomID: [MemberID: [BusTime]]] = [:]
  }
  private struct Member { weak var log: MemoryLog? }

  let state = Mutex(Content(offset: .seconds(1_000_000)))
  private let members = Mutex<[Member]>([])
  private let clock: @Sendable () -> BusTime

  private let capacity: LogCapacity

  init(_ capacity: LogCapacity, _ clock: @escaping @Sendable () -> BusTime) {
    (self.capacity, self.clock) = (capacity, clock)
  }

  func add(_ log: MemoryLog) {
    members.withLock { members in
      members.removeAll { $0.log == nil }
      members.append(Member(log: log))
    }
  }

  func ring() {
    for log in members.withLock({ $0.compactMap(\.log) }) { log.serve() }
  }

  func now() -> LogTime { state.withLock { now($0) } }
  private func now(_ state: Content) -> LogTime {
    let present = LogTime(nanoseconds: clock().nanoseconds) + state.offset
    return max(present, state.lastTime + BusDuration(nanoseconds: 1))
  }

  func append(_ bytes: [UInt8], _ author: MemberID, _ room: RoomID) throws(SharedLogError) {
    let isTaken = state.withLock { state in
      let rows = state.entries.lazy.filter { $0.room == room && $0.row.author == author }
      if rows.prefix(capacity.entriesOfAuthor).count == capacity.entriesOfAuthor {
        var own = AuthorEntries(of: author, in: room, max: capacity.entriesOfAuthor)
        for entry in rows.prefix(own.rowsMax) { own.take(entry.row.body) }
        guard !own.isFull else { return false }
      }
      state.lastPosition += 1
      state.lastTime = now(state)
      let row = LogRow(position: state.lastPosition, time: state.lastTime, author: author, body: bytes)
      state.entries.append(Entry(room: room, row: row))
      return true
    }
    if !isTaken { throw .full(.entries) }
  }

  func rows(of room: RoomID, from position: UInt64, count: Int) -> [LogRow] {
    state.withLock { state in
      Array(state.entries.lazy.filter { $0.room == room && $0.row.position >= position }.prefix(count).map(\.row))
    }
  }

  func announce(_ advert: [UInt8]?, _ name: String, _ author: MemberID) throws(SharedLogError) {
    let isTaken = state.withLock { state in
      let now = now(state)
      state.adverts[name]?[author] = nil
      for name in state.adverts.keys {
        state.adverts[name] = state.adverts[name]?.filter { $0.value.time >= now - LogBounds.advertAge }
      }
      guard let advert else { return true }
      let own = state.adverts.compactMap { name, adverts in adverts[author].map { (name, $0.body) } }
      if own.count >= capacity.advertsOfAuthor {
        let foreign = own.filter { !EntrySigning.isAdvert($0.1, listedAs: $0.0, author: author) }
        for (name, _) in foreign { state.adverts[name]?[author] = nil }
        guard own.count - foreign.count < capacity.advertsOfAuthor else { return false }
      }
      state.adverts[name, default: [:]][author] = LogAdvert(author: author, time: now, body: advert)
      return true
    }
    if !isTaken { throw .full(.adverts) }
  }

  func adverts(_ classes: Set<String>) -> [LogAdvert] {
    state.withLock { state in
      let since = now(state) - LogBounds.advertAge
      return classes.sorted().flatMap { state.adverts[$0]?.values.filter { $0.time >= since } ?? [] }
        .sorted { ($0.time, $0.author) < ($1.time, $1.author) }
    }
  }

  func shout(_ bytes: [UInt8], _ kind: LiveKind, _ room: RoomID, _ author: MemberID) -> Bool {
    state.withLock { state in
      let now = clock()
      let recent = state.paces[room]?[author]?.filter { now - $0 < .seconds(1) } ?? []
      guard recent.count < LogBounds.liveInSecond else { return false }
      state.paces[room, default: [:]][author] = recent + [now]
      state.live.removeAll { $0.room == room && $0.row.author == author && $0.row.kind == kind }
      state.lastLive += 1
      state.live.append(
        (state.lastLive, room, LiveRow(author: author, kind: kind, body: bytes, sent: now)))
      return true
    }
  }

  /// The messages after a number, with moments on the clock that shows `own` now; and the number of the newest.
  func live(of room: RoomID, after number: UInt64, own: BusTime) -> ([LiveRow], UInt64) {
    state.withLock { state in
      let now = clock()
      let found = state.live.filter {
        $0.room == room && $0.number > number && now - $0.row.sent <= LogBounds.liveAge
      }
      let rows = found.map {
        LiveRow(
          author: $0.row.author, kind: $0.row.kind, body: $0.row.body, sent: own - max(.zero, now - $0.row.sent))
      }
      return (rows, found.last?.number ?? number)
    }
  }
}
