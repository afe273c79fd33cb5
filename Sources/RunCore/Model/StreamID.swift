/// Names one numbered stream as its receiver knows it: from a sender's store to the store that keeps the watermark. A
/// one-shot sender is a stream of its own, whose store id is random.
public struct StreamID: Hashable, Sendable, Codable {
  /// What the stream carries; kinds never wait for each other.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Presses.
    case commands
    /// Sensor readings.
    case samples
    /// An app's own messages.
    case messages
    /// What became of the receiver's presses.
    case verdicts
  }
  /// The sender's store.
  public let sender: StoreID
  /// What it carries.
  public let kind: Kind

  /// A stream by its sender's store and its kind; the receiver is whoever keeps the watermark.
  public init(sender: StoreID, kind: Kind) {
    self.sender = sender
    self.kind = kind
  }
}

/// Names one numbered stream as its sender knows it: to a receiver's store.
public struct OutboundStreamID: Hashable, Sendable, Codable {
  /// The receiver's store; ``RunCore/Identifier/none`` while a peer has not met its hub.
  public let receiver: StoreID
  /// What it carries.
  public let kind: StreamID.Kind

  /// A stream by its receiver's store and its kind.
  public init(receiver: StoreID, kind: StreamID.Kind) {
    self.receiver = receiver
    self.kind = kind
  }
}

extension Identifier {
  /// The identifier of nothing: what a field holds before there is one.
  public static var none: Self { Self(high: 0, low: 0) }
}

/// A place in a stream: the sequence, and what stands there or last before. Two sides that name the same place differently
/// have not the same history.
public struct StreamMark: Hashable, Sendable, Codable {
  /// 1, 2, 3 …; 0 before the first.
  public let sequence: UInt64
  /// The command's or the message's id that stands there, at a tombstone that of the last before it; `nil` where nobody
  /// keeps it (samples, commands of an unknown kind) and before the first.
  public let id: MessageID?

  /// A place from its parts.
  public init(sequence: UInt64, id: MessageID? = nil) {
    self.sequence = sequence
    self.id = id
  }

  /// Before the first.
  public static let start = StreamMark(sequence: 0)
}
