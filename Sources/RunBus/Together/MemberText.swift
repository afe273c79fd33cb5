package import RunCore

// The text form of a member: that of a user's public key in NATS (NKeys), so that one key has one name everywhere.
extension Bytes32 where Kind == MemberTag {
  /// How many letters the text form has.
  package static var nkeyLetterCount: Int { 56 }
  /// `U` as the first letter of the text.
  private static var userPrefix: UInt8 { 20 << 3 }

  /// The text form: base 32 (RFC 4648) of a prefix, the key and a check sum. It begins with `U`.
  package var nkey: String {
    let body = [Self.userPrefix] + bytes
    let sum = CRC16.sum(body)
    return Base32.text(body + [UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8)])
  }

  /// A member from its text form; `nil` for any other text.
  package init?(nkey text: String) {
    // A text of this length has no bits to spare: each member has one text.
    guard text.utf8.count == Self.nkeyLetterCount, let bytes = Base32.bytes(text), bytes[0] == Self.userPrefix
    else { return nil }
    let sum = UInt16(bytes[33]) | UInt16(bytes[34]) << 8
    guard CRC16.sum(Array(bytes[..<33])) == sum else { return nil }
    self.init(bytes[1..<33])
  }
}

/// The alphabet of RFC 4648, section 6, without padding.
private enum Base32 {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  /// The text of bytes whose count is a multiple of five.
  static func text(_ bytes: [UInt8]) -> String {
    var (text, bits, count) = ([UInt8](), UInt32(0), 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        text.append(letters[Int(bits >> count & 31)])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text whose count of letters is a multiple of eight; `nil` if it has other letters.
  static func bytes(_ text: String) -> [UInt8]? {
    var (bytes, bits, count) = ([UInt8](), UInt32(0), 0)
    for letter in text.utf8 {
      guard let value = letters.firstIndex(of: letter) else { return nil }
      bits = bits << 5 | UInt32(value)
      count += 5
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    return bytes
  }
}

/// CRC-16/XMODEM: the polynomial 0x1021, from 0.
private enum CRC16 {
  static func sum(_ bytes: [UInt8]) -> UInt16 {
    bytes.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
    }
  }
}
