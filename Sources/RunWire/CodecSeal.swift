import RunCore
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
  package static func seal(_ bytes: consuming [UInt8]) -> [UInt8] {
    let sum = CRC32C.sum(bytes)
    var sealed = consume bytes
    sealed.append(UInt8(truncatingIfNeeded: sum))
    sealed.append(UInt8(truncatingIfNeeded: sum >> 8))
    sealed.append(UInt8(truncatingIfNeeded: sum >> 16))
    sealed.append(UInt8(truncatingIfNeeded: sum >> 24))
    return sealed
  }

  static func stored(_ message: some Message) -> [UInt8] { seal(serialize(message)) }

  /// Reads a message whose checksum is right.
  static func open<Stored: Message>(_ sealed: [UInt8]) throws(StoredError) -> Stored {
    guard sealed.withUnsafeBytes(isWhole) else { throw .damaged }
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
