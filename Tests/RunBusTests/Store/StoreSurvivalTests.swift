import Foundation
import RunCore
import RunWire
import Testing

@testable import RunBus

@Suite("A store survives what happens to it")
struct StoreSurvivalTests {
  @Test("What was committed is there after a death without warning")
  func deathWithoutWarning() async throws {
    let (scratch, copy) = (try ScratchDirectory(), try ScratchDirectory())
    let store = try NodeStore(directory: scratch.path)
    let memory = NodeStore()
    var generator = OperationGenerator(seed: 42)
    for _ in 0..<40 {
      let batch = generator.batch()
      try await store.commit(batch)
      try await memory.commit(batch)
    }
    try copy.takeFiles(of: scratch)
    #expect(try copy.names().contains("node.sqlite-wal"))
    let survivor = try NodeStore(directory: copy.path)
    #expect(survivor.storeID == store.storeID)
    #expect(ComparableHistory(try survivor.history()) == ComparableHistory(try memory.history()))
    #expect(survivor.notices == [])
  }

  @Test("A log cut anywhere leaves whole commits only", arguments: [0.1, 0.35, 0.6, 0.85, 0.99])
  func cutLog(part: Double) async throws {
    let (scratch, copy) = (try ScratchDirectory(), try ScratchDirectory())
    let store = try NodeStore(directory: scratch.path)
    // Each commit writes two rows that must never be apart.
    let stream = StreamID(sender: StoreID(high: 1, low: 1), kind: .samples)
    for number in 1...UInt64(80) {
      try await store.commit([.setWatermark(stream, StreamMark(sequence: number)), .setTerm(number)])
    }
    try copy.takeFiles(of: scratch)
    let log = copy.file("node.sqlite-wal")
    let bytes = try Data(contentsOf: URL(filePath: log))
    try bytes.prefix(Int(Double(bytes.count) * part)).write(to: URL(filePath: log))
    let survivor = try NodeStore(directory: copy.path)
    let history = try survivor.history()
    #expect(history.term == history.delivery.watermarks[stream]?.sequence ?? 0)
    #expect(history.term < 80)
  }

  @Test("A damaged store is set aside, named, and a new one begins", arguments: ["text", "page", "identity"])
  func damaged(kind: String) async throws {
    let scratch = try ScratchDirectory()
    var store = try NodeStore(directory: scratch.path)
    var generator = OperationGenerator(seed: 3)
    try await store.commit((0..<50).flatMap { _ in generator.batch() })
    let lost = store.storeID
    store.close()
    try damage(scratch.file("node.sqlite"), kind)
    let damagedBytes = try Data(contentsOf: URL(filePath: scratch.file("node.sqlite")))

    store = try NodeStore(directory: scratch.path)
    #expect(store.storeID != lost)
    #expect(store.notices.count == 1)
    #expect(store.notices.first?.contains(scratch.file("damaged-1")) == true)
    // A store without its identity holds all its rows still.
    #expect(try (store.history().lastPosition == 0) == (kind != "identity"))
    #expect(try Data(contentsOf: URL(filePath: scratch.file("damaged-1/node.sqlite"))) == damagedBytes)
    store.close()

    try damage(scratch.file("node.sqlite"), kind)
    store = try NodeStore(directory: scratch.path)
    #expect(try scratch.names() == ["damaged-1", "damaged-2", "lock", "node.sqlite", "node.sqlite-wal"])
  }

  private func damage(_ path: String, _ kind: String) throws {
    switch kind {
    case "text":
      try Data("this is no store, and never was one, but it is long enough".utf8).write(to: URL(filePath: path))
    case "page":
      // Every page but the first, which holds the tables' names.
      var bytes = try Data(contentsOf: URL(filePath: path))
      for index in StoreSchema.pageSize..<bytes.count { bytes[index] = 0xA5 }
      try bytes.write(to: URL(filePath: path))
    default: try RawDatabase.execute("DELETE FROM meta WHERE key = 'store'", at: path)
    }
  }

  // Once broken: A start told again at each start which rows could not be read, because they stay in the store, and
  // nothing noted that they had been told.
  @Test("Rows that do not decode are left out and named; the others stand")
  func undecodableRows() async throws {
    let scratch = try ScratchDirectory()
    var store = try NodeStore(directory: scratch.path)
    var generator = OperationGenerator(seed: 5)
    let (first, second) = (generator.press(), generator.press())
    try await store.commit([.accept(first, .window), .accept(second, .late), .settle(generator.window())])
    try await store.commit((0..<40).map { _ in generator.append() })
    let whole = try store.history()
    store.close()
    try RawDatabase.execute(
      """
      UPDATE accepted SET press = x'\(hex(first))' WHERE command = x'\(second.command.id)';
      UPDATE windows SET settled = x'0102';
      UPDATE journal SET entry = 'text', kind = 99 WHERE kind IS NULL OR kind NOT IN (1, 10);
      """, at: scratch.file("node.sqlite"))
    store = try NodeStore(directory: scratch.path)
    let history = try store.history()
    #expect(history.accepted.map(\.press) == [first])
    #expect(history.windows == [])
    #expect(history.transitions == whole.transitions)
    #expect(history.lastPosition == whole.lastPosition)
    #expect(store.notices.count == 3)
    _ = try store.history()
    #expect(store.notices.count == 3)
    store.close()
    // The rows stay, and are not told again.
    store = try NodeStore(directory: scratch.path)
    #expect(try store.history().accepted.map(\.press) == [first])
    #expect(store.notices == [])
    store.close()
    // What is new is.
    try RawDatabase.execute("UPDATE accepted SET press = 'NO BYTES'", at: scratch.file("node.sqlite"))
    store = try NodeStore(directory: scratch.path)
    #expect(try store.history().accepted.isEmpty)
    #expect(store.notices.count == 1 && store.notices[0].hasPrefix("2 row(s) of accepted"), "\(store.notices)")
  }

  /// The blob of a press, for the row of another.
  private func hex(_ press: AcceptedCommand) -> String {
    Codec.stored(press, .late).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  // Once broken: A changed number in a whole page moved a press, a reading or a right of a paired device without a word.
  @Test("A command of which any byte is damaged is left out and named: it might mean something else")
  func damagedBytes() async throws {
    let scratch = try ScratchDirectory()
    var store = try NodeStore(directory: scratch.path)
    let command = Command(
      id: CommandID(high: 1, low: 1), kind: .pause, source: .watch, runID: nil,
      base: ObservedRevision(revision: 4, commandID: nil), runOffset: .seconds(9))
    let press = AcceptedCommand(
      command: command, deviceID: DeviceID("watch"),
      origin: .store(StoreID(high: 2, low: 2)),
      sequence: 1, pressedAt: .zero, arrivedAt: .zero)
    try await store.commit([.accept(press, .window)])
    #expect(try store.history().accepted.map(\.press) == [press])
    store.close()
    let bytes = Codec.stored(press, .window)
    for place in bytes.indices {
      for bit in [0, 3, 7] {
        var other = bytes
        other[place] ^= 1 << bit
        #expect(throws: StoredError.damaged) { try Codec.accepted(other) }
      }
    }
    try RawDatabase.execute(
      "UPDATE accepted SET press = x'\(hex(press).dropLast(10))0000000000'", at: scratch.file("node.sqlite"))
    store = try NodeStore(directory: scratch.path)
    #expect(try store.history().accepted.isEmpty)
    #expect(store.notices.count == 1)
  }
}
