/// The hub's part in rooms: its desk, and who waits for its answers. A hub that takes no part has no desk and costs nothing.
struct HubTogether: Sendable {
  /// How many callers may wait for an answer.
  private static let callersMax = 64
  /// For how long one is waited for: it asks again, with the same id.
  private static let patience = BusDuration.seconds(60)

  /// One desk or none, outside of the core's own bytes, which are copied with every event.
  private var desks: [TogetherDesk] = []
  private var callers: [Identifier<RoomAskTag>: [(number: UInt64, since: BusTime)]] = [:]
  /// When the desk has something to do, on the hub's monotonic clock.
  private(set) var deadline: BusTime?

  init(_ settings: TogetherDesk.Settings?, rows: [RoomID: [RoomRow]]) {
    if let settings { desks = [TogetherDesk(settings, rows: rows)] }
  }

  /// The desk; `nil` for a hub that takes no part.
  var desk: TogetherDesk? { desks.first }

  /// Gives something to the desk, and returns what it wants done.
  mutating func withDesk(at now: BusTime, _ body: (inout TogetherDesk) -> [DeskAction]) -> [DeskAction] {
    guard !desks.isEmpty else { return [] }
    let actions = body(&desks[0])
    deadline = desks[0].deadline(at: now)
    return actions
  }

  /// A caller waits for the answer to an ask. Returns `false` when too many do.
  mutating func wait(for ask: Identifier<RoomAskTag>, _ caller: UInt64, at now: BusTime) -> Bool {
    if callers.count >= Self.callersMax {
      callers = callers.mapValues { $0.filter { now - $0.since < Self.patience } }.filter { !$0.value.isEmpty }
    }
    guard callers.count < Self.callersMax, callers[ask, default: []].count < Self.callersMax else { return false }
    callers[ask, default: []].append((caller, now))
    return true
  }

  /// Who waits for the answer to an ask, and waits no more.
  mutating func take(callersOf ask: Identifier<RoomAskTag>) -> [UInt64] {
    callers.removeValue(forKey: ask)?.map(\.number) ?? []
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] { desks.first?.check().map { [$0] } ?? [] }
}
