import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("A damaged header of a store's file", .timeLimit(.minutes(20)))
struct StoreHeaderTests {
  /// What a hub reads from a store. A store that was read back has a new id and no watermarks, and its streams begin anew.
  private struct Content: Equatable {
    let storeID: StoreID
    let history: ComparableHistory
    let rows: [OutboxItem?]

    init(_ store: NodeStore) throws {
      storeID = store.storeID
      let read = try store.history()
      history = ComparableHistory(read)
      rows = read.delivery.rows.map(\.item)
    }

    func hasRows(of other: Content) -> Bool {
      history.term == other.history.term && history.journal == other.history.journal
        && history.transitions == other.history.transitions && history.verdicts == other.history.verdicts
        && history.accepted == other.history.accepted && history.windows == other.history.windows
        && history.records == other.history.records && history.lastPosition == other.history.lastPosition
        && rows == other.rows
    }
  }

  /// The values that replace a byte.
  private static func values(for byte: UInt8) -> [UInt8] {
    [0, 1, 3, 255, byte ^ 1, byte ^ 0x80].filter { $0 != byte }.reduce(into: []) { values, value in
      if !values.contains(value) { values.append(value) }
    }
  }

  /// What a store holds, read from a copy of its files.
  private static func content(ofCopyOf files: ScratchDirectory) throws -> Content {
    let copy = try ScratchDirectory()
    try copy.takeFiles(of: files)
    let store = try NodeStore(directory: copy.path)
    defer { store.close() }
    return try Content(store)
  }

  /// The fields that say where the free pages are. They cannot be told from another file's, so SQLite finds the damage.
  private static let freePages = 32..<40

  // Once broken: One wrong byte at offset 18 of a store, and the node took nothing for ever and blamed owner and mode:
  // SQLite opens a file of a later format for reading only.
  // Once broken: A wrong byte at 0 to 15, 16, 19, 21 to 23, 47 or 59 cost all rows, because SQLite reads no file with
  // such a header, and nothing else was tried.
  @Test(
    "Any byte of it, with any of several values: no row is lost, and the second start is silent",
    arguments: [false, true])
  func everyByte(closed: Bool) async throws {
    let files = try await DamagedNode(role: .phone, loop: try Loop()).makeFiles()
    if closed { try NodeStore(directory: files.path).close() }
    let before = try Self.content(ofCopyOf: files)
    #expect(!before.history.journal.isEmpty && !before.history.records.isEmpty)
    let whole = try Data(contentsOf: URL(filePath: files.file("node.sqlite")))
    var readBack = 0
    for byte in 0..<StoreHeader.size {
      for value in Self.values(for: whole[byte]) {
        let copy = try ScratchDirectory()
        try copy.takeFiles(of: files)
        var bytes = whole
        bytes[byte] = value
        try bytes.write(to: URL(filePath: copy.file("node.sqlite")))
        let here: Comment = "byte \(byte) is \(value)"
        for isFirst in [true, false] {
          let store = try NodeStore(directory: copy.path, device: nil, role: .hub, options: StoreOptions())
          defer { store.close() }
          let content = try Content(store)
          if try copy.names().contains("damaged-1") {
            #expect(Self.freePages.contains(byte), here)
            #expect(content.hasRows(of: before), here)
            if isFirst { readBack += 1 }
          } else {
            #expect(content == before, here)
          }
          if isFirst {
            #expect(store.notices.allSatisfy { !$0.contains("lost, in whole") && !$0.contains("nothing could") }, here)
          } else {
            #expect(store.notices == [], here)
          }
          try await store.commit([.setTerm(before.history.term)])
        }
        #expect(!(try copy.names().contains("damaged-2")), here)
      }
    }
    #expect(readBack < 48)
  }

  @Test("Bytes that are the same in every store are put right where they are, and one line says so")
  func sentence() async throws {
    let scratch = try ScratchDirectory()
    let store = try NodeStore(directory: scratch.path)
    try await store.commit([.setTerm(7)])
    store.close()
    let path = scratch.file("node.sqlite")
    var bytes = try Data(contentsOf: URL(filePath: path))
    let whole = bytes
    for byte in [18, 19, 59] { bytes[byte] = 9 }
    try bytes.write(to: URL(filePath: path))
    guard case .unusable(let sentence) = StoreHealth(of: DeviceID("phone"), in: scratch.path) else {
      Issue.record("doctor calls the store well")
      return
    }
    #expect(sentence.hasSuffix("the next start rebuilds it, and nothing is lost"), "\(sentence)")
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    let again = try NodeStore(directory: scratch.path)
    #expect(
      again.notices == [
        "the header of the store in \(scratch.path) was damaged at bytes 18, 19, 59; it was rebuilt, and nothing is lost"
      ])
    #expect(try again.termSeen() == 7 && again.storeID == store.storeID)
    again.close()
    #expect(try Data(contentsOf: URL(filePath: path)).prefix(24) == whole.prefix(24))
  }

  // Once broken: A first page, or a page that describes tables, that was overwritten cost the rows of all tables, or of
  // those that it described, because the descriptions were looked for in the damaged file only.
  @Test("A header, a first page, or any page of the descriptions of the tables that is overwritten costs no row")
  func overwrittenSchema() async throws {
    let scratch = try ScratchDirectory()
    let described = Set(try StoreSchemaPages(makingStoreAt: scratch.file("new")).pages.keys)
    #expect(described.count > 2)
    for closed in [true, false] {
      let files = try await DamagedNode(role: .phone, loop: try Loop()).makeFiles()
      if closed { try NodeStore(directory: files.path).close() }
      let before = try Self.content(ofCopyOf: files)
      let whole = try Data(contentsOf: URL(filePath: files.file("node.sqlite")))
      let page = StoreSchema.pageSize
      for range in [0..<StoreHeader.size, 0..<page] + (1..<5).map({ $0 * page..<($0 + 1) * page }) {
        for filling in [UInt8(0), 0xA5] {
          let copy = try ScratchDirectory()
          try copy.takeFiles(of: files)
          var bytes = whole
          bytes.replaceSubrange(range, with: Data(repeating: filling, count: range.count))
          try bytes.write(to: URL(filePath: copy.file("node.sqlite")))
          for life in 1...2 {
            let store = try NodeStore(directory: copy.path, device: nil, role: .hub, options: StoreOptions())
            defer { store.close() }
            if described.contains(range.lowerBound / page + 1) {
              #expect(try Content(store).hasRows(of: before), "\(range) with \(filling), closed: \(closed)")
            }
            #expect(store.notices.count <= (life == 1 ? 1 : 0), "\(store.notices)")
          }
        }
      }
    }
  }
}
