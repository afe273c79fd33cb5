import GRDB
import RunCore
import Testing

@testable import RunBus

@Suite("Records in a store")
struct StoreRecordTests {
  private func part(_ store: NodeStore, _ run: RunID, from: Int) async throws -> RecordPart? {
    let reading = await withCheckedContinuation { continuation in
      store.readRecord(of: run, from: from) { continuation.resume(returning: $0) }
    }
    guard case .found(let stored) = reading else { return nil }
    #expect(try store.history().recordChanges[run] == stored.change)
    #expect(try store.history().records == [stored.summary])
    return stored.part
  }

  /// Whether in memory or on a disk.
  private func stores(_ scratch: ScratchDirectory) throws -> [NodeStore] {
    [NodeStore(), try NodeStore(directory: scratch.path)]
  }

  @Test("A body comes back in parts as it was written; an edit leaves it, a removal takes it")
  func parts() async throws {
    let scratch = try ScratchDirectory()
    for store in try stores(scratch) {
      defer { store.close() }
      var generator = OperationGenerator(seed: 5)
      var record = generator.record()
      let point = RoutePoint(
        offset: .seconds(1), position: Position(latitude: 1, longitude: 2, horizontalAccuracyMeters: 3),
        verdict: .counted)
      record.body.route = [RoutePoint](repeating: point, count: 3000)
      try await store.commit([.keepRecord(record, change: 7)])
      var summary = record.summary
      summary.version += 1
      summary.title = "another"
      try await store.commit([.editRecord(summary, change: 8)])
      var bytes: [UInt8] = []
      repeat {
        let part = try #require(try await part(store, record.runID, from: bytes.count))
        #expect(part.version == summary.version && part.from == bytes.count)
        #expect(part.bytes.count <= RecordPart.bytesMax)
        bytes += part.bytes
        if bytes.count >= part.total { break }
      } while true
      #expect(bytes.count > RecordPart.bytesMax)
      #expect(RecordBody(encoded: bytes) == record.body)
      #expect(try store.history().records == [summary])
      try await store.commit([.removeRecord(record.runID, version: 9, change: 10)])
      #expect(try await part(store, record.runID, from: 0) == nil)
      #expect(try store.history().removedRecords == [record.runID: 9])
      #expect(try store.history().recordChanges == [record.runID: 10])
      try await store.commit([.setRecordsThrough(11)])
      #expect(try store.peerHistory().recordsThrough == 11)
    }
  }

  @Test("The journal of one run is read without those of others")
  func journal() async throws {
    let scratch = try ScratchDirectory()
    for store in try stores(scratch) {
      defer { store.close() }
      let runs = [RunID(high: 1, low: 1), RunID(high: 1, low: 2)]
      let entries = (1...6).map { index in
        LedgerEntry(
          time: BusTime(nanoseconds: Int64(index)), position: UInt64(index), event: .gap(.seconds(Int64(index))))
      }
      try await store.commit(entries.enumerated().map { .append(runs[$0.offset % 2], $0.element) })
      let read = try await withCheckedContinuation { continuation in
        store.readJournal(of: runs[1]) { continuation.resume(returning: $0) }
      }.get()
      #expect(read == [entries[1], entries[3], entries[5]])
    }
  }

  @Test("Of a dropped journal only the time line is read, at once; the rest is gone when the store is closed")
  func dropped() async throws {
    let scratch = try ScratchDirectory()
    let runs = [RunID(high: 1, low: 1), RunID(high: 1, low: 2)]
    let change = Author(source: .phone, deviceID: DeviceID("phone"), commandID: CommandID(high: 0, low: 1))
    // More than one piece, of two runs by turns; every thousandth is a transition, half of these made no
    // revision, and the entry behind it is a gap.
    let entries = (1...UInt64(10_000)).map { position in
      let transition = Transition(kind: .pause, revision: position / 2000, change: change)
      return LedgerEntry(
        time: BusTime(nanoseconds: Int64(position)), position: position,
        event: position % 1000 < 2 ? .transition(transition) : position % 1000 < 4 ? .gap(.seconds(1)) : .lap(change))
    }
    func isOfFirst(_ entry: LedgerEntry) -> Bool { entry.position % 2 == 1 }
    func isOfTimeLine(_ entry: LedgerEntry) -> Bool { entry.position % 1000 < 4 }
    func read(_ store: NodeStore, _ run: RunID) async throws -> [LedgerEntry] {
      try await withCheckedContinuation { continuation in
        store.readJournal(of: run) { continuation.resume(returning: $0) }
      }.get()
    }
    for store in try stores(scratch) {
      try await store.commit(entries.map { .append(runs[isOfFirst($0) ? 0 : 1], $0) })
      let transitions = try store.history().transitions
      try await store.commit(runs.map { .endJournal($0, at: BusTime(nanoseconds: 77)) })
      #expect(try store.history().endedJournals.count == 2)
      try await store.commit([.dropJournal(runs[0])])
      #expect(try await read(store, runs[0]) == entries.filter { isOfFirst($0) && isOfTimeLine($0) })
      #expect(try await read(store, runs[1]) == entries.filter { !isOfFirst($0) })
      #expect(try store.history().endedJournals == [runs[1]: BusTime(nanoseconds: 77)])
      #expect(try store.history().transitions == transitions)
      // The highest place is swept, too, and is not used again.
      try await store.commit([.dropJournal(runs[1])])
      #expect(try store.history().lastPosition == 10_000)
      store.close()
    }
    let queue = try DatabaseQueue(path: scratch.file("node.sqlite"))
    let left = try await queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM journal") }
    try queue.close()
    #expect(left == entries.count(where: isOfTimeLine))
    let store = try NodeStore(directory: scratch.path)
    defer { store.close() }
    #expect(try store.history().lastPosition == 10_000)
  }
}
