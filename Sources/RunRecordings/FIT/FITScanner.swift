/// Reads the messages of FIT files, of which one file may hold several in a row, in one pass.
///
/// A FIT file is a header, messages and a checksum. A definition gives the layout of the data messages with the same
/// local number that follow; it names kinds of messages and fields by the numbers of the public profile.
///
/// The scanner keeps sixteen layouts and goes back only for the checksum, so its time is linear in the size of the
/// file.
struct FITScanner {
  /// Why the content of one file ended before the end that its header states.
  enum Damage: Equatable {
    /// The file ends in the middle.
    case cutOff(bytes: Int, of: Int)
    /// The header states no length: the device wrote it when it began, and never came to the end.
    case unfinished
    /// Content that cannot be read.
    case unreadable(place: Int, reason: String)
    case wrongChecksum
    /// Something else follows the file.
    case foreign(place: Int)
  }

  /// The bytes of a header without its own checksum.
  static let headerSize = 12
  private static let timeField: UInt8 = 253

  private let file: [UInt8]
  /// The next byte to read.
  private var index: Int
  /// Where the present file begins, and where its messages end.
  private var start = 0
  private var end = 0
  private var damage: Damage?
  private var layouts = [FITLayout?](repeating: nil, count: 16)
  private var time: UInt32?

  init(_ file: [UInt8]) {
    self.file = file
    index = 0
  }

  /// Whether a FIT file begins at an index.
  static func isHeader(_ file: [UInt8], at start: Int = 0) -> Bool {
    guard start >= 0, file.count - start >= headerSize else { return false }
    return file[start] >= headerSize && file[(start + 8)...].starts(with: ".FIT".utf8)
  }

  /// Begins with the next file; `false` when there is none.
  mutating func nextFile() -> Bool {
    guard Self.isHeader(file, at: index) else { return false }
    start = index
    damage = nil
    layouts = Array(repeating: nil, count: 16)
    time = nil
    let claimed = (0..<4).reduce(0) { $0 | Int(file[start + 4 + $1]) << (8 * $1) }
    let first = min(start + Int(file[start]), file.count)
    let rest = file.count - first
    index = first
    if claimed == 0, rest > 2, !Self.isHeader(file, at: first + 2) {
      damage = .unfinished
      end = file.count
    } else if claimed > rest {
      damage = .cutOff(bytes: file.count - start, of: first - start + claimed + 2)
      end = file.count
    } else {
      end = first + claimed
    }
    return true
  }

  /// The next data message of the present file; `nil` at its end, or where it cannot be read any further.
  mutating func next() -> FITMessage? {
    while index < end {
      let place = index
      let header = file[place]
      let isCompressed = header & 0x80 != 0
      if !isCompressed, header & 0x40 != 0 {
        guard define(Int(header & 0x0F), hasAppFields: header & 0x20 != 0) else { return nil }
        continue
      }
      let local = isCompressed ? Int(header >> 5 & 0x03) : Int(header & 0x0F)
      guard let layout = layouts[local] else {
        stop("a message that nothing defines", at: place)
        return nil
      }
      guard end - place > layout.size else {
        stop("a message goes beyond the end", at: place)
        return nil
      }
      index = place + 1 + layout.size
      return FITMessage(
        layout, time: time(of: layout, content: place + 1, low: isCompressed ? header & 0x1F : nil), start: place + 1,
        in: file)
    }
    return nil
  }

  /// Ends the present file, at the place that its header states, and says what is wrong with it.
  mutating func finishFile() -> Damage? {
    if damage == nil, end + 2 <= file.count {
      let written = UInt16(file[end]) | UInt16(file[end + 1]) << 8
      // Zero means that the writer made none.
      if written != 0, written != FITChecksum.of(file[start..<end]) { damage = .wrongChecksum }
    }
    index = min(end + 2, file.count)
    if damage == nil || damage == .wrongChecksum, index < file.count, !Self.isHeader(file, at: index),
      file[index...].contains(where: { $0 != 0 })
    {
      damage = damage ?? .foreign(place: index)
    }
    return damage
  }

  /// Leaves out the rest of the present file.
  private mutating func stop(_ reason: String, at place: Int) {
    // What a cut leaves of the last message is no other fault, and neither is the checksum of a file without a length.
    switch damage {
    case nil: damage = .unreadable(place: place, reason: reason)
    case .unfinished where end - place > 2: damage = .unreadable(place: place, reason: reason)
    default: break
    }
    index = end
  }

  /// Reads a definition; `false` when it is incomplete.
  private mutating func define(_ local: Int, hasAppFields: Bool) -> Bool {
    let place = index
    // Header, reserved byte, order of bytes, kind of message in two bytes, number of fields.
    guard end - place >= 6 else { return stopInDefinition(at: place) }
    let isBigEndian = file[place + 2] == 1
    let (low, high) = isBigEndian ? (file[place + 4], file[place + 3]) : (file[place + 3], file[place + 4])
    let count = Int(file[place + 5])
    var next = place + 6 + 3 * count
    guard next <= end else { return stopInDefinition(at: place) }
    var fields: [FITLayout.Field] = []
    fields.reserveCapacity(count)
    var size = 0
    for field in stride(from: place + 6, to: next, by: 3) {
      let length = Int(file[field + 1])
      if length > 0, let type = FITBaseType(code: file[field + 2]) {
        fields.append(FITLayout.Field(number: file[field], type: type, start: size, size: length))
      }
      size += length
    }
    if hasAppFields {
      guard next < end else { return stopInDefinition(at: place) }
      let first = next + 1
      next = first + 3 * Int(file[next])
      guard next <= end else { return stopInDefinition(at: place) }
      for field in stride(from: first, to: next, by: 3) { size += Int(file[field + 1]) }
    }
    layouts[local] = FITLayout(
      message: UInt16(high) << 8 | UInt16(low), isBigEndian: isBigEndian, fields: fields, size: size)
    index = next
    return true
  }

  private mutating func stopInDefinition(at place: Int) -> Bool {
    stop("a definition goes beyond the end", at: place)
    return false
  }

  /// The time of a message: its own field, or the last one moved on to the next second with these low five bits.
  private mutating func time(of layout: FITLayout, content: Int, low: UInt8?) -> UInt32? {
    if let field = layout.fields.first(where: { $0.number == Self.timeField }) {
      let seconds = FITMessage.number(field, in: layout, start: content, file).flatMap { UInt32(exactly: $0) }
      time = seconds ?? time
      return seconds
    }
    guard let low, let last = time else { return nil }
    time = last &+ (UInt32(low) &- last) & 0x1F
    return time
  }
}

/// The checksum of FIT: CRC-16 with the reflected polynomial 0xA001.
enum FITChecksum {
  private static let table: [UInt16] = (0..<256).map { byte in
    (0..<8).reduce(UInt16(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xA001 : sum >> 1 }
  }

  static func of(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reduce(0) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
  }
}
