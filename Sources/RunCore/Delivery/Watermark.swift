/// What a receiver knows of one numbered stream: what it has taken in. One mark a stream, so nothing expires.
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

  /// The last place taken in; ``StreamMark/start`` for a stream that was never heard of, which begins at 1.
  public private(set) var mark: StreamMark
  /// Whether what the mark names stood at this very place, and not before a tombstone; `false` where nobody knows.
  private var isAtName = false

  /// A watermark as it was kept.
  public init(_ mark: StreamMark = .start) { self.mark = mark }

  /// The last sequence taken in.
  public var sequence: UInt64 { mark.sequence }

  /// Where a message stands.
  public func place(of incoming: UInt64) -> Place {
    if incoming <= sequence { return .known }
    return incoming - sequence == 1 ? .next : .gap
  }

  /// Whether nothing lies between the mark and what begins at this place.
  public func reaches(_ from: UInt64) -> Bool { from <= sequence || from - sequence == 1 }

  /// Nothing stands at the places up to this one: the mark moves over them and goes on naming what came last.
  public mutating func skip(through sequence: UInt64) {
    mark = StreamMark(sequence: sequence, id: mark.id)
    isAtName = false
  }

  /// Whether the message with this id stood at the mark's very place.
  public func stands(at id: MessageID) -> Bool { isAtName && mark.id == id }

  /// Where a message stands; the next one moves the mark.
  public mutating func receive(_ incoming: StreamMark) -> Place {
    let place = place(of: incoming.sequence)
    if place == .next { (mark, isAtName) = (incoming, true) }
    return place
  }
}
