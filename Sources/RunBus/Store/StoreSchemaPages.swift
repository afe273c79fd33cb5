import Foundation
import GRDB

/// The pages that describe the tables. They are the same in every store of this version, because its tables are made
/// once, in one order: a table keeps its first page for ever, and nothing changes the descriptions.
///
/// So they can be put over damaged ones. Without them no table can be found, though all of its pages are whole.
struct StoreSchemaPages {
  /// The pages by their number, from 1.
  let pages: [Int: Data]

  /// Makes a new store at a path where no file is, and takes them from it. Removes the store again.
  init(makingStoreAt path: String) throws {
    defer { for suffix in ["", "-journal"] { unlink(path + suffix) } }
    var configuration = Configuration()
    configuration.label = "runbus.store.schema"
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA page_size = \(StoreSchema.pageSize)")
      try db.execute(sql: "PRAGMA user_version = \(StoreMark.own.number)")
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let roots: Set<Int>
    do {
      roots = try queue.write { db in
        try StoreSchema.make(db)
        return try Int.fetchSet(db, sql: "SELECT rootpage FROM sqlite_master WHERE rootpage > 0")
      }
    } catch {
      try? queue.close()
      throw error
    }
    try queue.close()
    let bytes = try Data(contentsOf: URL(filePath: path))
    // The first page of every table is its only one in a new store. All others are of the descriptions.
    let all = Set(1...max(1, bytes.count / StoreSchema.pageSize))
    pages = all.subtracting(roots).reduce(into: [:]) { pages, number in pages[number] = Data(bytes[Self.range(number)])
    }
  }

  /// Where a page is in a file.
  private static func range(_ number: Int) -> Range<Int> {
    (number - 1) * StoreSchema.pageSize..<number * StoreSchema.pageSize
  }

  /// Whether a damaged file is known to have its tables at the same places: half of the pages still describe them. The
  /// first page does not count, because most of it is a header.
  func belong(to path: String) throws -> Bool {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    defer { try? file.close() }
    let others = pages.filter { $0.key > 1 }
    let equal = try others.count { number, page in
      try file.seek(toOffset: UInt64(Self.range(number).lowerBound))
      return try file.read(upToCount: page.count) == page
    }
    return equal > 0 && 2 * equal >= others.count
  }

  /// Puts them over those of a file, and has its header say what its size is. The file has no free pages then, so nothing
  /// may be written to it.
  func write(to path: String) throws {
    let file = try FileHandle(forUpdating: URL(filePath: path))
    defer { try? file.close() }
    for (number, page) in pages {
      try file.seek(toOffset: UInt64(Self.range(number).lowerBound))
      try file.write(contentsOf: page)
    }
    let count = try file.seekToEnd() / UInt64(StoreSchema.pageSize)
    guard let first = pages[1] else { return }
    var header = StoreHeader(Array(first.prefix(StoreHeader.size)))
    header.setConstants()
    header.pages = UInt32(clamping: count)
    try file.seek(toOffset: 0)
    try file.write(contentsOf: Data(header.bytes))
  }
}
