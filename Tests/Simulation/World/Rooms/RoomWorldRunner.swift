import RunCore

/// What the runner of a hub does. Enough of it that rooms come to every end.
enum RoomWorldRunner {
  enum Step {
    case come
    case ask(RoomAsk.Wish)
    /// Asks the same again, as a device does that heard nothing.
    case repeatAsk(Identifier<RoomAskTag>)
    case look
  }
}

extension RoomWorld {
  mutating func act(_ step: RoomWorldRunner.Step, _ hub: Int) {
    switch step {
    case .come:
      ask(hub == 0 ? .open(terms) : .enter(room), hub)
      plan(.runner(hub: hub, .look), in: .milliseconds(Int64.random(in: 200...3000, using: &random)))
    case .ask(let wish): ask(wish, hub)
    case .repeatAsk(let id):
      guard let (wish, answer) = hubs[hub].asks[id], hubs[hub].isAlive else { return }
      if case .judged = answer { return }
      carryOut(
        hubs[hub].desk.ask(RoomAsk(id: id, wish: wish), keys: keys(hub), isRunOn: false, at: hubs[hub].local(now)),
        of: hub)
    case .look: look(hub)
    }
  }

  private func keys(_ hub: Int) -> RoomKeys {
    RoomKeys(room: room, nonce: nonce, run: Self.run(of: hubs[hub].member, in: room))
  }

  /// The hub gets a fix some metres north of the start.
  private mutating func move(_ hub: Int, metres: Int) {
    let fix = TogetherDesk.Fix(latitude: 37.5 + Double(metres) / 111_000, longitude: 127)
    carryOut(hubs[hub].desk.moved(to: fix, at: hubs[hub].local(now)), of: hub)
  }

  private mutating func ask(_ wish: RoomAsk.Wish, _ hub: Int) {
    guard hubs[hub].isAlive else {
      // The device asks when its hub is there again.
      return plan(.runner(hub: hub, .ask(wish)), in: .seconds(5))
    }
    let id = Identifier<RoomAskTag>(using: &random)
    hubs[hub].asks[id] = (wish, nil)
    let ask = RoomAsk(id: id, wish: wish)
    if case .enter = wish { move(hub, metres: Int.random(in: 0...1100, using: &random)) }
    carryOut(hubs[hub].desk.ask(ask, keys: keys(hub), isRunOn: false, at: hubs[hub].local(now)), of: hub)
    if Int.random(in: 0..<5, using: &random) == 0 { plan(.runner(hub: hub, .repeatAsk(id)), in: latency()) }
  }

  /// Looks at the room and does what a runner would, most of the time.
  private mutating func look(_ hub: Int) {
    let again = BusDuration.milliseconds(Int64.random(in: 300...4000, using: &random))
    guard !hubs[hub].isGone else { return }
    // Whoever waits for too long goes home.
    guard now < .zero + .seconds(600) else { return ask(.leave, hub) }
    plan(.runner(hub: hub, .look), in: again)
    guard hubs[hub].isAlive, let state = hubs[hub].desk.room(room, at: hubs[hub].local(now))?.state else { return }
    let me = state.member(hubs[hub].member)
    let isOwner = state.owner == hubs[hub].member
    // What they rarely do.
    switch Int.random(in: 0..<60, using: &random) {
    case 0: return ask(.leave, hub)
    case 1: return ask(.hold, hub)
    case 2 where isOwner: return ask(.remove(state.members.randomElement(using: &random)!.id), hub)
    case 3: return ask(.ready(false), hub)
    case 4 where isOwner && Int.random(in: 0..<4, using: &random) == 0: return ask(.cancel, hub)
    case 5:
      hubs[hub].isGone = true
      return
    default: break
    }
    switch state.stage {
    case .none, .running, .settling, .over, .cancelled: break
    case .recruiting:
      guard let me else {
        if Bool.random(using: &random) { act(.come, hub) }
        return
      }
      if !me.isReady { ask(.ready(true), hub) } else if isOwner { ask(.begin, hub) }
    case .gathering:
      move(hub, metres: Int.random(in: 0..<150, using: &random))
      if isOwner { ask(.proceed, hub) }
    case .countdown: break
    }
  }
}

/// A member who may say anything under its own name.
struct RoomWorldWrong {
  let member: MemberID
  var number: UInt64 = 0
  init(_ member: MemberID) { self.member = member }
}

extension RoomWorld {
  mutating func misbehave(_ index: Int) {
    guard now < .zero + .seconds(300) else { return }
    plan(.misdeed(index), in: .milliseconds(Int64.random(in: 50...8000, using: &random)))
    let who = wrong[index].member
    let card = RoomCard(nickname: Nickname("mallory")!, level: Int.random(in: 1...10, using: &random))
    let asks: [RoomAskKind] = [
      .enter(card, metres: 0, seek: nil), .enter(card, metres: 0, seek: nil), .ready(true), .ready(false), .here(true),
      .begin, .proceed, .hold, .leave, .cancel, .close, .tick, .stay, .unknown, .open(terms, card),
      .remove(hubs[0].member),
      .mark(RoomMark(elapsed: terms.goal, decimetres: Int.random(in: 0...100_000, using: &random))),
      .record(
        RoomRecord(
          version: UInt32.random(in: 0...3, using: &random), decimetres: Int.random(in: 0...100_000, using: &random),
          elapsed: terms.goal, isFinished: Bool.random(using: &random), run: RunID(high: 0, low: 1))),
    ]
    // One flood a world is enough.
    let isFlood = seed % 8 == 0 && counts["flood"] == nil && Int.random(in: 0..<20, using: &random) == 0
    if isFlood { count("flood") }
    for _ in 0..<(isFlood ? 700 : 1) {
      // Numbers are repeated and left out, too.
      let draw = Int.random(in: 0..<10, using: &random)
      let number = draw == 0 ? wrong[index].number : draw == 1 ? wrong[index].number + 3 : wrong[index].number + 1
      wrong[index].number = draw == 1 ? wrong[index].number : max(wrong[index].number, number)
      let content = RoomContent(
        fleet: FleetID(high: 0, low: 1), room: room, author: who, number: number,
        seen: Seen(count: UInt64.random(in: 0...20, using: &random), digest: random.next()),
        ask: asks.randomElement(using: &random)!, nonce: nonce)
      plan(.append(content), in: latency())
    }
    count("misdeed")
  }
}
