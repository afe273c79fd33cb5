package import RunCore
import Synchronization

/// A log that the processes of one user on one machine share: a SQLite file, with a bell beside it.
///
/// Nothing is opened before it is needed, and what could not be opened is tried again by the next call. All SQLite work
/// is done on one thread of the log's own.
package final class SQLiteLog: SharedLog {
  /// Where the log is.
  package let place: LogPlace
  private let engine: SQLiteLogEngine
  private let thread: StoreThread

  /// A log at a place; makes and opens nothing.
  package init(_ place: LogPlace, options: LogOptions = LogOptions()) {
    self.place = place
    thread = StoreThread(name: "runbus.log")
    engine = SQLiteLogEngine(place, options, thread)
  }

  deinit { engine.end() }

  package func identity() async throws(SharedLogError) -> LogID {
    try await ask { engine throws(SharedLogError) in try engine.connection().id }
  }
  package func now() async throws(SharedLogError) -> LogTime {
    try await ask { engine throws(SharedLogError) in try engine.connection().now() }
  }

  package func follow(_ room: RoomID, from position: UInt64) async throws(SharedLogError) -> LogFeed {
    let number = try await ask { engine throws(SharedLogError) in try engine.follow(room, from: position) }
    return feed(want: { engine, pull in engine.want(number, pull) }, end: { $0.unfollow(number) })
  }

  package func append(_ bytes: [UInt8], author: MemberID, to room: RoomID) async throws(SharedLogError) {
    guard bytes.count <= LogBounds.bytes else { throw .full(.bytes) }
    try await write { file throws(SharedLogError) in try file.append(bytes, author, room) }
  }
  package func rooms() async throws(SharedLogError) -> [LogRoom] {
    try await ask { engine throws(SharedLogError) in try engine.connection().rooms() }
  }
  package func rows(of room: RoomID, from position: UInt64, count: Int) async throws(SharedLogError) -> [LogRow] {
    try await ask { engine throws(SharedLogError) in
      try engine.connection().rows(of: room, from: position, count: max(0, min(count, LogBounds.batch)))
    }
  }

  package func announce(
    _ advert: [UInt8]?, class name: String, author: MemberID
  ) async throws(SharedLogError) {
    guard (1...LogBounds.classBytes).contains(name.utf8.count) else { throw .full(.className) }
    guard advert?.count ?? 0 <= LogBounds.bytes else { throw .full(.bytes) }
    try await write { file throws(SharedLogError) in
      try file.announce(advert, name, author)
      return nil
    }
  }
  package func adverts(_ classes: [String]) async throws(SharedLogError) -> [LogAdvert] {
    try await ask { engine throws(SharedLogError) in try engine.connection().adverts(classes) }
  }

  package func claim(_ nickname: Nickname, for member: MemberID) async throws(SharedLogError) -> Bool {
    let isTaken = Mutex(false)
    try await write { file throws(SharedLogError) in
      let own = try file.claim(nickname, for: member)
      isTaken.withLock { $0 = own }
      return nil
    }
    return isTaken.withLock { $0 }
  }

  package func shout(_ bytes: [UInt8], kind: LiveKind, room: RoomID, author: MemberID) {
    guard bytes.count <= LogBounds.bytes, engine.mayShout() else { return }
    _ = thread.enqueue { [engine] in engine.shout(bytes, kind, room, author) }
  }
  package func listen(_ room: RoomID) async throws(SharedLogError) -> LiveFeed {
    let number = try await ask { engine throws(SharedLogError) in try engine.listen(room) }
    return feed(want: { engine, pull in engine.want(number, pull) }, end: { $0.unlisten(number) })
  }

  package func close() async {
    await withCheckedContinuation { continuation in
      let isTaken = thread.enqueue { [engine] in
        engine.close()
        continuation.resume()
      }
      if !isTaken { continuation.resume() }
    }
    engine.end()
  }

  // MARK: To the thread and back

  private func ask<Value: Sendable>(
    _ job: @escaping @Sendable (SQLiteLogEngine) throws(SharedLogError) -> Value
  ) async throws(SharedLogError) -> Value {
    let result: Result<Value, SharedLogError> = await withCheckedContinuation { continuation in
      let isTaken = thread.enqueue { [engine] in
        continuation.resume(returning: Result { () throws(SharedLogError) in try job(engine) })
      }
      if !isTaken { continuation.resume(returning: .failure(.closed)) }
    }
    return try result.get()
  }

  /// Writes, when it is this process's turn.
  private func write(
    _ job: @escaping @Sendable (LogFile) throws(SharedLogError) -> LogBell.Note?
  ) async throws(SharedLogError) {
    let result: Result<Void, SharedLogError> = await withCheckedContinuation { continuation in
      let isTaken = thread.enqueue { [engine] in engine.write(job) { continuation.resume(returning: $0) } }
      if !isTaken { continuation.resume(returning: .failure(.closed)) }
    }
    try result.get()
  }

  /// A feed ends with the log.
  private func feed<Element: Sendable>(
    want: @escaping @Sendable (SQLiteLogEngine, Pull<Element>) -> Void,
    end: @escaping @Sendable (SQLiteLogEngine) -> Void
  ) -> PulledFeed<Element> {
    PulledFeed { [engine, thread] pull in
      if !thread.enqueue({ want(engine, pull) }) { _ = pull.give(nil) }
    } end: { [engine, thread] in
      _ = thread.enqueue { end(engine) }
    }
  }
}
