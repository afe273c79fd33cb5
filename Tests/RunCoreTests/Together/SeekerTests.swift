import RunCore
import Testing

@Suite("A search for another runner")
struct SeekerTests {
  private static let goal = BusDuration.seconds(1800)
  private static let me = Parts.member(9)
  private static let (mine, older, younger) = (Parts.room(50), Parts.room(1), Parts.room(2))

  private static func seeker() -> Seeker {
    Seeker(me: me, card: Parts.card("me", level: 3), seek: Seek(goal: goal))
  }
  private static func offer(_ room: RoomID, by author: Int, at second: Int64, level: Int = 3) -> SeekerOffer {
    SeekerOffer(
      room: room, author: Parts.member(author), card: Parts.card("other", level: level), seek: Seek(goal: goal),
      left: .seconds(120), openedAt: Parts.at(second))
  }
  /// A room of the members at a moment, as its fold has it.
  private static func state(_ members: Int..., ready: Bool = false, then second: Int64 = 1) -> RoomState {
    var room = RoomMachine()
    func apply(_ author: Int, _ ask: RoomAskKind, at second: Int64) {
      let id = Parts.member(author)
      let entry = RoomEntry(
        position: room.entryCount + 1, time: Parts.at(second), author: id, number: room.nextNumber(of: id), ask: ask,
        ownsRoom: true)
      _ = room.apply(entry, digest: Parts.digest)
    }
    let terms = RoomTerms(kind: .matched(Seek(goal: goal), left: .seconds(120)), goal: goal, places: 2)
    apply(members[0], .open(terms, Parts.card("one", level: 3)), at: 1)
    for member in members.dropFirst() {
      apply(member, .enter(Parts.card("two", level: 3), metres: nil, seek: Seek(goal: goal)), at: 1)
    }
    if ready { for member in members { apply(member, .ready(true), at: 1) } }
    room.advance(to: Parts.at(second))
    return room.state
  }
  /// A search that waits in its own room since second 1.
  private static func waiting() -> Seeker {
    var seeker = Self.seeker()
    _ = seeker.hear([], at: Parts.at(0))
    _ = seeker.hear(.opened, in: mine, at: Parts.at(1))
    return seeker
  }

  @Test("Without an advert it opens a room, says so, and is over when nobody comes")
  func alone() {
    var seeker = Self.seeker()
    #expect(seeker.hear([], at: Parts.at(0)) == [.open(left: .seconds(120))])
    #expect(seeker.hear(.opened, in: Self.mine, at: Parts.at(1)) == [.advertise(Self.mine, since: Parts.at(1))])
    #expect(seeker.follow(Self.state(9, then: 100), of: Self.mine, at: Parts.at(100)) == [])
    #expect(seeker.follow(Self.state(9, then: 121), of: Self.mine, at: Parts.at(121)) == [.withdraw, .over])
    #expect(seeker.isOver)
  }

  @Test("It enters the room that waits longest, after a refusal the next one, and at last opens its own")
  func refusals() {
    var seeker = Self.seeker()
    let offers = [Self.offer(Self.younger, by: 2, at: -20), Self.offer(Self.older, by: 1, at: -30)]
    #expect(seeker.hear(offers, at: Parts.at(0)) == [.enter(Self.older)])
    #expect(seeker.hear(.rejected(.full), in: Self.older, at: Parts.at(1)) == [.enter(Self.younger)])
    #expect(seeker.hear(.rejected(.over), in: Self.younger, at: Parts.at(2)) == [.open(left: .seconds(118))])
    #expect(seeker.hear(.opened, in: Self.mine, at: Parts.at(3)) == [.advertise(Self.mine, since: Parts.at(3))])
    #expect(seeker.deadline == Parts.at(11), "a room that refused is asked again after 10 s")
    #expect(seeker.advance(to: Parts.at(10)) == [])
    #expect(seeker.advance(to: Parts.at(11)) == [.close(Self.mine)])
  }

