/// What a receiver knows of one numbered stream: what it has taken in. One number a stream, so nothing expires.
public struct Watermark: Hashable, Sendable {
  /// What is to be done with a message.
  public enum Place: Hashable, Sendable {
    /// It is the next one: take it in.
    case next
    /// It was taken in before: acknowledge it again, no more.
    case known
    /// One before it is missing: ignore it, the sender goes back.
    case gap
  }

  /// The last sequence taken in; `nil` for a stream that was never heard of, which begins where its sender says.
  public private(set) var sequence: UInt64?

  /// A watermark as it was kept.
  public init(sequence: UInt64? = nil) { self.sequence = sequence }

  /// Where a message stands; the next one moves the mark.
  public mutating func take(_ incoming: UInt64) -> Place {
    guard let sequence else {
      self.sequence = incoming
      return .next
    }
    if incoming <= sequence { return .known }
    if incoming > sequence + 1 { return .gap }
    self.sequence = incoming
    return .next
  }
}
