/// What a ``Seeker`` remembers of others, so that it does not ask the same in vain again and again.
struct SeekerMemory: Hashable, Sendable {
  /// How long a room that has refused is not asked again.
  static let refusalKept = BusDuration.seconds(10)
  /// How many rooms, and how many runners, are remembered.
  static let countMax = 64

  /// Until when rooms are not asked again.
  private var refused: [RoomID: LogTime] = [:]
  /// Runners who were matched with this one and went, or advertised what is not there; longest ago first.
  private var failed: [MemberID] = []

  /// Remembers that a room has refused.
  mutating func refuse(_ room: RoomID, at now: LogTime) {
    refused = refused.filter { $0.value > now }
    if refused.count >= Self.countMax, let first = refused.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
      refused[first.key] = nil
    }
    refused[room] = now + Self.refusalKept
  }
  /// Until when a room is not asked again.
  func refusedUntil(_ room: RoomID) -> LogTime { refused[room] ?? .zero }

  /// Remembers that a runner is not worth another try in this search.
  mutating func fail(_ other: MemberID) {
    if failed.contains(other) { return }
    if failed.count >= Self.countMax { failed.removeFirst() }
    failed.append(other)
  }
  /// Whether a runner is not worth another try.
  func hasFailed(_ other: MemberID) -> Bool { failed.contains(other) }

  /// Whether it is within its bounds.
  var isBounded: Bool { refused.count <= Self.countMax && failed.count <= Self.countMax }
}
