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
