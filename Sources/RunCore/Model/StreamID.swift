/// Names one numbered stream: from a sender's store to a receiver's. A one-shot sender is a stream of its own, whose
/// store id is random.
public struct StreamID: Hashable, Sendable, Codable {
  /// What the stream carries; kinds never wait for each other.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Presses.
    case commands
    /// Sensor readings.
    case samples
    /// An app's own messages.
    case messages
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
