import SwiftProtobuf

/// Why a stored value was not read.
package enum StoredError: Error, Hashable, Sendable {
  /// The bytes are not those that were written, or break a rule of the schema.
  case damaged
  /// A later version wrote a kind that this version does not know; the text names what.
  case unknownKind(String)
}

// A stored value is a message of the schema, and behind it the four bytes of its CRC-32C, the lowest first.
extension Codec {
  /// Adds the checksum to bytes.
  package static func seal(_ bytes: [UInt8]) -> [UInt8] {
    var sealed = bytes
    let sum = CRC32C.sum(bytes)
    sealed.append(UInt8(truncatingIfNeeded: sum))
    sealed.append(UInt8(truncatingIfNeeded: sum >> 8))
    sealed.append(UInt8(truncatingIfNeeded: sum >> 16))
    sealed.append(UInt8(truncatingIfNeeded: sum >> 24))
    return sealed
  }

  static func stored(_ message: some Message) -> [UInt8] { seal(serialize(message)) }

  /// Reads a message whose checksum is right.
  static func open<Stored: Message>(_ sealed: [UInt8]) throws(StoredError) -> Stored {
    guard sealed.count >= 4 else { throw .damaged }
    let isWhole = sealed.withUnsafeBytes { bytes in
      let count = bytes.count - 4
      let sum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: count, as: UInt32.self))
      return CRC32C.sum(UnsafeRawBufferPointer(rebasing: bytes.prefix(count))) == sum
    }
    guard isWhole else { throw .damaged }
    do { return try Stored(serializedBytes: Array(sealed.dropLast(4))) } catch { throw .damaged }
  }

  /// Makes a value of a message that was read.
  static func reading<Value>(_ read: () throws(WireError) -> Value) throws(StoredError) -> Value {
    do throws(WireError) {
      return try read()
    } catch {
      switch error {
      case .malformed, .versionMismatch: throw .damaged
      case .unsupportedKind: throw .unknownKind("a kind of command")
      case .unknown(let what): throw .unknownKind(what)
      }
    }
  }
}

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
  static func sum(_ bytes: UnsafeRawBufferPointer, after before: UInt32 = 0) -> UInt32 {
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
