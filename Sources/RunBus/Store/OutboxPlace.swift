import RunCore

/// Where a row of an outbox stands in its table: the short number of its stream above, its sequence below, so that one
/// integer finds it and a stream's rows lie together in their order.
enum OutboxPlace {
  private static let sequenceBits: Int64 = 40
  /// A million messages a second for twelve days; nobody reaches it.
  static let sequenceMax: UInt64 = 1 << 40 - 1
  /// What is left above, without the sign.
  static let numberMax: Int64 = 1 << 23 - 1

  static func position(_ number: Int64, _ sequence: UInt64) -> Int64 {
    number << sequenceBits | Int64(min(sequence, sequenceMax))
  }
  static func number(_ position: Int64) -> Int64 { position >> sequenceBits }
  static func sequence(_ position: Int64) -> UInt64 { UInt64(bitPattern: position) & sequenceMax }

  /// A sequence that no stream has is a mistake of the node, not of the disk.
  static func check(_ row: OutboxRow) throws(StoreFault) {
    guard (1...sequenceMax).contains(row.sequence) else {
      throw .broken("a row of an outbox cannot have the sequence \(row.sequence)")
    }
  }
}

extension StreamID.Kind {
  /// Its number in the file: never reused. Streams to one receiver are told in this order.
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

extension OutboundStreamID {
  /// The order in which streams are told.
  static func precedes(_ left: Self, _ right: Self) -> Bool {
    (left.receiver, left.kind.code) < (right.receiver, right.kind.code)
  }
}