  @Test("An older room is entered only when the log has closed the own one")
  func movesToOlder() {
    var seeker = Self.waiting()
    #expect(seeker.hear([Self.offer(Self.younger, by: 2, at: 2)], at: Parts.at(2)) == [])
    #expect(seeker.hear([Self.offer(Self.older, by: 1, at: -9)], at: Parts.at(3)) == [.close(Self.mine)])
    #expect(seeker.hear([Self.offer(Self.older, by: 1, at: -9)], at: Parts.at(4)) == [])
    #expect(seeker.hear(.closed, in: Self.mine, at: Parts.at(5)) == [.withdraw, .enter(Self.older)])
    #expect(seeker.hear(.entered, in: Self.older, at: Parts.at(6)) == [.matched(Self.older)])
  }

  @Test("Who has entered the own room before it was closed is the match")
  func enteredFirst() {
    var seeker = Self.waiting()
    #expect(seeker.hear([Self.offer(Self.older, by: 1, at: -9)], at: Parts.at(3)) == [.close(Self.mine)])
    #expect(seeker.follow(Self.state(9, 4), of: Self.mine, at: Parts.at(4)) == [])
    #expect(
      seeker.hear(.rejected(.matched), in: Self.mine, at: Parts.at(5)) == [.withdraw, .matched(Self.mine)])
    #expect(seeker.follow(Self.state(9, 4), of: Self.mine, at: Parts.at(5)) == [])
    #expect(seeker.hear([Self.offer(Self.older, by: 1, at: -9)], at: Parts.at(6)) == [])
    #expect(seeker.follow(Self.state(9, 4, ready: true, then: 20), of: Self.mine, at: Parts.at(20)) == [])
    #expect(seeker.isOver, "the run is on")
  }

  @Test("Of two rooms of one moment only one gives way")
  func equalMoments() {
    var seeker = Self.waiting()
    #expect(seeker.hear([Self.offer(Parts.room(60), by: 1, at: 1)], at: Parts.at(2)) == [])
    #expect(seeker.hear([Self.offer(Parts.room(40), by: 1, at: 1)], at: Parts.at(2)) == [.close(Self.mine)])
  }

  @Test("A level that differs by one fits after half of the other's search")
  func level() {
    var seeker = Self.waiting()
    #expect(seeker.hear([Self.offer(Self.older, by: 1, at: -9, level: 4)], at: Parts.at(2)) == [])
    #expect(seeker.deadline == Parts.at(51))
    #expect(seeker.advance(to: Parts.at(51)) == [.close(Self.mine)])
    var other = Self.waiting()
    #expect(other.hear([Self.offer(Self.older, by: 1, at: -99, level: 5)], at: Parts.at(2)) == [])
  }

  @Test("When the other one goes the search goes on in the room, and that one is not met again")
  func otherGoes() {
    var seeker = Self.waiting()
    #expect(seeker.follow(Self.state(9, 4), of: Self.mine, at: Parts.at(2)) == [.withdraw, .matched(Self.mine)])
    #expect(
      seeker.follow(Self.state(9), of: Self.mine, at: Parts.at(3)) == [.advertise(Self.mine, since: Parts.at(1))])
    #expect(seeker.hear([Self.offer(Self.older, by: 4, at: -9)], at: Parts.at(4)) == [])
    #expect(seeker.follow(Self.state(9, 4), of: Self.mine, at: Parts.at(5)) == [.withdraw, .leave(Self.mine)])
    #expect(seeker.hear(.left, in: Self.mine, at: Parts.at(6)) == [.open(left: .seconds(114))])
  }

  @Test("Who did not get ready seeks no more")
  func gone() {
    var seeker = Self.waiting()
    _ = seeker.follow(Self.state(9, 4), of: Self.mine, at: Parts.at(2))
    #expect(seeker.follow(Self.state(9, 4, then: 40), of: Self.mine, at: Parts.at(40)) == [.over])
  }

  @Test("The runner's stop closes the own room, and leaves one that was entered meanwhile")
  func stops() {
    var seeker = Self.waiting()
    #expect(seeker.stop(at: Parts.at(2)) == [.close(Self.mine)])
    #expect(seeker.hear(.closed, in: Self.mine, at: Parts.at(3)) == [.withdraw, .over])

    var entering = Self.seeker()
    #expect(entering.hear([Self.offer(Self.older, by: 1, at: -9)], at: Parts.at(0)) == [.enter(Self.older)])
    #expect(entering.stop(at: Parts.at(1)) == [])
    #expect(entering.hear(.entered, in: Self.older, at: Parts.at(2)) == [.leave(Self.older)])
    #expect(entering.hear(.left, in: Self.older, at: Parts.at(3)) == [.over])

    var found = Self.waiting()
    #expect(found.stop(at: Parts.at(2)) == [.close(Self.mine)])
    #expect(
      found.hear(.rejected(.matched), in: Self.mine, at: Parts.at(3)) == [.withdraw, .leave(Self.mine)])
    #expect(found.hear(.rejected(.tooLate), in: Self.mine, at: Parts.at(3)) == [])
    #expect(found.isOver)
  }

  @Test("Adverts of other goals, of taken rooms, of unfit runners and of the past are passed by")
  func passedBy() {
    var seeker = Self.seeker()
    var other = Self.offer(Self.older, by: 1, at: -9)
    var offers = [Self.offer(Self.older, by: 1, at: -120), Self.offer(Self.older, by: 9, at: -9)]
    other.isTaken = true
    offers.append(other)
    other.isTaken = false
    other.seek.wish = .female
    offers.append(other)
    other.seek = Seek(goal: .seconds(600))
    offers.append(other)
    #expect(seeker.hear(offers, at: Parts.at(0)) == [.open(left: .seconds(120))])
  }

  @Test(
    "Nothing that is told in any order stops it from asking one thing at a time, and over is over", arguments: 1...40)
  func anything(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let verdicts: [RoomVerdict] = [
      .opened, .entered, .closed, .left, .noted, .rejected(.matched), .rejected(.over), .rejected(.unknownRoom),
      .rejected(.full), .rejected(.alreadyIn), .rejected(.notRecruiting), .rejected(.tooMany), .rejected(.tooLate),
    ]
    let states = [
      RoomState(), Self.state(9), Self.state(9, 4), Self.state(4, 9), Self.state(4), Self.state(9, 5),
      Self.state(9, 4, then: 40), Self.state(9, then: 200), Self.state(9, 4, ready: true, then: 20),
    ]
    for _ in 0..<20 {
      var (seeker, wasOver, problems) = (Self.seeker(), false, [String]())
      for _ in 0..<60 {
        let now = Parts.at(Int64.random(in: -1...140, using: &random))
        let room = Parts.room(UInt64.random(in: 1...4, using: &random))
        let actions: [SeekerAction]
        switch Int.random(in: 0..<20, using: &random) {
        case 0: actions = seeker.stop(at: now)
        case ..<4: actions = seeker.advance(to: now)
        case ..<8:
          let offers = (0..<3).map { _ in
            Self.offer(
              Parts.room(UInt64.random(in: 1...4, using: &random)), by: Int.random(in: 1...9, using: &random),
              at: [-90, 0, 90, .max / 1_000_000_000, .min / 1_000_000_000].randomElement(using: &random)!)
          }
          actions = seeker.hear(offers, at: now)
        case ..<14: actions = seeker.hear(verdicts.randomElement(using: &random)!, in: seeker.room ?? room, at: now)
        default: actions = seeker.follow(states.randomElement(using: &random)!, of: seeker.room ?? room, at: now)
        }
        let asks = actions.count { action in
          switch action {
          case .open, .enter, .close, .leave: true
          case .advertise, .withdraw, .matched, .over: false
          }
        }
        if asks > 1 || (wasOver && !actions.isEmpty) { problems.append("\(actions)") }
        if let problem = seeker.check() { problems.append(problem) }
        wasOver = seeker.isOver
      }
      #expect(problems == [])
    }
  }
}
