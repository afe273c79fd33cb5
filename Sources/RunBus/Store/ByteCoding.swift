import Foundation
import RunCore

/// Writes values one after another, with fixed widths and little-endian; a text has its length before it.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  var data: Data { Data(bytes) }

  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }
  mutating func append(_ value: UInt64) { withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) } }
  mutating func append(_ value: Int64) { append(UInt64(bitPattern: value)) }
  mutating func append(_ value: Double) { append(value.bitPattern) }
  mutating func append(_ identifier: Identifier<some Any>) {
    withUnsafeBytes(of: identifier.high.bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: identifier.low.bigEndian) { bytes.append(contentsOf: $0) }
  }
  /// Appends the last value of a row, which has no length before it.
  mutating func appendRest(_ rest: some Collection<UInt8>) { bytes.append(contentsOf: rest) }
  /// Appends a text of less than 65,536 bytes; all texts in a store are far shorter.
  mutating func append(_ text: String) {
    let units = text.utf8.prefix(Int(UInt16.max))
    let count = units.count
    bytes.append(UInt8(truncatingIfNeeded: count))
    bytes.append(UInt8(truncatingIfNeeded: count >> 8))
    bytes.append(contentsOf: units)
  }
}

/// Reads what ``ByteWriter`` has written; `nil` when the bytes end too early.
struct ByteReader {
  private let data: Data
  private var offset = 0

  init(_ data: Data) { self.data = data }

  var isAtEnd: Bool { offset == data.count }

  mutating func byte() -> UInt8? { take(1) { $0.load(as: UInt8.self) } }
  mutating func unsigned() -> UInt64? { take(8) { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) } }
  mutating func signed() -> Int64? { unsigned().map(Int64.init(bitPattern:)) }
  mutating func double() -> Double? { unsigned().map(Double.init(bitPattern:)) }
  mutating func identifier<Kind>() -> Identifier<Kind>? { take(16) { Identifier(bytes: $0) } ?? nil }
  mutating func text() -> String? {
    guard let low = byte(), let high = byte() else { return nil }
    return take(Int(low) | Int(high) << 8) { String(decoding: $0, as: UTF8.self) }
  }
  /// Returns all remaining bytes.
  mutating func takeRest() -> [UInt8] { take(data.count - offset) { Array($0) } ?? [] }

  private mutating func take<Value>(_ count: Int, _ read: (UnsafeRawBufferPointer) -> Value) -> Value? {
    guard data.count - offset >= count else { return nil }
    defer { offset += count }
    return data.withUnsafeBytes { read(UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
  }
}

extension Identifier {
  /// The 16 bytes that the store contains.
  var data: Data {
    var writer = ByteWriter()
    writer.append(self)
    return writer.data
  }
}
