/// The first bytes of a store's file. They are read without SQLite, which may write when it opens or closes a file.
struct StoreHeader: Equatable {
  static let size = 100
  private static let magic = Array("SQLite format 3\u{0}".utf8)
  /// Where the size of the file in pages is.
  private static let pageCount = 28..<32
  private static let mark = 60..<64
  /// Where SQLite says whether the file is written and read with a write-ahead log (2) or without one (1).
  private static let versions = 18..<20

  /// What is the same in every store. In front of the first gap: the magic, the page size, WAL for writing and reading,
  /// no reserved bytes, and three constants. Behind it: the format of the schema, no size of a cache, no automatic
  /// vacuum, and UTF-8. Behind the mark: unused.
  private static let constants: [(place: Int, bytes: [UInt8])] = [
    (0, magic + [UInt8(StoreSchema.pageSize >> 8), UInt8(StoreSchema.pageSize & 255), 2, 2, 0, 64, 32, 32]),
    (44, [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    (64, [UInt8](repeating: 0, count: 28)),
  ]
  /// More wrong constants than this, of 68, and the file is not taken for a store: what its mark says is chance then.
  private static let wrongMax = 24

  private(set) var bytes: [UInt8]

  /// Takes the first ``size`` bytes of a file.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The places of the constants that are not as in every store.
  var wrongPlaces: [Int] {
    Self.constants.flatMap { place, constant in
      constant.indices.filter { bytes[place + $0] != constant[$0] }.map { place + $0 }
    }
  }

  /// Whether the file begins like every store: SQLite's magic, the page size, and WAL for reading and writing.
  private var isUsual: Bool { bytes.starts(with: Self.constants[0].bytes.prefix(20)) }

  /// Whether the file is a store of this or of another version, as far as a header tells.
  private var resemblesStore: Bool { bytes.starts(with: Self.magic) || wrongPlaces.count <= Self.wrongMax }

  /// The version of the schema. A store without a mark is older than marks and counts as version 0. `nil` when the
  /// header is not one of a store or its mark is damaged.
  var version: UInt16? {
    guard resemblesStore else { return nil }
    let number = number(in: Self.mark)
    if number == 0 { return isUsual ? 0 : nil }
    return StoreMark(number: Int32(bitPattern: number))?.version
  }

  /// Whether the header can be rebuilt: its mark is whole, and says that the file is of this version.
  var isRebuildable: Bool { version == StoreSchema.version && wrongPlaces.count <= Self.wrongMax }

  /// How many pages the file has.
  var pages: UInt32 {
    get { number(in: Self.pageCount) }
    set {
      for (index, place) in Self.pageCount.enumerated() {
        bytes[place] = UInt8(truncatingIfNeeded: newValue >> (24 - 8 * UInt32(index)))
      }
    }
  }

  /// Writes all constants.
  ///
  /// - Parameter hasTables: Whether the file has tables. A file that is being made has some constants later.
  mutating func setConstants(hasTables: Bool = true) {
    let isBeforeLog = Array(bytes[Self.versions]) == [1, 1]
    for (place, constant) in hasTables ? Self.constants : Array(Self.constants.prefix(1)) {
      bytes.replaceSubrange(place..<place + constant.count, with: constant)
    }
    if isBeforeLog, !hasTables { bytes.replaceSubrange(Self.versions, with: [1, 1]) }
  }

  private func number(in range: Range<Int>) -> UInt32 { bytes[range].reduce(0) { $0 << 8 | UInt32($1) } }
}

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

  /// Whether another number becomes this mark when one of its bytes is changed.
  func isAlmost(_ other: Int32) -> Bool {
    let difference = UInt32(bitPattern: number ^ other)
    return [0, 8, 16, 24].contains { difference & ~(0xFF << UInt32($0)) == 0 }
  }

  /// The number in the header.
  var number: Int32 { Int32(bitPattern: UInt32(~version) << 16 | UInt32(version)) }
}
