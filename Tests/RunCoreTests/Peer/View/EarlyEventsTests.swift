import RunCore
import Testing

/// After a restart of the hub a subscriber may be connected again before its session is: what the hub repeats for it
/// then is not repeated with the welcome.
@Suite("What a hub repeats before its welcome")
struct EarlyEventsTests {
  private func live(term: UInt64) -> BusEvent {
    .live(
      LiveMessage(
        push: LivePush(
          order: SnapshotOrder(term: term, revision: 1, tick: 9),
          content: LiveContent(
            runID: RunID(high: 9, low: 1), phase: .completed,
            clock: LiveClock(active: .seconds(60), at: PeerStage.origin, isTicking: false)),
          number: 1, kind: .final, pushedAt: PeerStage.origin, staleAt: nil, budgetLeft: 3, activity: 1),
        age: .seconds(10)))
  }
  private func room(_ number: UInt64, term: UInt64 = 2) -> BusEvent {
    let standing = RoomView.Standing(place: 1, meters: 10, age: .seconds(3), isStale: false)
    return .room(
      RoomView(
        order: RoomView.Order(term: term, number: number), room: "0f", goal: .seconds(600), places: 4,
        stage: .countdown, startsIn: .seconds(5),
        members: [RoomView.Member(id: "0a", nickname: "Anna", isSelf: true, standing: standing)]))
  }
  /// What listeners hear on the topics that are repeated.
  private func heard(_ actions: [PeerCore.Action]) -> [BusEvent] {
    actions.compactMap { action in
      guard case .hear(let event) = action else { return nil }
      switch event {
      case .live, .room: return event
      case .snapshot, .command, .receipt, .presence, .message, .route, .cue: return nil
      }
    }
  }
  /// A peer whose hub died, and is connected again without a welcome.
  private func cutOff() -> PeerStage {
    var peer = PeerStage(topics: [.snapshots, .live, .rooms])
    _ = peer.feed(.started)
    peer.commits()
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 1, PeerStage.snapshot(1, 1, 5, .running, run: 1))
    peer.commits()
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    return peer
  }
  private func welcomed(_ peer: inout PeerStage, term: UInt64 = 2) -> [PeerCore.Action] {
    let welcome = Welcome(
      nonce: peer.nonce, nodeID: NodeID(high: 1, low: 1), storeID: HubStage.storeID, deviceID: DeviceID("phone"),
      eventsEndpoint: "events", speed: BusSpeed(factor: 10)!, debounce: .milliseconds(500), received: [:],
      state: StateMessage(snapshot: PeerStage.snapshot(term, 2, 1, .completed, run: 1), age: .zero),
      recordsThrough: 0)
    return peer.act(.frame(HubFrame(session: 2, message: .welcome(welcome))))
  }

  // Once broken: The page's lock screen stayed empty after a kill of the phone, when its subscription was there before
  // its session: the push that the hub repeats for a subscriber was dropped.
  @Test("It is shown with the welcome, and as old as it is then")
  func shown() {
    var peer = cutOff()
    #expect(heard(peer.act(.event(live(term: 2)))) == [])
    #expect(heard(peer.act(.event(room(1)))) == [])
    #expect(heard(peer.act(.event(room(2)))) == [])
    #expect(!peer.core.isReachable)
    peer.now = peer.now + .seconds(2)
    let events = heard(welcomed(&peer))
    guard events.count == 2, case .live(let message) = events[0], case .room(let view) = events[1] else {
      Issue.record("\(events)")
      return
    }
    #expect(message.push.number == 1 && message.age == .seconds(30), "two real seconds are twenty")
    #expect(view.order.number == 2 && view.startsIn == .seconds(3))
    #expect(view.own?.standing?.age == .seconds(5))
    #expect(peer.core.liveActivity?.push.number == 1)
  }

  @Test("What an earlier life of the hub had said is dropped, and so is what was told once")
  func dropped() {
    var peer = cutOff()
    _ = peer.act(.event(live(term: 1)))
    _ = peer.act(.event(room(9, term: 1)))
    _ = peer.act(.event(.cue(RoomCue(room: "0f", kind: .started))))
    let actions = welcomed(&peer)
    #expect(heard(actions) == [])
    #expect(!actions.contains { if case .hear(.cue) = $0 { true } else { false } })
    #expect(peer.core.liveActivity == nil)
  }

  @Test("It is shown in one session only")
  func once() {
    var peer = cutOff()
    _ = peer.act(.event(room(1)))
    #expect(heard(welcomed(&peer)).count == 1)
    peer.commits()
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    #expect(heard(welcomed(&peer)) == [])
  }
}
