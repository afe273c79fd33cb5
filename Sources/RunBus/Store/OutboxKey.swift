import RunCore

/// The key of an outbox row: the number of its stream in the high bits and its sequence in the low bits. One integer
/// finds a row, and the rows of a stream are adjacent and in order.
enum OutboxKey {
  private static let sequenceBits: Int64 = 40
  /// Enough for a million messages a second over twelve days.
  static let sequenceMax: UInt64 = 1 << 40 - 1
  /// The sequences that a row or an acknowledgement in the file has. Four billion follow them, so that none that is
  /// read leads to one that has no room in a key.
  static let places: ClosedRange<Int64> = 0...Int64(sequenceMax - 1 << 32)
  /// The remaining bits, without the sign.
  static let numberMax: Int64 = 1 << 23 - 1

  static func position(_ number: Int64, _ sequence: UInt64) -> Int64 {
    number << sequenceBits | Int64(min(sequence, sequenceMax))
  }
  static func number(_ position: Int64) -> Int64 { position >> sequenceBits }
  static func sequence(_ position: Int64) -> UInt64 { UInt64(bitPattern: position) & sequenceMax }

  /// Whether a row can have a sequence.
  static func isPlace(_ sequence: UInt64) -> Bool { sequence >= 1 && sequence <= UInt64(places.upperBound) }

  /// A sequence out of range is a bug of the node, not damage of the file.
  static func check(_ row: OutboxRow) throws(StoreFault) {
    guard (1...sequenceMax).contains(row.sequence) else {
      throw .broken("a row of an outbox cannot have the sequence \(row.sequence)")
    }
  }
}

extension StreamID.Kind {
  /// The kind's number in the file; never reused.
  var code: Int64 {
    switch self {
    case .commands: 1
    case .samples: 2
    case .messages: 3
    case .verdicts: 4
    }
  }
  init?(code: Int64) {
    guard let kind = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = kind
  }
}
