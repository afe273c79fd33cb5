import RunCore
import Testing

@Suite("A desk that seeks another runner")
struct DeskMatchTests {
  private static let goal = BusDuration.seconds(1800)
  private static let me = Parts.member(9)
  private static let room = Parts.room(50)
  private static let card = Parts.card("me", level: 3)
  private static let fleet = FleetID(high: 0, low: 1)
  private static let keys = RoomKeys(room: room, nonce: RoomNonce(high: 0, low: 7), run: RunID(high: 0, low: 5))

  /// A desk whose store and log do at once what it wants, by a clock that shows the same as the log's.
  private struct Rig {
    var desk = TogetherDesk(TogetherDesk.Settings(fleet: fleet, member: me, card: card))
    var now = BusTime.zero
    var position: UInt64 = 0
    var reading: UInt64 = 0

    static func at(_ second: Int64) -> BusTime { .zero + .seconds(second) }
    var logTime: LogTime { LogTime(nanoseconds: now.nanoseconds) }

    /// Carries out what is durable or in the log at once, and returns the rest.
    mutating func settle(_ actions: [DeskAction]) -> [DeskAction] {
      var rest: [DeskAction] = []
      for action in actions {
        switch action {
        case .keep(_, _, let receipt): rest += settle(desk.kept(receipt, at: now))
        case .follow(let room, let next):
          reading = next.number
          rest += settle(desk.read(room, [], isEnd: true, reading: reading, heard: now, at: now))
        case .append(let content): rest += settle(entry(content.ask, by: content.author, number: content.number))
        case .prove(let room, let reading):
          rest += settle(desk.proved(room, reading, found: Parts.digest, at: now))
        case .forget, .unfollow, .warn, .answer, .press, .measure, .event, .listen, .shout, .cue, .show, .seek, .key,
          .advertise:
          rest.append(action)
        }
      }
      return rest
    }
    /// The room's log has a further entry.
    mutating func entry(_ ask: RoomAskKind, by author: MemberID, number: UInt64) -> [DeskAction] {
      position += 1
      let entry = RoomEntry(
        position: position, time: logTime, author: author, number: number, ask: ask, ownsRoom: true)
      let read = ReadEntry(entry: entry, hash: Parts.digest, digest: Parts.digest)
      return desk.read(room, [read], isEnd: true, reading: reading, heard: now, at: now)
    }
    mutating func ask(_ id: UInt64, _ wish: RoomAsk.Wish) -> [DeskAction] {
      settle(desk.ask(RoomAsk(id: DeskMatchTests.ask(id), wish: wish), keys: nil, isRunOn: false, at: now))
    }
    /// What it has said by itself in the room.
    func isReady(_ member: MemberID) -> Bool? { desk.machine(of: room)?.state.member(member)?.isReady }
  }
  private static func ask(_ id: UInt64) -> Identifier<RoomAskTag> { Identifier(high: 1, low: id) }
  private static let search = RoomSearch(seek: Seek(goal: goal, wish: .female))

  /// A desk that waits in its own room.
  private static func waiting(_ search: RoomSearch = search) -> Rig {
    var rig = Rig()
    _ = rig.ask(1, .match(search))
    _ = rig.settle(rig.desk.heard([], at: rig.logTime, now: rig.now))
    _ = rig.settle(rig.desk.keyed(keys, at: rig.now))
    return rig
  }

  @Test("It reads adverts, opens a room when none fits, says so every minute, and takes it back at the end")
  func alone() {
    var rig = Rig()
    #expect(rig.ask(1, .match(Self.search)) == [.seek(listedAs: "g30"), .answer(Self.ask(1), .seeking)])
    #expect(rig.settle(rig.desk.heard([], at: rig.logTime, now: rig.now)) == [.key(nil)])
    let actions = rig.settle(rig.desk.keyed(Self.keys, at: rig.now))
    let terms = RoomTerms(kind: .matched(Self.search.seek, left: .seconds(120)), goal: Self.goal, places: 2)
    let advert = RoomAdvert(
      fleet: Self.fleet, room: Self.room, author: Self.me, terms: terms, card: Self.card, members: 1, position: 1,
      openedAt: .zero, listedAs: "g30")
    #expect(actions.contains(.advertise(advert, listedAs: "g30")))
    #expect(rig.ask(2, .open(RoomTerms(goal: Self.goal))) == [.answer(Self.ask(2), .refused(.seeking))])
    #expect(rig.ask(3, .leave) == [.answer(Self.ask(3), .refused(.seeking))])

    #expect(rig.desk.deadline(at: rig.now) == Rig.at(60))
    rig.now = Rig.at(60)
    #expect(rig.settle(rig.desk.act(at: rig.now)) == [.advertise(advert, listedAs: "g30")])
    #expect(rig.desk.deadline(at: rig.now) == Rig.at(120))

    let end = rig.ask(4, .unmatch)
    #expect(end.contains(.advertise(nil, listedAs: "g30")) && end.contains(.seek(listedAs: nil)))
    #expect(rig.ask(4, .unmatch) == [.answer(Self.ask(4), .unmatched(.stopped))])
    #expect(rig.ask(1, .match(Self.search)) == [.answer(Self.ask(1), .unmatched(.stopped))])
    #expect(rig.ask(5, .unmatch) == [.answer(Self.ask(5), .refused(.notSeeking))])
    #expect(rig.desk.room(Self.room, at: rig.now)?.state.stage == .cancelled(.closed))
  }

