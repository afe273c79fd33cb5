/// Writes the bytes of a record: counts and differences as varints (seven bits a byte, lowest first), floating-point
/// numbers as eight bytes, little endian.
struct RecordWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ byte: UInt8) { bytes.append(byte) }
  mutating func append(count value: UInt64) {
    var value = value
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(value))
  }
  /// Zigzag encoding: the sign is the lowest bit, so that small negative numbers are short, too.
  mutating func append(signed value: Int64) { append(count: UInt64(bitPattern: (value << 1) ^ (value >> 63))) }
  mutating func append(_ span: BusDuration) { append(signed: span.nanoseconds) }
  mutating func append(_ value: Double) {
    let pattern = value.bitPattern
    for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: pattern >> UInt64(shift))) }
  }
  mutating func append(_ identifier: Identifier<some Any>) { bytes += identifier.bytes }
  mutating func append(_ text: String) {
    append(count: UInt64(text.utf8.count))
    bytes += text.utf8
  }
  mutating func append(_ value: Bool) { append(UInt8(value ? 1 : 0)) }
  mutating func append<Value>(optional value: Value?, _ write: (inout Self, Value) -> Void) {
    append(value != nil)
    if let value { write(&self, value) }
  }
  mutating func append(_ value: Double?) { append(optional: value) { $0.append($1) } }
  mutating func append(_ span: BusDuration?) { append(optional: span) { $0.append($1) } }
  mutating func append<Element>(list: [Element], _ write: (inout Self, Element) -> Void) {
    append(count: UInt64(list.count))
    for element in list { write(&self, element) }
  }
}

/// Reads the bytes that a ``RecordWriter`` wrote. After the first error ``isGood`` is `false`, and every further byte
/// reads as zero.
struct RecordReader {
  private let bytes: ArraySlice<UInt8>
  private var place: Int
  private(set) var isGood = true

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    place = bytes.startIndex
  }

  /// Whether all bytes were read without an error.
  var isDone: Bool { isGood && place == bytes.endIndex }

  mutating func fail() { isGood = false }

  mutating func byte() -> UInt8 {
    guard isGood, place < bytes.endIndex else {
      fail()
      return 0
    }
    defer { place += 1 }
    return bytes[place]
  }
  mutating func count() -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      let byte = byte()
      guard shift < 63 || byte <= 1 else { break }
      value |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return value }
    }
    fail()
    return 0
  }
  mutating func signed() -> Int64 {
    let value = count()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
  mutating func span() -> BusDuration { BusDuration(nanoseconds: signed()) }
  /// Reads a finite number; infinity and NaN are errors.
  mutating func double() -> Double {
    var pattern: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 8) { pattern |= UInt64(byte()) << shift }
    let value = Double(bitPattern: pattern)
    if !value.isFinite { fail() }
    return isGood ? value : 0
  }
  mutating func identifier<Kind>() -> Identifier<Kind> {
    Identifier(bytes: (0..<16).map { _ in byte() }) ?? .none
  }
  mutating func text(bytesMax: Int) -> String {
    let count = count()
    guard isGood, count <= UInt64(bytesMax), count <= UInt64(bytes.endIndex - place) else {
      fail()
      return ""
    }
    defer { place += Int(count) }
    let text = String(decoding: bytes[place..<place + Int(count)], as: UTF8.self)
    // Decoding replaces invalid UTF-8, which changes the length and may exceed the bound.
    if text.utf8.count != count { fail() }
    return text
  }
  mutating func flag() -> Bool {
    let byte = byte()
    if byte > 1 { fail() }
    return byte == 1
  }
  mutating func optional<Value>(_ read: (inout Self) -> Value) -> Value? { flag() ? read(&self) : nil }
  mutating func optionalDouble() -> Double? { optional { $0.double() } }
  mutating func optionalSpan() -> BusDuration? { optional { $0.span() } }
  /// Reads a list. Every element takes at least one byte, so a count beyond the bytes left is an error; memory is never
  /// reserved for it.
  mutating func list<Element>(_ read: (inout Self) -> Element) -> [Element] {
    let count = count()
    guard isGood, count <= UInt64(bytes.endIndex - place) else {
      fail()
      return []
    }
    var list: [Element] = []
    for _ in 0..<count {
      guard isGood else { break }
      list.append(read(&self))
    }
    return list
  }
}
