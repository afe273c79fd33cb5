/// What a ``RoomID`` identifies.
package enum RoomTag: Sendable {}
/// What a ``FleetID`` identifies.
package enum FleetTag: Sendable {}

/// Identifies a room. It is made from its owner's key and a random number, so that nobody else can open it.
package typealias RoomID = Identifier<RoomTag>
/// Identifies a fleet: those who share a log service.
package typealias FleetID = Identifier<FleetTag>

/// 32 bytes: a key or a hash. `Kind` is what they are, so that a key and a hash have different types.
package struct Bytes32<Kind>: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// How many bytes there are.
  package static var byteCount: Int { 32 }

  // Words, so that a copy counts no references.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// A value from its bytes; `nil` unless there are 32.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var words = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
    for (place, byte) in bytes.enumerated() {
      switch place / 8 {
      case 0: words.0 = words.0 << 8 | UInt64(byte)
      case 1: words.1 = words.1 << 8 | UInt64(byte)
      case 2: words.2 = words.2 << 8 | UInt64(byte)
      default: words.3 = words.3 << 8 | UInt64(byte)
      }
    }
    self.words = words
  }

  /// The bytes, most significant first.
  package var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
    }
  }
  /// The first eight bytes, as a number.
  package var prefix: UInt64 { words.0 }

  /// 64 lowercase hexadecimal digits.
  package var description: String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
  package static func == (left: Self, right: Self) -> Bool { left.words == right.words }
  /// Orders by value. The order has no meaning; it breaks ties and makes output stable.
  package static func < (left: Self, right: Self) -> Bool { left.words < right.words }
  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}

/// What a ``MemberID`` identifies.
package enum MemberTag: Sendable {}
/// What a ``LogHash`` is the hash of.
package enum LogHashTag: Sendable {}

/// Identifies a runner in a fleet: the public half of an Ed25519 key.
package typealias MemberID = Bytes32<MemberTag>
/// The SHA-256 of an entry, or of a history of entries.
package typealias LogHash = Bytes32<LogHashTag>
