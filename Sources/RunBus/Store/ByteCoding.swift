import Foundation
import RunCore

/// Writes values one after another: fixed widths, little endian, texts with their length before them.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  var data: Data { Data(bytes) }

  /// So many bytes will come.
  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }
  mutating func append(_ value: UInt64) { withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) } }
  mutating func append(_ value: Int64) { append(UInt64(bitPattern: value)) }
  mutating func append(_ value: Double) { append(value.bitPattern) }
  mutating func append(_ identifier: Identifier<some Any>) {
    withUnsafeBytes(of: identifier.high.bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: identifier.low.bigEndian) { bytes.append(contentsOf: $0) }
  }
  /// The last value of a row: it has no length before it.
  mutating func appendRest(_ rest: some Collection<UInt8>) { bytes.append(contentsOf: rest) }
  /// A text of less than 65,536 bytes; all that is stored is far below.
  mutating func append(_ text: String) {
    let units = text.utf8.prefix(Int(UInt16.max))
    let count = units.count
    bytes.append(UInt8(truncatingIfNeeded: count))
    bytes.append(UInt8(truncatingIfNeeded: count >> 8))
    bytes.append(contentsOf: units)
  }
}

/// Reads what ``ByteWriter`` wrote; `nil` where the bytes end too early.
struct ByteReader {
  private var rest: Data.SubSequence

  init(_ data: Data) { rest = data[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8? { rest.popFirst() }
  mutating func unsigned() -> UInt64? {
    guard let bytes = take(8) else { return nil }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
  mutating func signed() -> Int64? { unsigned().map(Int64.init(bitPattern:)) }
  mutating func double() -> Double? { unsigned().map(Double.init(bitPattern:)) }
  mutating func identifier<Kind>() -> Identifier<Kind>? { take(16).flatMap { Identifier(bytes: $0) } }
  mutating func text() -> String? {
    guard let low = byte(), let high = byte(), let bytes = take(Int(low) | Int(high) << 8) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
  /// All that is left.
  mutating func takeRest() -> [UInt8] {
    defer { rest = rest.suffix(0) }
    return Array(rest)
  }

  private mutating func take(_ count: Int) -> Data.SubSequence? {
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}

extension Identifier {
  /// The 16 bytes as the store keeps them.
  var data: Data {
    var writer = ByteWriter()
    writer.append(self)
    return writer.data
  }
}
