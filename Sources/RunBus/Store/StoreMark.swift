/// The version mark in the header of a store's file (SQLite's `user_version`): a version and its complement, so that
/// damage to a byte of it is not taken for another version.
struct StoreMark: Equatable {
  let version: UInt16

  /// The mark of the files that this program writes.
  static let own = StoreMark(version: StoreSchema.version)

  init(version: UInt16) { self.version = version }

  /// `nil` for a number that is no mark.
  init?(number: Int32) {
    let bits = UInt32(bitPattern: number)
    version = UInt16(truncatingIfNeeded: bits)
    guard UInt16(truncatingIfNeeded: bits >> 16) == ~version else { return nil }
  }

  /// The number in the header.
  var number: Int32 { Int32(bitPattern: UInt32(~version) << 16 | UInt32(version)) }
}

/// The first bytes of a store's file. They are read without SQLite, which may write when it opens or closes a file.
struct StoreHeader {
  static let size = 100
  private static let magic = Array("SQLite format 3\u{0}".utf8)

  private let bytes: [UInt8]

  /// Takes the first ``size`` bytes of a file.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether the file begins like every store: SQLite's magic, the page size, and WAL for reading and writing.
  var isUsual: Bool {
    bytes.starts(with: Self.magic + [UInt8(StoreSchema.pageSize >> 8), UInt8(StoreSchema.pageSize & 255), 2, 2])
  }

  /// The version of the schema. A store without a mark is older than marks and counts as version 0. `nil` when the
  /// header is not one of a store or its mark is damaged.
  var version: UInt16? {
    guard bytes.starts(with: Self.magic) else { return nil }
    let number = bytes[60..<64].reduce(0) { $0 << 8 | UInt32($1) }
    if number == 0 { return isUsual ? 0 : nil }
    return StoreMark(number: Int32(bitPattern: number))?.version
  }
}
