/// The kinds of numbers of FIT, by the low five bits of a field's base type. The highest bit only says that the order
/// of the bytes matters, and some writers leave it out.
enum FITBaseType: UInt8 {
  case enumeration, sint8, uint8, sint16, uint16, sint32, uint32, text, float32, float64, uint8z, uint16z, uint32z
  case bytes, sint64, uint64, uint64z

  /// The type of a code in a definition; `nil` for an unknown one.
  init?(code: UInt8) { self.init(rawValue: code & 0x1F) }

  /// The bytes of one value.
  var size: Int {
    switch self {
    case .enumeration, .sint8, .uint8, .uint8z, .text, .bytes: 1
    case .sint16, .uint16, .uint16z: 2
    case .sint32, .uint32, .uint32z, .float32: 4
    case .float64, .sint64, .uint64, .uint64z: 8
    }
  }

  /// The number that `bits` stand for; `nil` for the value of each type that means "not known", and for what is no
  /// number.
  func number(_ bits: UInt64) -> Double? {
    switch self {
    case .enumeration, .uint8: bits == 0xFF ? nil : Double(bits)
    case .sint8: bits == 0x7F ? nil : Double(Int8(truncatingIfNeeded: bits))
    case .uint16: bits == 0xFFFF ? nil : Double(bits)
    case .sint16: bits == 0x7FFF ? nil : Double(Int16(truncatingIfNeeded: bits))
    case .uint32: bits == 0xFFFF_FFFF ? nil : Double(bits)
    case .sint32: bits == 0x7FFF_FFFF ? nil : Double(Int32(truncatingIfNeeded: bits))
    case .uint64: bits == UInt64.max ? nil : Double(bits)
    case .sint64: bits == UInt64(Int64.max) ? nil : Double(Int64(bitPattern: bits))
    case .uint8z, .uint16z, .uint32z, .uint64z: bits == 0 ? nil : Double(bits)
    case .float32: Self.finite(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
    case .float64: Self.finite(Double(bitPattern: bits))
    case .text, .bytes: nil
    }
  }

  private static func finite(_ number: Double) -> Double? { number.isFinite ? number : nil }
}

/// What a definition says about the messages of one local number until the next definition of that number.
struct FITLayout {
  struct Field {
    let number: UInt8
    let type: FITBaseType
    /// Where it begins in the content of a message.
    let start: Int
    let size: Int
  }
  /// The global number: which kind of message it is.
  let message: UInt16
  let isBigEndian: Bool
  /// The fields that hold anything, without those of apps on the device.
  let fields: [Field]
  /// The bytes of a message's content, with the fields of apps.
  let size: Int
}

/// One data message.
struct FITMessage {
  let layout: FITLayout
  /// Seconds since the start of 1989-12-31 (UTC), or since the device was switched on if below 2^28; `nil` without a
  /// time.
  let time: UInt32?
  /// Where its content begins in the file.
  let start: Int
  private let file: [UInt8]

  init(_ layout: FITLayout, time: UInt32?, start: Int, in file: [UInt8]) {
    self.layout = layout
    self.time = time
    self.start = start
    self.file = file
  }

  /// The number in a field, of an array the first one; `nil` when there is none or it is not known.
  func number(_ field: UInt8) -> Double? {
    guard let field = layout.fields.first(where: { $0.number == field }) else { return nil }
    return Self.number(field, in: layout, start: start, file)
  }

  /// The bytes of a field, if it has so many.
  func bytes(_ field: UInt8, count: Int) -> ArraySlice<UInt8>? {
    guard let field = layout.fields.first(where: { $0.number == field }), field.size == count else { return nil }
    return file[start + field.start..<start + field.start + count]
  }

  static func number(_ field: FITLayout.Field, in layout: FITLayout, start: Int, _ file: [UInt8]) -> Double? {
    // Some devices write sizes that do not fit the type; what such a field means is not known.
    guard field.size.isMultiple(of: field.type.size) else { return nil }
    var bits: UInt64 = 0
    let first = start + field.start
    for index in first..<first + field.type.size {
      let byte = UInt64(file[index])
      bits = layout.isBigEndian ? bits << 8 | byte : bits | byte << (8 * UInt64(index - first))
    }
    return field.type.number(bits)
  }
}
