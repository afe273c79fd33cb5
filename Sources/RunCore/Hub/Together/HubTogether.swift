/// The hub's part in rooms: its desk, who waits for its answers, and what the runner's devices are shown. A hub that takes
/// no part has no desk and costs nothing.
struct HubTogether: Sendable {
  /// How many may wait for an answer.
  private static let askersMax = 64
  /// For how long one is waited for: it asks again, with the same id.
  private static let patience = BusDuration.seconds(60)
  /// How soon a view is repeated for a new subscriber after the last one.
  private static let repeatAfter = BusDuration.milliseconds(250)

  /// One desk or none, outside of the core's own bytes, which are copied with every event.
  private var desks: [TogetherDesk] = []
  private var askers: [Identifier<RoomAskTag>: [(asker: HubCore.RoomAsker, since: BusTime)]] = [:]
  /// What was shown last, and when.
  private var shown: [(view: RoomView, at: BusTime)] = []
  private var isShownAnew = false
  /// When the view is repeated for new subscribers.
  private var repeatAt: BusTime?
  /// When the desk has something to do, on the hub's monotonic clock.
  private var deskDeadline: BusTime?

  init(_ settings: TogetherDesk.Settings?, rows: [RoomID: [RoomRow]]) {
    if let settings { desks = [TogetherDesk(settings, rows: rows)] }
  }

  /// When there is something to do, on the hub's monotonic clock.
  var deadline: BusTime? { BusTime.earliest(deskDeadline, repeatAt) }

  /// The desk; `nil` for a hub that takes no part.
  var desk: TogetherDesk? { desks.first }

  /// Gives something to the desk, and returns what it wants done.
  mutating func withDesk(at now: BusTime, _ body: (inout TogetherDesk) -> [DeskAction]) -> [DeskAction] {
    guard !desks.isEmpty else { return [] }
    let actions = body(&desks[0])
    deskDeadline = desks[0].deadline(at: now)
    return actions
  }

  // MARK: Who asks

  /// Somebody waits for the answer to an ask. Returns `false` when too many do.
  mutating func wait(for ask: Identifier<RoomAskTag>, _ asker: HubCore.RoomAsker, at now: BusTime) -> Bool {
    if askers.count >= Self.askersMax {
      askers = askers.mapValues { $0.filter { now - $0.since < Self.patience } }.filter { !$0.value.isEmpty }
    }
    let waiting = askers[ask, default: []]
    if waiting.contains(where: { $0.asker == asker }) { return true }
    guard askers.count < Self.askersMax, waiting.count < Self.askersMax else { return false }
    askers[ask, default: []].append((asker, now))
    return true
  }

  /// Who is told an answer. Who is in a session waits on for a later one.
  mutating func askers(of ask: Identifier<RoomAskTag>, takes answer: RoomAnswer) -> [HubCore.RoomAsker] {
    guard let told = askers.removeValue(forKey: ask) else { return [] }
    switch answer {
    case .pending, .seeking, .matched:
      let later = told.filter { if case .session = $0.asker { true } else { false } }
      if !later.isEmpty { askers[ask] = later }
    case .judged, .refused, .unmatched: break
    }
    return told.map(\.asker)
  }

  // MARK: What is shown

  /// The next view is shown, whatever it shows.
  mutating func showAnew() { isShownAnew = true }

  /// A device subscribed: it is shown the room soon.
  mutating func showAgain(at now: BusTime) {
    if let last = shown.first { repeatAt = repeatAt ?? max(now, last.at + Self.repeatAfter) }
  }

  /// The view to publish now; `nil` when there is no room, and when it looks as before.
  mutating func view(term: UInt64, at now: BusTime) -> RoomView? {
    guard let desk = desks.first else { return nil }
    let isRepeated = repeatAt.map { $0 <= now } ?? false
    if isRepeated { repeatAt = nil }
    let order = RoomView.Order(term: term, number: (shown.first?.view.order.number ?? 0) + 1)
    guard let view = desk.view(order, at: now) else { return nil }
    guard isShownAnew || isRepeated || shown.first.map({ !$0.view.looks(like: view) }) ?? true else { return nil }
    isShownAnew = false
    shown = [(view, now)]
    return view
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] {
    [desks.first?.check(), shown.first?.view.check()].compactMap { $0 }
  }
}
