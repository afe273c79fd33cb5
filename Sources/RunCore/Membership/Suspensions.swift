/// Paired keys that are shut out for a while, because their machines subscribe to topics that do not exist.
///
/// A transport that keeps subscriptions keeps these too, until their connection ends: a machine that makes more and more
/// of them takes memory from the hub. A later version may subscribe to some.
struct Suspensions: Sendable {
  /// How long a key is shut out, real time.
  static let span = BusDuration.seconds(600)

  private var pace = Pace<KeyFingerprint>(
    burst: PacedKind.unknownTopics.burst, perSecond: PacedKind.unknownTopics.perSecond)
  /// When each key may come back, real time.
  private var ends: [KeyFingerprint: BusTime] = [:]

  /// The keys that are shut out.
  var keys: Set<KeyFingerprint> { Set(ends.keys) }
  /// When the next key may come back, real time; `nil` when none is shut out.
  var nextEnd: BusTime? { ends.values.min() }

  /// Notes a subscription to a topic that does not exist; returns whether its key is shut out from now on.
  ///
  /// - Parameter now: real time.
  mutating func note(_ key: KeyFingerprint, at now: BusTime) -> Bool {
    guard ends[key] == nil, !pace.admits(key, at: now) else { return false }
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
