import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("A store whose files were torn opens with whole commits, or says that it is damaged")
struct StoreDamageTests {
  /// Each commit sets the term to its number, moves a watermark there and appends an entry.
  private static func operations(_ number: UInt64) -> [StoreOperation] {
    let change = Author(source: .phone, deviceID: phone, commandID: CommandID(high: 0, low: number))
    let transition = Transition(kind: .pause, revision: number, change: change)
    let entry = LedgerEntry(
      time: BusTime(nanoseconds: Int64(number)), position: number, event: .transition(transition))
    return [
      .setTerm(number), .setWatermark(stream, StreamMark(sequence: number)), .append(RunID(high: 3, low: 3), entry),
    ]
  }
  private static let stream = StreamID(sender: StoreID(high: 1, low: 1), kind: .samples)
  private static let phone: DeviceID = DeviceID("phone")
  private static let commits: UInt64 = 12

  /// A store that was killed behind its last commit, and how long its log was behind each.
  private static func killed() async throws -> (files: ScratchDirectory, storeID: StoreID, ends: [Int]) {
    let (scratch, copy) = (try ScratchDirectory(), try ScratchDirectory())
    let store = try NodeStore(directory: scratch.path)
    var ends: [Int] = []
    for number in 1...commits {
      try await store.commit(operations(number))
      ends.append(try Data(contentsOf: URL(filePath: scratch.log)).count)
    }
    try copy.takeFiles(of: scratch)
    return (copy, store.storeID, ends)
  }

  /// Opens copies of the files with another log; how many commits are there, in order and whole. `nil` when the store
  /// was set aside.
  private func open(_ files: ScratchDirectory, _ storeID: StoreID, log: Data?, file: Data? = nil) throws -> UInt64? {
    let copy = try ScratchDirectory()
    try copy.takeFiles(of: files)
    if let log { try log.write(to: URL(filePath: copy.log)) }
    if let file { try file.write(to: URL(filePath: copy.database)) }
    let store = try NodeStore(directory: copy.path)
    defer { store.close() }
    if !store.notices.isEmpty {
      #expect(store.notices.count == 1 && store.notices[0].contains("was damaged"), "\(store.notices)")
      #expect(!store.notices[0].contains("\n"))
      // Nothing is deleted: what there was lies aside, with the pages of the log put in their places.
      var expected = try file ?? Data(contentsOf: URL(filePath: files.database))
      for (number, page) in Self.pages(of: try log ?? Data(contentsOf: URL(filePath: files.log))) {
        let place = (number - 1) * StoreSchema.pageSize
        if place + page.count > expected.count { expected.append(Data(count: place + page.count - expected.count)) }
        expected.replaceSubrange(place..<place + page.count, with: page)
      }
      let aside = try Data(contentsOf: URL(filePath: copy.file("damaged-1/node.sqlite")))
      // SQLite may make whole pages of it.
      if aside.count > expected.count { expected.append(Data(count: aside.count - expected.count)) }
      #expect(aside == expected)
      #expect(store.storeID != storeID)
      return nil
    }
    let history = try store.history()
    let count = history.term
    #expect(history.delivery.watermarks[Self.stream]?.sequence ?? 0 == count)
    #expect(history.journal.map(\.position) == (count == 0 ? [] : Array(1...count)))
    #expect(history.transitions.map(\.revision) == history.journal.map(\.position))
    #expect(count == 0 || store.storeID == storeID)
    return count
  }

  /// A log is a header and frames: each a header and a page.
  private static let (logHeader, frame) = (32, 24 + StoreSchema.pageSize)

