import Foundation
import GRDB
import RunCore
import TestSupport
import Testing

@testable import RunBus

/// A kind of log; a suite runs on each.
enum LogKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory
  case sqlite

  var testDescription: String { rawValue }

  /// Runs a test with a log of this kind.
  func withFleet(_ body: @Sendable (LogFleet) async throws -> Void) async throws {
    try await withTestBus { bus in
      let fleet = LogFleet(self, bus)
      do { try await body(fleet) } catch {
        await fleet.close()
        throw error
      }
      await fleet.close()
    }
  }
}

/// The members of a log in a test.
final class LogFleet: Sendable {
  let place: LogPlace
  /// How much of one author the log takes.
  static let capacity: LogCapacity = {
    var capacity = LogCapacity()
    (capacity.entriesOfAuthor, capacity.advertsOfAuthor) = (12, 9)
    return capacity
  }()
  /// How far the machine's clock was moved on by the test.
  let passed = Mutexed(BusDuration.zero)
  private let memory: MemoryLog?
  private let members = Mutexed<[any SharedLog]>([])
  private let copied = Mutexed<UInt64>(0)

  init(_ kind: LogKind, _ bus: TestBus) {
    place = bus.logPlace
    let passed = passed
    memory = kind == .memory ? MemoryLog(capacity: Self.capacity) { Loop.now + passed.withLock { $0 } } : nil
  }

  /// Options for a log whose machine's clock the test moves on.
  var options: LogOptions {
    var options = LogOptions()
    options.capacity = Self.capacity
    let passed = passed
    options.machineClock = { Loop.now + passed.withLock { $0 } }
    return options
  }

  /// Another member: an access of its own to the log.
  ///
  /// - Parameter ahead: How far its own clock is ahead of the machine's.
  func member(ahead: BusDuration = .zero) -> any SharedLog {
    var options = options
    let machine = options.machineClock
    options.ownClock = { machine() + ahead }
    let member: any SharedLog = memory?.another(clock: options.ownClock) ?? SQLiteLog(place, options: options)
    members.withLock { $0.append(member) }
    return member
  }

  /// Keeps a copy of the log as it is.
  func copy(of log: any SharedLog) async throws {
    let newest = try await log.rooms().first?.position ?? 0
    copied.withLock { $0 = newest }
    guard memory == nil else { return }
    let queue = try DatabaseQueue(path: place.file)
    try await queue.writeWithoutTransaction { [place] in
      try $0.execute(sql: "VACUUM INTO ?", arguments: [place.file + ".copy"])
    }
    try queue.close()
  }

  /// Puts the copy back.
  func putCopyBack() throws {
    if let memory { return memory.loseTail(after: copied.withLock { $0 }) }
    for suffix in ["-wal", "-shm"] { unlink(place.file + suffix) }
    #expect(rename(place.file + ".copy", place.file) == 0)
  }

  /// Takes the log away, so that a new one begins.
  func takeAway() {
    if let memory { return memory.beginAnew() }
    for suffix in ["-wal", "-shm", ""] { unlink(place.file + suffix) }
  }

  func close() async {
    for member in members.withLock({ $0 }) { await member.close() }
  }
}

extension TestBus {
  /// The place of a log in the directories of the test.
  var logPlace: LogPlace {
    LogPlace("crew", environment: ["XDG_STATE_HOME": stateDirectory, "XDG_RUNTIME_DIR": runtimeDirectory])
  }
}

extension MemberID {
  /// A member for tests.
  static func test(_ number: UInt8) -> MemberID {
    MemberID([UInt8](repeating: number, count: 32)) ?? { preconditionFailure("32 bytes are a key") }()
  }
}

/// Reads a feed to its end, for a test that waits for what comes.
final class FeedReader<Element: Sendable>: Sendable {
  let log = EventLog<Element?>()
  private let task: Task<Void, Never>

  init(_ feed: PulledFeed<Element>) {
    task = Task { [log] in
      for await element in feed { log.append(element) }
      log.append(nil)
    }
  }
  deinit { task.cancel() }

  /// Waits for the end of the feed.
  func end() async throws {
    try await log.wait(for: "the end of the feed") { $0.last.map { $0 == nil } ?? false ? true : nil }
  }
}

extension FeedReader where Element == LogNews {
  /// The rows so far, in the order in which they came.
  var rows: [LogRow] { log.events.flatMap(\.rows) }
  /// Waits for so many rows; returns all.
  @discardableResult
  func rows(_ count: Int) async throws -> [LogRow] {
    try await log.wait(for: "\(count) rows") { events in
      let rows = events.flatMap(\.rows)
      return rows.count >= count ? rows : nil
    }
  }
}

extension LogNews? {
  var rows: [LogRow] { if case .rows(let batch) = self { batch.rows } else { [] } }
  var replacement: LogID? { if case .replaced(let id) = self { id } else { nil } }
  var trouble: String? { if case .unavailable(let sentence) = self { sentence } else { nil } }
}
