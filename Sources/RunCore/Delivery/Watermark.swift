/// Up to where a receiver has received a numbered stream. One mark for each stream detects every repeated item, however
/// late it arrives.
package struct Watermark: Hashable, Sendable {
  /// Where a received item stands in relation to the mark.
  package enum Position: Hashable, Sendable {
    /// It is the next one: accept it.
    case next
    /// It was received before: only acknowledge it again.
    case known
    /// An earlier one is missing: ignore it; the sender will send from the missing one on.
    case gap
  }

  /// The last item that was accepted; ``StreamMark/start`` for a new stream, whose first item has number 1.
  package private(set) var mark: StreamMark
  /// Whether the item that the mark names has the mark's number. `false` when tombstones followed it, and when unknown.
  private var isAtName = false

  /// A watermark from its stored mark.
  package init(_ mark: StreamMark = .start) { self.mark = mark }

  /// The last sequence number that was accepted.
  package var sequence: UInt64 { mark.sequence }

  /// Where an item with a sequence number stands.
  package func position(of incoming: UInt64) -> Position {
    if incoming <= sequence { return .known }
    return incoming - sequence == 1 ? .next : .gap
  }

  /// Whether no number is missing between the mark and a range that begins at `from`.
  package func reaches(_ from: UInt64) -> Bool { from <= sequence || from - sequence == 1 }

  /// Moves the mark over tombstones. It continues to name the last item before them.
  package mutating func skip(through sequence: UInt64) {
    mark = StreamMark(sequence: sequence, id: mark.id)
    isAtName = false
  }

  /// Whether the item with this id has the mark's sequence number.
  package func stands(at id: MessageID) -> Bool { isAtName && mark.id == id }

  /// Says where an item stands and, if it is the next one, moves the mark to it.
  package mutating func receive(_ incoming: StreamMark) -> Position {
    let position = position(of: incoming.sequence)
    if position == .next { (mark, isAtName) = (incoming, true) }
    return position
  }
}