  /// The pages that a log holds, by their number; of each the newest.
  private static func pages(of log: Data) -> [(Int, Data)] {
    stride(from: logHeader, to: log.count, by: frame).map { place in
      let number = log[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      return (number, log[place + 24..<place + frame])
    }
  }

  @Test("A log that ends at any frame, or in the middle of one, leaves a prefix of the commits")
  func truncatedLog() async throws {
    let (files, storeID, ends) = try await Self.killed()
    let log = try Data(contentsOf: URL(filePath: files.log))
    #expect((log.count - Self.logHeader).isMultiple(of: Self.frame))
    let boundaries = Array(stride(from: Self.logHeader, through: log.count, by: Self.frame))
    let cuts = [0, 10] + boundaries + boundaries.dropLast().flatMap { [$0 + 12, $0 + 24, $0 + Self.frame / 2] }
    for cut in cuts.sorted() {
      let count = try open(files, storeID, log: log.prefix(cut))
      #expect(count == UInt64(ends.count { $0 <= cut }), "cut at \(cut) of \(log.count)")
    }
  }

  @Test("A log whose last page is torn loses the last commit, and no other")
  func tornLog() async throws {
    let (files, storeID, _) = try await Self.killed()
    let log = try Data(contentsOf: URL(filePath: files.log))
    for torn in Self.torn(log, page: Self.frame) {
      #expect(try open(files, storeID, log: torn) == Self.commits - 1)
    }
    // And in the middle: nothing behind a frame that is not whole counts.
    for place in stride(from: Self.logHeader, to: log.count, by: 7 * Self.frame) {
      var torn = log
      for index in place + 100..<place + 300 { torn[index] ^= 0x5A }
      let count = try open(files, storeID, log: torn)
      #expect(count.map { $0 < Self.commits } == true)
    }
  }

  @Test(
    "Under a whole log a torn page of the file is mended; without one the store is set aside, and nothing is deleted")
  func tornFile() async throws {
    // The first half lies in the file, the second in the log.
    let (scratch, files) = (try ScratchDirectory(), try ScratchDirectory())
    var store = try NodeStore(directory: scratch.path)
    for number in 1...Self.commits / 2 { try await store.commit(Self.operations(number)) }
    store.close()
    store = try NodeStore(directory: scratch.path)
    for number in Self.commits / 2 + 1...Self.commits { try await store.commit(Self.operations(number)) }
    try files.takeFiles(of: scratch)
    let whole = try Data(contentsOf: URL(filePath: files.database))
    let pages = whole.count / StoreSchema.pageSize
    var outcomes: [UInt64?] = []
    for page in [1, pages / 2, pages - 1] {
      let range = page * StoreSchema.pageSize..<(page + 1) * StoreSchema.pageSize
      for half in [range, range.lowerBound + StoreSchema.pageSize / 2..<range.upperBound] {
        var torn = whole
        torn.replaceSubrange(half, with: Data(repeating: 0xA5, count: half.count))
        let outcome = try open(files, store.storeID, log: nil, file: torn)
        #expect(outcome == nil || outcome == Self.commits, "page \(page)")
        outcomes.append(outcome)
      }
    }
    // The last page cut off, wholly or in half.
    for missing in [StoreSchema.pageSize, StoreSchema.pageSize / 2] {
      let outcome = try open(files, store.storeID, log: nil, file: whole.dropLast(missing))
      #expect(outcome == nil || outcome == Self.commits, "\(missing) bytes missing")
    }
    #expect(outcomes.contains(nil))
  }

  // Once broken: When a store had a page of garbage, one in some 200 attempts to open it failed with "could not decode
  // String" instead of setting the store aside.
  @Test("NULL where it never may be is damage like any other")
  func impossibleRow() async throws {
    let (scratch, files) = (try ScratchDirectory(), try ScratchDirectory())
    let store = try NodeStore(directory: scratch.path)
    store.close()
    try files.takeFiles(of: scratch)
    var file = try Data(contentsOf: URL(filePath: files.database))
    // The term's row: a size of 7, a header of 3, a text of four bytes, the number 0. Instead NULL, and a column that
    // nobody asks for.
    let row = try #require(file.range(of: Data([7, 3, 21, 8] + Array("term".utf8))))
    file.replaceSubrange(row, with: [7, 3, 0, 20] + Array("term".utf8))
    #expect(try open(files, store.storeID, log: Data(), file: file) == nil)
  }

  /// The last page of a file: garbage, half garbage, half missing, zeroes.
  private static func torn(_ bytes: Data, page: Int) -> [Data] {
    let start = bytes.count - page
    let half = start + page / 2
    return [
      bytes.prefix(start) + Data(repeating: 0xA5, count: page),
      bytes.prefix(half) + Data(repeating: 0x5A, count: page / 2),
      bytes.prefix(half), bytes.prefix(start) + Data(count: page), bytes.prefix(half) + Data(count: page - page / 2),
    ]
  }
}

extension ScratchDirectory {
  fileprivate var database: String { file("node.sqlite") }
  fileprivate var log: String { file("node.sqlite-wal") }
}
