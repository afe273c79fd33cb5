import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("A store's file is at its path with its tables, or it is damaged")
struct StoreEmptyFileTests {
  /// A store that was used, and whose node was killed: with a log.
  private func killed() async throws -> ScratchDirectory {
    let (scratch, copy) = (try ScratchDirectory(), try ScratchDirectory())
    let store = try NodeStore(directory: scratch.path)
    try await store.commit([.setTerm(7)])
    try copy.takeFiles(of: scratch)
    store.close()
    return copy
  }

  // Once broken: A store whose file was emptied began anew without a word, and records, term and pairings were gone;
  // its log was deleted, by `doctor` already.
  @Test(
    "A store whose file was emptied, or is gone from beside its log, is set aside and named",
    arguments: ["empty", "empty beside its log", "gone from beside its log"])
  func emptied(kind: String) async throws {
    let scratch = try await killed()
    let (file, log) = (scratch.file("node.sqlite"), scratch.file("node.sqlite-wal"))
    if kind.hasPrefix("gone") {
      try FileManager.default.removeItem(atPath: file)
    } else {
      try Data().write(to: URL(filePath: file))
    }
    if kind == "empty" { try FileManager.default.removeItem(atPath: log) }
    let before = try scratch.contents()

    guard case .unusable(let sentence) = StoreHealth(of: DeviceID("phone"), in: scratch.path) else {
      Issue.record("the doctor finds nothing")
      return
    }
    #expect(sentence.contains("the next start sets it aside"), "\(sentence)")
    #expect(try scratch.contents().filter { $0.key != "lock" } == before)

    // A process that another test has just forked holds copies of all locks until it runs its program.
    let store = try NodeStore(directory: scratch.path, patience: .seconds(30))
    #expect(try store.history().term == 0)
    let notice = try #require(store.notices.first)
    #expect(store.notices.count == 1 && notice.contains(scratch.file("damaged-1")), "\(store.notices)")
    #expect(notice.hasSuffix("nothing of it is read back"), "\(notice)")
    store.close()
    let aside = try scratch.contents().filter { $0.key.hasPrefix("damaged-1/") }
    #expect(aside == Dictionary(uniqueKeysWithValues: before.map { ("damaged-1/\($0)", $1) }))
    #expect(try NodeStore(directory: scratch.path, patience: .seconds(30)).notices == [])
  }

  @Test("A start that ended while it made a store leaves nothing at the store's path, and the next one is silent")
  func notMade() throws {
    let scratch = try ScratchDirectory()
    #expect(throws: RunBusError.self) {
      try NodeStore(directory: scratch.path, device: nil, options: StoreOptions(pagesMax: 3))
    }
    #expect(try !scratch.names().contains("node.sqlite"))
    // What a start leaves that is killed.
    for name in ["new.tmp", "new.tmp-wal"] { try Data("half of".utf8).write(to: URL(filePath: scratch.file(name))) }
    #expect(StoreHealth(of: DeviceID("phone"), in: scratch.path) == .absent)
    let store = try NodeStore(directory: scratch.path, patience: .seconds(30))
    #expect(store.notices == [])
    #expect(try scratch.names() == ["lock", "node.sqlite", "node.sqlite-wal"])
  }
}
