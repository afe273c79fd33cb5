/// Names a numbered stream on its receiver's side, by the sender's store and the kind of items.
package struct StreamID: Hashable, Sendable {
  /// What a stream carries. Each kind has its own sequence numbers, so one kind never blocks another.
  package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Commands of a person.
    case commands
    /// Sensor readings.
    case samples
    /// An app's own messages.
    case messages
    /// Verdicts on the receiver's commands.
    case verdicts
  }
  /// The sender's store.
  package let sender: StoreID
  /// What it carries.
  package let kind: Kind

  /// A stream by its sender's store and its kind; the receiver is the node that keeps its watermark.
  package init(sender: StoreID, kind: Kind) {
    self.sender = sender
    self.kind = kind
  }
}

/// Names a numbered stream on its sender's side, by the receiver's store and the kind of items.
package struct OutboundStreamID: Hashable, Sendable {
  /// The receiver's store; ``RunCore/Identifier/none`` until a peer has met its hub.
  package let receiver: StoreID
  /// What it carries.
  package let kind: StreamID.Kind

  /// A stream by its receiver's store and its kind.
  package init(receiver: StoreID, kind: StreamID.Kind) {
    self.receiver = receiver
    self.kind = kind
  }
}

extension OutboundStreamID: Comparable {
  /// The order in which a store returns streams: by receiver, then by kind as the kinds are declared.
  package static func < (left: Self, right: Self) -> Bool {
    (left.receiver, left.kind.place) < (right.receiver, right.kind.place)
  }
}

extension StreamID.Kind {
  fileprivate var place: Int {
    switch self {
    case .commands: 0
    case .samples: 1
    case .messages: 2
    case .verdicts: 3
    }
  }
}

extension Identifier {
  /// The zero identifier, for a field that has no identifier yet.
  public static var none: Self { Self(high: 0, low: 0) }
}

/// A sequence number of a stream with the id of the item at it.
///
/// Two nodes that have different ids for the same sequence number have different histories of the stream.
package struct StreamMark: Hashable, Sendable {
  /// Counts from 1; 0 before the first item.
  package let sequence: UInt64
  /// The id of the command or message at the sequence; at a tombstone, the id of the last item before it. `nil` before
  /// the first item, and where no id is kept (samples, commands of an unknown kind).
  package let id: MessageID?

  /// A mark from its parts.
  package init(sequence: UInt64, id: MessageID? = nil) {
    self.sequence = sequence
    self.id = id
  }

  /// The mark before the first item.
  package static let start = StreamMark(sequence: 0)
}

extension StreamID: CustomStringConvertible {
  package var description: String { "\(kind.rawValue) from \(sender)" }
}

extension OutboundStreamID: CustomStringConvertible {
  package var description: String { "\(kind.rawValue) to \(receiver)" }
}
