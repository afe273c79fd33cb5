/// The rules of a term, which counts the starts of a hub.
///
/// Numbers of sessions and of record changes consist of the term and a count, so that they grow across the starts of a
/// hub:
///
/// - a session: the term in the upper 32 bits, the count of the sessions of that start in the lower 32 bits;
/// - a change of the records: the term times 2^30, plus the count of the changes of that start. It stays below 2^62, the
///   bound of counters on the wire.
package enum HubTerm {
  /// The exclusive upper bound of terms: a hub can be started 2^32 times.
  package static let limit: UInt64 = 1 << 32
  /// The highest number of a session within a term. A hub that has given it opens no further session until its next
  /// start.
  static let sessionCountMax: UInt64 = 1 << 32 - 1
  /// The highest `termSeen` that a hub with a lower term accepts in a hello: sixteen million starts. A hub that a wrong
  /// hello has raised to it can still be started four billion times.
  package static let seenMax: UInt64 = 1 << 24

  /// The term of the hub's next start. After the highest one, which only a damaged store holds, it is 1 again.
  package static func next(after term: UInt64) -> UInt64 { term < limit - 1 ? term + 1 : 1 }

  /// The number below the first session of a term.
  static func sessions(in term: UInt64) -> UInt64 { min(term, limit - 1) << 32 }

  /// The number below the first record change of a term.
  static func changes(in term: UInt64) -> UInt64 { min(term, limit - 1) << 30 }

  /// The term in which a session was opened.
  static func of(session: UInt64) -> UInt64 { session >> 32 }

  /// The count of a session within its term, from 1.
  static func count(of session: UInt64) -> UInt64 { session & sessionCountMax }

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
    switch message {
    case .welcome(let welcome): return welcome.state.snapshot.order.isPossible && welcome.recordsThrough < 1 << 62
    case .state(let state): return state.snapshot.order.isPossible
    case .pong(_, let order, let recordsThrough): return order.isPossible && recordsThrough < 1 << 62
    case .recordChange(let change): return change.number < 1 << 62
    case .refused, .receipt, .delivery, .answer, .pairing, .room, .goodbye: return true
    }
  }
}

extension BusEvent {
  /// Whether all terms and counters in the event are in the allowed range.
  var isPossible: Bool {
    switch self {
    case .snapshot(let message): message.snapshot.order.isPossible
    case .live(let message): message.push.order.isPossible && message.push.number < 1 << 62
    case .route(let part): HubTerm.isPossible(part.term) && part.number < 1 << 62
    case .room(let view): HubTerm.isPossible(view.order.term) && view.order.number < 1 << 62
    case .command, .receipt, .presence, .message, .cue: true
    }
  }
}