  @Test("Somebody who comes is the match, for whom it gets ready once; after its own hold it does not")
  func matched() {
    var rig = Self.waiting()
    let other = Parts.member(4)
    let enter = RoomAskKind.enter(
      Parts.card("other", level: 3, gender: .female), metres: nil, seek: Seek(goal: Self.goal))
    #expect(rig.settle(rig.entry(enter, by: other, number: 1)).contains(.advertise(nil, listedAs: "g30")))
    #expect(rig.ask(1, .match(Self.search)) == [.answer(Self.ask(1), .matched(Self.room))])
    #expect(rig.isReady(Self.me) == true)
    _ = rig.settle(rig.entry(.ready(true), by: other, number: 2))
    #expect(rig.desk.room(Self.room, at: rig.now)?.state.stage.startsAt != nil)
    // The other one holds: it is ready again. It holds itself: it is not.
    _ = rig.settle(rig.entry(.hold, by: other, number: 3))
    #expect(rig.isReady(Self.me) == true)
    _ = rig.settle(rig.entry(.ready(true), by: other, number: 4))
    _ = rig.ask(6, .hold)
    #expect(rig.isReady(Self.me) == false)
    // When the other one goes, the search goes on.
    #expect(
      rig.settle(rig.entry(.leave, by: other, number: 5)).contains { action in
        if case .advertise(.some, _) = action { true } else { false }
      })
    #expect(rig.ask(1, .match(Self.search)) == [.answer(Self.ask(1), .seeking)])
  }

  @Test("Without getting ready by itself it leaves that to the runner")
  func readyByHand() {
    var search = Self.search
    search.getsReady = false
    var rig = Self.waiting(search)
    let enter = RoomAskKind.enter(
      Parts.card("other", level: 3, gender: .female), metres: nil, seek: Seek(goal: Self.goal))
    _ = rig.settle(rig.entry(enter, by: Parts.member(4), number: 1))
    #expect(rig.isReady(Self.me) == false)
    _ = rig.ask(2, .ready(true))
    #expect(rig.isReady(Self.me) == true)
  }

  @Test("A search in a run, in a room, or whose log never answers does not begin")
  func notBegun() {
    var rig = Rig()
    let ask = RoomAsk(id: Self.ask(1), wish: .match(Self.search))
    #expect(rig.desk.ask(ask, keys: nil, isRunOn: true, at: rig.now) == [.answer(Self.ask(1), .refused(.runIsOn))])
    #expect(rig.ask(1, .match(Self.search)).first == .seek(listedAs: "g30"))
    #expect(rig.desk.deadline(at: rig.now) == Rig.at(120))
    rig.now = Rig.at(120)
    #expect(rig.desk.act(at: rig.now) == [.seek(listedAs: nil)])
    #expect(rig.ask(1, .match(Self.search)) == [.answer(Self.ask(1), .unmatched(.broken))])
  }

  @Test("Adverts of another speed, of later rules and of opened rooms are nothing that fits")
  func passedBy() {
    let seek = Seek(goal: Self.goal)
    var terms = RoomTerms(kind: .matched(seek, left: .seconds(120)), goal: Self.goal, places: 2)
    func advert(_ room: UInt64) -> RoomAdvert {
      RoomAdvert(
        fleet: Self.fleet, room: Parts.room(room), author: Parts.member(4), terms: terms,
        card: Parts.card("other", level: 3, gender: .female), members: 1, position: 1, openedAt: .zero, listedAs: "g30")
    }
    let good = advert(1)
    terms.speed = BusSpeed(factor: 60)!
    var bad = [advert(2)]
    terms.speed = .realTime
    terms.rules = 2
    bad.append(advert(3))
    terms.rules = 1
    terms.kind = .opened
    bad.append(advert(4))
    var full = good
    full.members = 2
    bad.append(full)
    var rig = Rig()
    _ = rig.ask(1, .match(Self.search))
    #expect(rig.desk.heard(bad, at: rig.logTime, now: rig.now) == [.key(nil)])
    rig = Rig()
    _ = rig.ask(1, .match(Self.search))
    #expect(rig.desk.heard(bad + [good], at: rig.logTime, now: rig.now) == [.key(Parts.room(1))])
  }

  @Test("The class of a search says its goal")
  func classes() {
    #expect(RoomAdvert.listing(of: .seconds(1800)) == "g30")
    #expect(RoomAdvert.listing(of: .seconds(90)) == "g90s")
    #expect(RoomAdvert.listing(of: .milliseconds(1500)) == "g1500000000ns")
    #expect(RoomAdvert.isClass(RoomAdvert.listing(of: BusDuration(nanoseconds: 86_399_999_999_999))))
  }
}
