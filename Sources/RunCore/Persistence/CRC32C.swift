/// The cyclic redundancy check CRC-32C (Castagnoli; RFC 3720, appendix B.4).
package enum CRC32C {
  /// The tables of eight bytes that are taken at once: in table `n` a byte counts as if `n` zeros followed it.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var sum = UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0x82F6_3B78 }
      tables[byte] = sum
    }
    for place in 256..<8 * 256 {
      let before = tables[place - 256]
      tables[place] = before >> 8 ^ tables[Int(before & 0xFF)]
    }
    return tables
  }()

  /// The checksum of bytes.
  package static func sum(_ bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBytes { sum($0) } }

  /// The checksum of bytes that follow others, whose checksum is `before`.
  package static func sum(_ bytes: UnsafeRawBufferPointer, after before: UInt32 = 0) -> UInt32 {
    tables.withUnsafeBufferPointer { tables in
      var sum = ~before
      var place = 0
      while place + 8 <= bytes.count {
        let eight = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)) ^ UInt64(sum)
        sum = 0
        for index in 0..<8 { sum ^= tables[(7 - index) * 256 + Int(eight >> UInt64(8 * index) & 0xFF)] }
        place += 8
      }
      while place < bytes.count {
        sum = sum >> 8 ^ tables[Int((sum ^ UInt32(bytes[place])) & 0xFF)]
        place += 1
      }
      return ~sum
    }
  }
}
