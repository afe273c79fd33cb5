import Foundation
import SwiftProtobuf

/// Encodes a message in one pass. SwiftProtobuf computes the size of a nested message before it writes it, once more at
/// each level of nesting; this encoder writes the message and then its length in front of it.
///
/// It visits the generated code's fields, so that a new field of the schema needs no line here. Its bytes are those of
/// `serializedBytes()`, but for kinds of fields that the schema does not have: maps, groups, and packed fields other than
/// enums (`OnePassEncoderTests`).
struct OnePassEncoder: Visitor {
  private(set) var bytes: [UInt8] = []

  /// Encodes a whole message.
  static func encode(_ message: some Message) -> [UInt8] {
    var encoder = OnePassEncoder()
    encoder.bytes.reserveCapacity(256)
    // Nothing here throws, and `traverse` only passes on what a visitor throws.
    try? message.traverse(visitor: &encoder)
    return encoder.bytes
  }

  private enum WireType: UInt64 {
    case varint = 0
    case fixed64, lengthDelimited
    case fixed32 = 5
  }

  private mutating func put(_ field: Int, _ type: WireType) { put(UInt64(field) << 3 | type.rawValue) }

  private mutating func put(_ value: UInt64) {
    var rest = value
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  private mutating func put(fixed value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Writes what has a length, and then the length in front of it: most lengths need the one byte that is kept for them.
  private mutating func put(_ field: Int, measured body: (inout Self) throws -> Void) rethrows {
    put(field, .lengthDelimited)
    let place = bytes.count
    bytes.append(0)
    try body(&self)
    var length = bytes.count - place - 1
    guard length > 0x7F else { return bytes[place] = UInt8(length) }
    var more: [UInt8] = []
    while length > 0x7F {
      more.append(UInt8(truncatingIfNeeded: length) | 0x80)
      length >>= 7
    }
    more.append(UInt8(length))
    bytes.replaceSubrange(place...place, with: more)
  }

  // MARK: Fields

  mutating func visitUnknown(bytes unknown: Data) throws { bytes.append(contentsOf: unknown) }

  mutating func visitSingularDoubleField(value: Double, fieldNumber: Int) throws {
    put(fieldNumber, .fixed64)
    put(fixed: value.bitPattern)
  }
  mutating func visitSingularFloatField(value: Float, fieldNumber: Int) throws {
    put(fieldNumber, .fixed32)
    put(fixed: value.bitPattern)
  }
  mutating func visitSingularInt64Field(value: Int64, fieldNumber: Int) throws {
    put(fieldNumber, .varint)
    put(UInt64(bitPattern: value))
  }
  mutating func visitSingularUInt64Field(value: UInt64, fieldNumber: Int) throws {
    put(fieldNumber, .varint)
    put(value)
  }
  // Zigzag: small negative numbers have short encodings.
  mutating func visitSingularSInt64Field(value: Int64, fieldNumber: Int) throws {
    put(fieldNumber, .varint)
    put(UInt64(bitPattern: value << 1 ^ value >> 63))
  }
  mutating func visitSingularSInt32Field(value: Int32, fieldNumber: Int) throws {
    try visitSingularSInt64Field(value: Int64(value), fieldNumber: fieldNumber)
  }
  mutating func visitSingularFixed64Field(value: UInt64, fieldNumber: Int) throws {
    put(fieldNumber, .fixed64)
    put(fixed: value)
  }
  mutating func visitSingularFixed32Field(value: UInt32, fieldNumber: Int) throws {
    put(fieldNumber, .fixed32)
    put(fixed: value)
  }
  mutating func visitSingularSFixed64Field(value: Int64, fieldNumber: Int) throws {
    put(fieldNumber, .fixed64)
    put(fixed: value)
  }
  mutating func visitSingularSFixed32Field(value: Int32, fieldNumber: Int) throws {
    put(fieldNumber, .fixed32)
    put(fixed: value)
  }
  mutating func visitSingularBoolField(value: Bool, fieldNumber: Int) throws {
    put(fieldNumber, .varint)
    bytes.append(value ? 1 : 0)
  }
  mutating func visitSingularStringField(value: String, fieldNumber: Int) throws {
    put(fieldNumber, .lengthDelimited)
    put(UInt64(value.utf8.count))
    bytes.append(contentsOf: value.utf8)
  }
  mutating func visitSingularBytesField(value: Data, fieldNumber: Int) throws {
    put(fieldNumber, .lengthDelimited)
    put(UInt64(value.count))
    value.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }
  mutating func visitSingularEnumField<Word: Enum>(value: Word, fieldNumber: Int) throws {
    put(fieldNumber, .varint)
    put(UInt64(bitPattern: Int64(value.rawValue)))
  }
  mutating func visitSingularMessageField<Part: Message>(value: Part, fieldNumber: Int) throws {
    try put(fieldNumber) { try value.traverse(visitor: &$0) }
  }
  mutating func visitPackedEnumField<Word: Enum>(value: [Word], fieldNumber: Int) throws {
    put(fieldNumber) { for word in value { $0.put(UInt64(bitPattern: Int64(word.rawValue))) } }
  }

  // MARK: What the schema has none of

  mutating func visitMapField<KeyType, ValueType: MapValueType>(
    fieldType: _ProtobufMap<KeyType, ValueType>.Type, value: _ProtobufMap<KeyType, ValueType>.BaseType, fieldNumber: Int
  ) throws {}
  mutating func visitMapField<KeyType, ValueType>(
    fieldType: _ProtobufEnumMap<KeyType, ValueType>.Type, value: _ProtobufEnumMap<KeyType, ValueType>.BaseType,
    fieldNumber: Int
  ) throws {}
  mutating func visitMapField<KeyType, ValueType>(
    fieldType: _ProtobufMessageMap<KeyType, ValueType>.Type,
    value: _ProtobufMessageMap<KeyType, ValueType>.BaseType, fieldNumber: Int
  ) throws {}
}
