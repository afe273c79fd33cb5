/// The rules of a term, which counts the lives of a hub.
///
/// Sessions and changes of records carry the term in their upper half, so all terms lie below ``limit`` and neither of
/// them ever wraps or reaches 2^62, which is the highest counter on the wire.
public enum HubTerm {
  /// Every term is less than this.
  public static let limit: UInt64 = 1 << 30
  /// The highest term that a hub believes when a device says to have seen it: sixteen million starts. A hub that was
  /// raised to it by a lie can still be started a thousand million times.
  public static let seenMax: UInt64 = 1 << 24

  /// The term of the next life. A count that is at its end, which only a damaged store holds, begins again.
  public static func next(after term: UInt64) -> UInt64 { term < limit - 1 ? term + 1 : 1 }

  /// Below the first session, and the first change of a record, of a life.
  static func numbers(in term: UInt64) -> UInt64 { min(term, limit) << 32 }

  /// The term in which a session was opened.
  static func of(session: UInt64) -> UInt64 { session >> 32 }

  /// Whether sessions, changes and snapshots of this term have room.
  static func isPossible(_ term: UInt64) -> Bool { term < limit }
}

extension SnapshotOrder {
  /// A hub can have published it.
  var isPossible: Bool { HubTerm.isPossible(term) && revision < 1 << 62 && tick < 1 << 62 }
}

extension HubFrame {
  /// Its session and what it says of terms are such as a hub can have. What is not is dropped: taken over, it would make
  /// the receiver refuse every hub that counts as it should.
  var isPossible: Bool {
    guard HubTerm.isPossible(HubTerm.of(session: session)) else { return false }
    switch message {
    case .welcome(let welcome): return welcome.state.snapshot.order.isPossible && welcome.recordsThrough < 1 << 62
    case .state(let state): return state.snapshot.order.isPossible
    case .pong(_, let order, let recordsThrough): return order.isPossible && recordsThrough < 1 << 62
    case .recordChange(let change): return change.number < 1 << 62
    case .refused, .receipt, .delivery, .answer, .goodbye: return true
    }
  }
}

extension BusEvent {
  /// What it says of terms is such as a hub can have.
  var isPossible: Bool {
    switch self {
    case .snapshot(let message): message.snapshot.order.isPossible
    case .route(let part): HubTerm.isPossible(part.term) && part.number < 1 << 62
    case .command, .receipt, .presence, .message: true
    }
  }
}
