/// What callers on this machine ask of the hub about rooms: kept until it is too old, and sent again until the hub has
/// answered. It is not stored: who wanted to enter a room a minute ago may not want it any more.
struct PeerAsks: Sendable {
  /// How many asks are kept, and how many callers wait for one.
  static let keptMax = 16
  /// After what time without an answer an ask is sent again.
  private static let again = BusDuration.seconds(2)

  private struct Kept {
    let ask: RoomAsk
    let since: BusTime
    /// Who waits for an answer; nobody once there is one.
    var callers: [UInt64] = []
    /// The latest answer; a caller who asks again gets it at once.
    var answer: RoomAnswer?
    var retryAt = BusTime.zero

    var isOpen: Bool {
      switch answer {
      case nil, .pending, .seeking, .matched: true
      case .judged, .refused, .unmatched: false
      }
    }
    var endsAt: BusTime { since + RoomAsk.lasts }
  }
  private var kept: [Kept] = []

  /// When an ask is sent again or has become too old; `nil` for never.
  var deadline: BusTime? { kept.map { $0.isOpen ? min($0.retryAt, $0.endsAt) : $0.endsAt }.min() }

  /// A caller asks. The same ask again has its latest answer.
  mutating func add(_ ask: RoomAsk, caller: UInt64, over link: UInt64?, in turn: inout PeerCore.Turn) {
    if let index = kept.firstIndex(where: { $0.ask.id == ask.id }) {
      if let answer = kept[index].answer { return tell([caller], answer, in: &turn) }
      guard kept[index].callers.count < Self.keptMax else { return tell([caller], .refused(.busy), in: &turn) }
      return kept[index].callers.append(caller)
    }
    if kept.count >= Self.keptMax, let index = kept.firstIndex(where: { !$0.isOpen }) { kept.remove(at: index) }
    guard kept.count < Self.keptMax else { return tell([caller], .refused(.busy), in: &turn) }
    kept.append(Kept(ask: ask, since: turn.now, callers: [caller]))
    send(kept.count - 1, over: link, in: &turn)
  }

  /// The hub has answered: who waits is told.
  mutating func receive(_ answer: RoomAnswer, to ask: Identifier<RoomAskTag>, in turn: inout PeerCore.Turn) {
    guard let index = kept.firstIndex(where: { $0.ask.id == ask }), kept[index].isOpen else { return }
    kept[index].answer = answer
    tell(kept[index].callers, answer, in: &turn)
    kept[index].callers = []
  }

  /// A session has begun.
  mutating func open(over link: UInt64?, in turn: inout PeerCore.Turn) {
    for index in kept.indices where kept[index].isOpen { send(index, over: link, in: &turn) }
  }

  /// Sends again what is not answered, and gives up what has become too old.
  mutating func meetDeadline(over link: UInt64?, in turn: inout PeerCore.Turn) {
    let now = turn.now
    while let index = kept.firstIndex(where: { $0.endsAt <= now }) {
      tell(kept.remove(at: index).callers, .refused(.expired), in: &turn)
    }
    for index in kept.indices where kept[index].isOpen && kept[index].retryAt <= now {
      send(index, over: link, in: &turn)
    }
  }

  private func tell(_ callers: [UInt64], _ answer: RoomAnswer, in turn: inout PeerCore.Turn) {
    for caller in callers { turn.act(.answer(.room(.answer(answer)), caller)) }
  }

  private mutating func send(_ index: Int, over link: UInt64?, in turn: inout PeerCore.Turn) {
    var ask = kept[index].ask
    ask.age = ask.age + (turn.now - kept[index].since)
    kept[index].retryAt = turn.now + Self.again
    turn.send(.room(ask), over: link)
  }
}
