package import RunCore

// Readings are nearly all entries of a journal, and a hub that starts during a run reads all of them. They are read here
// from the store's own memory, without a message in between: the fields that `stored(_:at:device:)` writes, in any order.
extension Codec {
  /// Reads an entry from memory that the caller owns, as from an array.
  package static func entry(
    _ sealed: UnsafeRawBufferPointer, device: (UInt32) -> DeviceID?
  ) throws(StoredError) -> StoredEntry {
    if let reading = plainReading(sealed, device) { return reading }
    return try entry([UInt8](sealed), device: device)
  }

  /// A reading that has known fields only, each once; `nil` for anything else, which the schema's own reader judges.
  private static func plainReading(
    _ sealed: UnsafeRawBufferPointer, _ device: (UInt32) -> DeviceID?
  ) -> StoredEntry? {
    guard isWhole(sealed) else { return nil }
    var fields = PlainFields(sealed.prefix(sealed.count - 4))
    var (time, number): (Int64, UInt32) = (0, 0)
    var value: SampleValue?
    var seen: UInt16 = 0
    while let tag = fields.next() {
      // A oneof that is there twice means its last one, or both merged.
      let bit: UInt16 = tag.field >= 6 && tag.field <= 11 ? 1 << 6 : tag.field < 16 ? 1 << UInt16(tag.field) : 0
      guard seen & bit == 0 else { return nil }
      seen |= bit
      switch (tag.field, tag.type) {
      case (1, .varint): time = Int64(bitPattern: fields.varint())
      case (6, .length):
        guard let position = fields.message().flatMap(position) else { return nil }
        value = .position(position)
      case (7, .length):
        guard let altitude = fields.message().flatMap(altitude) else { return nil }
        value = altitude
      case (8, .fixed64): value = .heartRate(bpm: fields.double())
      case (9, .fixed64): value = .cadence(stepsPerMinute: fields.double())
      case (10, .fixed64): value = .pedometer(meters: fields.double())
      case (11, .varint):
        guard let word = word(fields.varint()) else { return nil }
        value = .motion(activity(WireActivity(rawValue: word) ?? .unspecified))
      case (12, .varint):
        guard let small = UInt32(exactly: fields.varint()) else { return nil }
        number = small
      default: return nil
      }
    }
    guard fields.isGood, let value, StoredNumber.times.contains(time), let device = device(number) else { return nil }
    return StoredEntry(time: BusTime(nanoseconds: time), event: .sample(value, device))
  }

  private static func position(_ fields: PlainFields) -> Position? {
    var fields = fields
    var (latitude, longitude, accuracy): (Double, Double, Double?) = (0, 0, nil)
    while let tag = fields.next() {
      switch (tag.field, tag.type) {
      case (1, .fixed64): latitude = fields.double()
      case (2, .fixed64): longitude = fields.double()
      case (3, .fixed64): accuracy = fields.double()
      default: return nil
      }
    }
    guard fields.isGood else { return nil }
    return Position(latitude: latitude, longitude: longitude, horizontalAccuracyMeters: accuracy)
  }

  private static func altitude(_ fields: PlainFields) -> SampleValue? {
    var fields = fields
    var (meters, kind) = (0.0, 0)
    while let tag = fields.next() {
      switch (tag.field, tag.type) {
      case (1, .fixed64): meters = fields.double()
      case (2, .varint):
        guard let word = word(fields.varint()) else { return nil }
        kind = word
      default: return nil
      }
    }
    guard fields.isGood else { return nil }
    return .altitude(meters: meters, source(WireAltitudeSource(rawValue: kind) ?? .unspecified))
  }

  /// A value of an enum that is small enough for any reader to take it as it is.
  private static func word(_ number: UInt64) -> Int? { number < 128 ? Int(number) : nil }

  /// Whether the checksum behind a stored value is right.
  static func isWhole(_ sealed: UnsafeRawBufferPointer) -> Bool {
    let count = sealed.count - 4
    guard count >= 0 else { return false }
    let sum = UInt32(littleEndian: sealed.loadUnaligned(fromByteOffset: count, as: UInt32.self))
    return CRC32C.sum(UnsafeRawBufferPointer(rebasing: sealed.prefix(count))) == sum
  }
}

/// The fields of an encoded message, one after another. What does not fit ends it, and makes it not good.
private struct PlainFields {
  enum Kind: UInt64 {
    case varint = 0
    case fixed64
    case length
  }

  private let bytes: UnsafeRawBufferPointer
  private var place = 0
  private(set) var isGood = true

  init(_ bytes: Slice<UnsafeRawBufferPointer>) { self.bytes = UnsafeRawBufferPointer(rebasing: bytes) }

  /// The number and the kind of the next field; `nil` at the end.
  mutating func next() -> (field: UInt64, type: Kind)? {
    guard isGood, place < bytes.count else { return nil }
    let tag = varint()
    guard isGood, tag >> 3 > 0, let type = Kind(rawValue: tag & 7) else {
      isGood = false
      return nil
    }
    return (tag >> 3, type)
  }

  mutating func varint() -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while place < bytes.count, shift < 63 {
      let byte = bytes[place]
      place += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    // The tenth byte, which negative numbers have.
    guard place < bytes.count, shift == 63, bytes[place] <= 1 else {
      isGood = false
      return 0
    }
    value |= UInt64(bytes[place]) << 63
    place += 1
    return value
  }

  mutating func double() -> Double {
    guard bytes.count - place >= 8 else {
      isGood = false
      return 0
    }
    defer { place += 8 }
    return Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
  }

  mutating func message() -> PlainFields? {
    let length = varint()
    guard isGood, length <= UInt64(bytes.count - place) else {
      isGood = false
      return nil
    }
    defer { place += Int(length) }
    return PlainFields(bytes[place..<place + Int(length)])
  }
}
