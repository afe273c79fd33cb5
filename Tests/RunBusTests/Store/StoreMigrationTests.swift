import Foundation
import GRDB
import RunCore
import Testing

@testable import RunBus

@Suite("A store of an older version is taken over")
struct StoreMigrationTests {
  private let storeID = StoreID(high: 5, low: 6)
  private let stream = StreamID(sender: StoreID(high: 1, low: 2), kind: .commands)
  private let run = RunID(high: 3, low: 3)

  /// A file as version 1 left it, with its rows as version 1 wrote them.
  private func makeVersion1(_ path: String, press: AcceptedCommand, verdict: Verdict, window: SettledWindow) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA page_size = 2048")
      try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      try db.execute(sql: "PRAGMA journal_mode = WAL")
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try StoreSchema.migrator.migrate(queue, upTo: "1")
    try queue.write { db in
      func insert(_ sql: String, _ values: [(any DatabaseValueConvertible)?]) throws {
        try db.execute(sql: sql, arguments: StatementArguments(values))
      }
      try insert("UPDATE meta SET value = ? WHERE key = 'store'", [storeID.data])
      try insert("UPDATE meta SET value = 7 WHERE key = 'term'", [])
      try insert("INSERT INTO clock VALUES (1, 10, 20, 'boot', 30.5)", [])
      try insert(
        "INSERT INTO accepted (\(AcceptedCommandColumns.names), class, position) VALUES (\(AcceptedCommandColumns.placeholders), ?, ?)",
        AcceptedCommandColumns.values(press) + ["late", 1])
      try insert(
        """
        INSERT INTO verdicts (\(AcceptedCommandColumns.names), \(VerdictColumns.names))
        VALUES (\(AcceptedCommandColumns.placeholders), \(VerdictColumns.placeholders))
        """, AcceptedCommandColumns.values(press) + VerdictColumns.values(verdict, judgedAt: BusTime(nanoseconds: 44)))
      try insert(
        "INSERT INTO watermarks (sender, stream, sequence) VALUES (?, 'commands', 12)", [stream.sender.data])
      try insert("INSERT INTO runs (number, run, first_position) VALUES (1, ?, 1)", [run.data])
      let change = Author(source: .phone, deviceID: press.deviceID, commandID: press.command.id)
      // The third one amends: it repeats the revision.
      for (index, revision) in [1, 2, 2, 3].enumerated() {
        let transition = Transition(kind: .pause, revision: UInt64(revision), change: change)
        try insert(
          "INSERT INTO journal (position, run, time, kind, payload) VALUES (?, 1, ?, 1, ?)",
          [index + 1, index, JournalCoding.encode(.transition(transition)).payload])
      }
      try insert("INSERT INTO journal (position, run, time, kind, payload) VALUES (9, 1, 8, 1, x'00')", [])
      try insert("INSERT INTO aliases (run, of) VALUES (?, ?)", [RunID(high: 4, low: 4).data, run.data])
      try insert(
        "INSERT INTO windows (first, deadline, applied) VALUES (?, ?, ?)",
        [window.first.nanoseconds, window.deadline.nanoseconds, WindowCoding.encode(window.applied)])
    }
    try queue.close()
  }

  @Test("A store of version 1 keeps everything and gains the outbox")
  func version1() async throws {
    let scratch = try ScratchDirectory()
    var generator = OperationGenerator(seed: 11)
    let (press, window) = (generator.press(), generator.window())
    let verdict = Verdict(
      commandID: press.command.id, kind: press.command.kind, source: press.command.source, outcome: .applied,
      runID: run, term: 7, revision: 3, effectiveAt: BusTime(nanoseconds: 2))
    try makeVersion1(scratch.file("node.sqlite"), press: press, verdict: verdict, window: window)

    var store = try NodeStore(directory: scratch.path)
    for _ in 0..<2 {
      #expect(store.storeID == storeID)
      let history = try store.history()
      #expect(history.term == 7)
      #expect(
        history.clock
          == ClockMark(
            real: BusTime(nanoseconds: 10), bus: BusTime(nanoseconds: 20), bootID: "boot", wallSeconds: 30.5))
      #expect(history.accepted.map(\.press) == [press])
      #expect(history.verdicts.map(\.verdict) == [verdict])
      #expect(history.verdicts.map(\.judgedAt.nanoseconds) == [44])
      #expect(history.delivery.watermarks == [stream: StreamMark(sequence: 12)])
      #expect(history.transitions.map(\.revision) == [1, 2, 2, 3])
      #expect(history.journal.map(\.position) == [1, 2, 3, 4])
      #expect(history.lastPosition == 9)
      #expect(history.aliases == [RunID(high: 4, low: 4): run])
      #expect(history.windows == [window])
      #expect(history.delivery.rows == [] && history.devices == [])
      #expect(try store.peerHistory().hub == nil && store.peerHistory().view == nil)
      #expect(try store.peerHistory().failureMark == HubFailureMark())
      store.close()
      store = try NodeStore(directory: scratch.path)
    }
    #expect(try kinds(scratch, store) == [1, 1, 10, 1, 1])

    store = try NodeStore(directory: scratch.path)
    let row = generator.row(item: .some(generator.item()))
    let mark = StreamMark(sequence: 13, id: MessageID(high: 1, low: 9))
    try await store.commit([.enqueue(row), .setWatermark(stream, mark)])
    #expect(try store.history().delivery.rows == [row])
    #expect(try store.history().delivery.watermarks == [stream: mark])
  }

  @Test("The runs in a store of version 4 are expected to become records; what overlaps another is still marked so")
  func version4() async throws {
    let scratch = try ScratchDirectory()
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA page_size = 2048")
      try db.execute(sql: "PRAGMA journal_mode = WAL")
    }
    let queue = try DatabaseQueue(path: scratch.file("node.sqlite"), configuration: configuration)
    try StoreSchema.migrator.migrate(queue, upTo: "4")
    let whole = RunID(high: 8, low: 8)
    try await queue.write { [run] db in
      for (index, id) in [run, whole].enumerated() {
        try db.execute(
          sql: "INSERT INTO runs (number, run, first_position) VALUES (?, ?, 1)", arguments: [index + 1, id.data])
      }
      try db.execute(sql: "INSERT INTO records VALUES (?, 'watch', 5, 9, 1)", arguments: [whole.data])
      for (position, time) in [(1, 700), (2, 500)] {
        try db.execute(
          sql: "INSERT INTO journal (position, run, time, kind, payload) VALUES (?, 1, ?, 3, x'00')",
          arguments: [position, time])
      }
    }
    try queue.close()

    let store = try NodeStore(directory: scratch.path)
    defer { store.close() }
    let expected = [run, whole].sorted().map { ExpectedRecord(runID: $0, isConflicted: $0 == whole) }
    #expect(try store.history().expectedRecords == expected)
    #expect(try store.history().records == [])
    #expect(try store.history().endedJournals == [run: BusTime(nanoseconds: 700)])
    var generator = OperationGenerator(seed: 3)
    let record = generator.record()
    try await store.commit([.keepRecord(record, change: 1)])
    #expect(try store.history().records == [record.summary])
  }

  @Test("A run that was on in a store of the version before the newest goes on in the newest")
  func versionBefore() async throws {
    let names = StoreSchema.migrator.migrations
    let before = try #require(names.dropLast().last)
    let scratch = try ScratchDirectory()
    let change = Author(
      source: .watch, deviceID: try #require(DeviceID("watch")), commandID: CommandID(high: 4, low: 1))
    let start = LedgerEntry(
      time: .zero + .seconds(5), position: 1, event: .transition(Transition(kind: .start, revision: 1, change: change)))
    let readings = (2...20).map { place in
      LedgerEntry(
        time: .zero + .seconds(Int64(place) + 5), position: UInt64(place),
        event: .sample(.heartRate(bpm: 140), change.deviceID))
    }
    try makeVersion(before, scratch.file("node.sqlite"), entries: [start] + readings)

    for life in 1...2 as ClosedRange<UInt64> {
      let store = try NodeStore(directory: scratch.path)
      #expect(store.notices == [])
      #expect(store.storeID == storeID)
      let history = try store.history()
      #expect(history.presentRun == run)
      #expect(history.journal.filter { if case .gap = $0.event { false } else { true } } == [start] + readings)
      let clock = BusClock.continuing(
        history.clock, lastSign: history.lastSign, real: BusTime(nanoseconds: 1) + .seconds(60 * Int64(life)),
        wallSeconds: 0, bootID: "boot", speed: .realTime)
      let now = clock.bus(at: clock.realAnchor)
      var hub = HubCore(
        settings: HubCore.Settings(
          deviceID: try #require(DeviceID("phone")), nodeID: store.nodeID, storeID: store.storeID,
          debounce: .milliseconds(500), clock: clock, recovery: .resume),
        history: history, now: now, bootID: "boot")
      var commits = hub.receive(.started, at: now)
      while let action = commits.popLast() {
        guard case .commit(let id, let operations) = action else { continue }
        try await store.commit(operations)
        commits += hub.receive(.committed(id), at: now)
      }
      let state = hub.authoritative
      #expect(state.phase == .running && state.order.revision == 1 && state.order.term == 7 + life)
      #expect(state.metrics.elapsed == now - start.time)
      #expect(state.metrics.averageHeartRateBpm == 140)
      store.close()
    }
    #expect(try appliedVersions(scratch) == Set(names))
  }

  private func appliedVersions(_ scratch: ScratchDirectory) throws -> Set<String> {
    let queue = try DatabaseQueue(path: scratch.file("node.sqlite"))
    defer { try? queue.close() }
    return try queue.read { try StoreSchema.migrator.appliedIdentifiers($0) }
  }

  /// A file as a version left it in the middle of a run.
  private func makeVersion(_ version: String, _ path: String, entries: [LedgerEntry]) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA page_size = 2048")
      try db.execute(sql: "PRAGMA journal_mode = WAL")
    }
    try StoreSchema.migrator.migrate(queue, upTo: version)
    try queue.write { db in
      try db.execute(sql: "UPDATE meta SET value = ? WHERE key = 'store'", arguments: [storeID.data])
      try db.execute(sql: "UPDATE meta SET value = 7 WHERE key = 'term'")
      try db.execute(
        sql: "INSERT INTO clock VALUES (1, 1, ?, 'boot', 30.5)", arguments: [(BusTime.zero + .seconds(25)).nanoseconds])
      try db.execute(sql: "INSERT INTO runs (number, run, first_position) VALUES (1, ?, 1)", arguments: [run.data])
      for entry in entries {
        let (kind, payload) = JournalCoding.encode(entry.event)
        try db.execute(
          sql: "INSERT INTO journal (position, run, time, kind, payload) VALUES (?, 1, ?, ?, ?)",
          arguments: [Int64(entry.position), entry.time.nanoseconds, kind.rawValue, payload])
      }
    }
    try queue.close()
  }

  private func kinds(_ scratch: ScratchDirectory, _ store: NodeStore) throws -> [Int] {
    store.close()
    let queue = try DatabaseQueue(path: scratch.file("node.sqlite"))
    defer { try? queue.close() }
    return try queue.read { try Int.fetchAll($0, sql: "SELECT kind FROM journal ORDER BY position") }
  }
}
