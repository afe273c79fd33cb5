/// Writes FIT files for tests and as seeds of the fuzzer. It knows nothing of the reader: sizes, numbers and the
/// checksum are those of the public description of the format.
struct FITEncoder {
  /// A field of a message: its number, its base type and its bytes in the order of a little-endian file.
  struct Field {
    let number: UInt8
    let type: UInt8
    let bytes: [UInt8]

    static func enumeration(_ number: UInt8, _ value: UInt8) -> Field {
      Field(number: number, type: 0x00, bytes: [value])
    }
    static func uint8(_ number: UInt8, _ value: UInt8) -> Field { Field(number: number, type: 0x02, bytes: [value]) }
    static func uint16(_ number: UInt8, _ value: UInt16) -> Field { integer(number, 0x84, value) }
    static func uint32(_ number: UInt8, _ value: UInt32) -> Field { integer(number, 0x86, value) }
    static func sint32(_ number: UInt8, _ value: Int32) -> Field { integer(number, 0x85, value) }
    static func float32(_ number: UInt8, _ value: Float) -> Field { integer(number, 0x88, value.bitPattern) }
    static func text(_ number: UInt8, _ value: String) -> Field {
      Field(number: number, type: 0x07, bytes: Array(value.utf8) + [0])
    }
    static func integer(_ number: UInt8, _ type: UInt8, _ value: some FixedWidthInteger) -> Field {
      Field(number: number, type: type, bytes: withUnsafeBytes(of: value.littleEndian) { Array($0) })
    }
  }

  /// A field of an app on the device, which readers skip.
  struct DeveloperField {
    let number: UInt8
    let bytes: [UInt8]
  }

  /// Seconds between 1970 and the zero of FIT times, 1989-12-31.
  static let epoch = 631_065_600

  var isBigEndian = false
  var headerSize: UInt8 = 14
  /// Whether the header has a checksum of its own; zero means that there is none.
  var hasHeaderChecksum = true
  private(set) var body: [UInt8] = []
  private var layouts: [UInt8: [UInt8]] = [:]

  init(isBigEndian: Bool = false, headerSize: UInt8 = 14) {
    self.isBigEndian = isBigEndian
    self.headerSize = headerSize
  }

  /// Writes a message, with a definition before it when the last one with this local number was another.
  mutating func add(
    _ message: UInt16, _ fields: [Field], developer: [DeveloperField] = [], local: UInt8 = 0
  ) {
    define(message, fields, developer: developer, local: local)
    body.append(local)
    addPayload(fields, developer)
  }

  /// Writes a message with a compressed time: the low five bits of its second. Its local number is below four.
  mutating func add(_ message: UInt16, _ fields: [Field], second: UInt32, local: UInt8) {
    define(message, fields, developer: [], local: local)
    body.append(0x80 | local << 5 | UInt8(second & 0x1F))
    addPayload(fields, [])
  }

  mutating func define(_ message: UInt16, _ fields: [Field], developer: [DeveloperField] = [], local: UInt8 = 0) {
    var layout: [UInt8] = [0, isBigEndian ? 1 : 0]
    let number = [UInt8(message & 0xFF), UInt8(message >> 8)]
    layout += isBigEndian ? number.reversed() : number
    layout.append(UInt8(fields.count))
    for field in fields { layout += [field.number, UInt8(field.bytes.count), field.type] }
    if !developer.isEmpty {
      layout.append(UInt8(developer.count))
      for field in developer { layout += [field.number, UInt8(field.bytes.count), 0] }
    }
    guard layouts[local] != layout else { return }
    layouts[local] = layout
    body.append(0x40 | (developer.isEmpty ? 0 : 0x20) | local)
    body += layout
  }

  private mutating func addPayload(_ fields: [Field], _ developer: [DeveloperField]) {
    for field in fields {
      let isNumber = field.type & 0x1F > 0x02 && field.type != 0x07 && field.type != 0x0A && field.type != 0x0D
      body += isBigEndian && isNumber ? field.bytes.reversed() : field.bytes
    }
    for field in developer { body += field.bytes }
  }

  /// Adds bytes as they are.
  mutating func add(raw bytes: [UInt8]) { body += bytes }

  /// The file.
  ///
  /// - Parameter claimed: The length of the content that the header states; the true one by default.
  func file(claimed: UInt32? = nil) -> [UInt8] {
    let length = claimed ?? UInt32(body.count)
    var bytes: [UInt8] = [headerSize, 0x20, 0x54, 0x08]
    bytes += withUnsafeBytes(of: length.littleEndian) { Array($0) } + Array(".FIT".utf8)
    if headerSize == 14 { bytes += hasHeaderChecksum ? Self.checksum(bytes) : [0, 0] }
    bytes += body
    return bytes + Self.checksum(bytes)
  }

  /// CRC-16 with the reflected polynomial 0xA001, low byte first.
  static func checksum(_ bytes: [UInt8]) -> [UInt8] {
    var sum: UInt16 = 0
    for byte in bytes {
      sum ^= UInt16(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xA001 : sum >> 1 }
    }
    return [UInt8(sum & 0xFF), UInt8(sum >> 8)]
  }
}
