/// What a connection does that takes memory from its hub's transport until the connection ends.
public enum ConnectionBurden: Hashable, Sendable, CaseIterable {
  /// A subscription to a prefix that matches no topic of this version; a later one may know some. A transport that keeps
  /// subscriptions keeps these, too.
  case unknownTopic
  /// A message of more parts than a frame has, or one without an end.
  case manyParts

  var kind: PacedKind {
    switch self {
    case .unknownTopic: .unknownTopics
    case .manyParts: .manyParts
    }
  }

  /// What a key did that is shut out for it.
  var offence: String {
    switch self {
    case .unknownTopic: "it subscribed to too many topics that do not exist"
    case .manyParts: "it sent messages without an end"
    }
  }
}

/// Paired keys that are shut out for a while, because their machines take memory from the hub's transport.
struct Suspensions: Sendable {
  /// How long a key is shut out, real time.
  static let span = BusDuration.seconds(600)

  private var paces = Dictionary(
    uniqueKeysWithValues: ConnectionBurden.allCases.map {
      ($0, Pace<KeyFingerprint>(burst: $0.kind.burst, perSecond: $0.kind.perSecond))
    })
  /// When each key may come back, real time.
  private var ends: [KeyFingerprint: BusTime] = [:]

  /// The keys that are shut out.
  var keys: Set<KeyFingerprint> { Set(ends.keys) }
  /// When the next key may come back, real time; `nil` when none is shut out.
  var nextEnd: BusTime? { ends.values.min() }

  /// Notes a burden; returns whether its key is shut out from now on.
  ///
  /// - Parameter now: real time.
  mutating func note(_ burden: ConnectionBurden, of key: KeyFingerprint, at now: BusTime) -> Bool {
    guard ends[key] == nil, paces[burden]?.admits(key, at: now) == false else { return false }
    ends[key] = now + Self.span
    return true
  }

  /// Ends what is over; returns whether a key may come back.
  ///
  /// - Parameter now: real time.
  mutating func end(at now: BusTime) -> Bool {
    let before = ends.count
    ends = ends.filter { $0.value > now }
    return ends.count < before
  }
}
