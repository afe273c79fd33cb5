/// The rules of a term, which counts the starts of a hub.
///
/// Numbers of sessions and of record changes carry the term in their upper 32 bits. Terms stay below ``limit`` so that
/// these numbers stay below 2^62, the bound of counters on the wire.
public enum HubTerm {
  /// The exclusive upper bound of terms.
  public static let limit: UInt64 = 1 << 30
  /// The highest `termSeen` that a hub with a lower term accepts in a hello: sixteen million starts. A hub that a wrong
  /// hello has raised to it can still be started a billion times.
  public static let seenMax: UInt64 = 1 << 24

  /// The term of the hub's next start. After the highest one, which only a damaged store holds, it is 1 again.
  public static func next(after term: UInt64) -> UInt64 { term < limit - 1 ? term + 1 : 1 }

  /// The number below the first session, and below the first record change, of a term.
  static func numbers(in term: UInt64) -> UInt64 { min(term, limit) << 32 }

  /// The term in which a session was opened.
  static func of(session: UInt64) -> UInt64 { session >> 32 }

  /// Whether a term is in the allowed range.
  static func isPossible(_ term: UInt64) -> Bool { term < limit }
}

extension SnapshotOrder {
  /// Whether a hub can have published it: all its counters are in the allowed range.
  var isPossible: Bool { HubTerm.isPossible(term) && revision < 1 << 62 && tick < 1 << 62 }
}

extension HubFrame {
  /// Whether all terms and counters in the frame are in the allowed range. A peer drops any other frame: if it stored
  /// such a value, every correct hub would look outdated to it.
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
  /// Whether all terms and counters in the event are in the allowed range.
  var isPossible: Bool {
    switch self {
    case .snapshot(let message): message.snapshot.order.isPossible
    case .route(let part): HubTerm.isPossible(part.term) && part.number < 1 << 62
    case .command, .receipt, .presence, .message: true
    }
  }
}
