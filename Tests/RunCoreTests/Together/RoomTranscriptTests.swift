import Testing

@testable import RunCore

/// Each line of the table of requests, with each refusal.
@Suite("A room, request by request")
struct RoomTranscriptTests {
  @Test("A room is opened, gathers, counts down, runs, settles and is over")
  func wholeLife() {
    let room = RoomTale()
    #expect(room.at(0, .anna, .open(.atTheLake, .card("Anna"))) == .opened)
    #expect(room.at(1, .ben, .comes("Ben", metres: 900)) == .entered)
    #expect(room.at(2, .anna, .ready(true)) == .noted)
    #expect(room.at(3, .ben, .ready(true)) == .noted)
    #expect(room.at(4, .anna, .begin) == .begun)
    #expect(room.stage == .gathering)
    #expect(room.at(5, .anna, .here(true)) == .noted)
    #expect(room.at(6, .ben, .here(true)) == .noted)
    #expect(room.at(7, .anna, .proceed) == .begun)
    #expect(room.stage == .countdown(startsAt: .seconds(12)))
    #expect(room.at(12, .ben, .stay) == .noted)
    #expect(room.stage == .running(startsAt: .seconds(12)))
    #expect(room.at(60, .ben, .marks(50, after: 48)) == .noted)
    #expect(room.at(113, .ben, .ran(110)) == .noted)
    #expect(room.stage == .settling(startsAt: .seconds(12), endedAt: .seconds(112)))
    #expect(room.at(114, .anna, .ran(120)) == .noted)
    #expect(room.at(112 + 24 * 3600, .anna, .stay) == .rejected(.over))
    #expect(room.stage == .over(startsAt: .seconds(12)))
    #expect(room.lines == ["1 anna 120 won", "2 ben 110 lost"])
  }

  @Test("open: once, by the owner of the id, with rules that are known")
  func open() {
    let room = RoomTale()
    var later = RoomTerms.plain
    later.rules = 2
    #expect(room.at(0, .anna, .open(later, .card("Anna")), ownsRoom: false) == .rejected(.notYours))
    #expect(room.at(1, .anna, .open(later, .card("Anna"))) == .rejected(.unsupported))
    #expect(room.stage == .none)
    #expect(room.at(2, .anna, .open(.plain, .card("Anna"))) == .opened)
    #expect(room.state.owner == .anna)
    #expect(room.state.notReady == [.anna])
    #expect(room.at(3, .anna, .open(.plain, .card("Anna"))) == .rejected(.known))
    #expect(room.at(4, .ben, .open(later, .card("Ben")), ownsRoom: false) == .rejected(.known))
    #expect(room.at(5, .anna, .cancel) == .cancelled)
    #expect(room.at(6, .anna, .open(.plain, .card("Anna"))) == .rejected(.over))
  }

  @Test("Before a room is open, and after its end, every request has the same refusal")
  func outside() {
    let asks: [RoomAskKind] = [
      .comes("Ben"), .ready(true), .here(true), .leave, .close, .begin, .proceed, .hold, .cancel, .remove(.anna), .stay,
      .tick, .marks(1, after: 1), .ran(1), .unknown,
    ]
    let room = RoomTale()
    for ask in asks { #expect(room.at(0, .ben, ask) == .rejected(.unknownRoom)) }
    #expect(room.at(1, .anna, .open(.plain, .card("Anna"))) == .opened)
    // The first is `enter`, the only one that a stranger may ask. Ben has asked fifteen times.
    for ask in asks.dropFirst() { #expect(room.at(1, .cleo, ask) == .rejected(.notIn)) }
    #expect(room.at(2, .anna, .unknown) == .rejected(.unsupported))
    #expect(room.at(3, .anna, .cancel) == .cancelled)
    for ask in asks { #expect(room.at(4, .anna, ask) == .rejected(.over)) }
    #expect(room.at(4, .dora, .comes("Dora")) == .rejected(.over))
  }

  @Test("enter: the refusals in their order")
  func enter() {
    var terms = RoomTerms.atTheLake
    terms.circle = "club"
    let room = RoomTale(terms)
    #expect(room.at(1, .anna, .comes("Anna")) == .rejected(.alreadyIn))
    #expect(room.at(1, .ben, .comes("Ben", circle: nil, metres: nil)) == .rejected(.otherCircle))
    #expect(room.at(1, .ben, .comes("Ben", circle: "other", metres: nil)) == .rejected(.otherCircle))
    #expect(room.at(1, .ben, .comes("Ben", circle: "club", metres: nil)) == .rejected(.tooFar(metres: nil)))
    #expect(room.at(1, .ben, .comes("Ben", circle: "club", metres: 1001)) == .rejected(.tooFar(metres: 1001)))
    #expect(room.at(1, .ben, .comes("Ben", circle: "club", metres: 1000)) == .entered)
    #expect(room.at(2, .cleo, .comes("Cleo", circle: "club")) == .entered)
    #expect(room.roster == [.anna, .ben, .cleo])
    #expect(room.at(3, .dora, .comes("Dora", circle: "club", metres: 1001)) == .rejected(.tooFar(metres: 1001)))
    #expect(room.at(3, .dora, .comes("Dora", circle: "club")) == .rejected(.full))
    #expect(room.at(4, .anna, .remove(.cleo)) == .removed)
    #expect(room.at(5, .cleo, .comes("Cleo", circle: "other")) == .rejected(.barred))
    #expect(room.at(5, .dora, .comes("Dora", circle: "club")) == .entered)
    for member in [MemberID.anna, .ben, .dora] { #expect(room.at(6, member, .ready(true)) == .noted) }
    #expect(room.at(7, .anna, .begin) == .begun)
    #expect(room.at(8, .ben, .comes("Ben")) == .rejected(.alreadyIn))
    #expect(room.at(8, .cleo, .comes("Cleo")) == .rejected(.notRecruiting))
  }

  @Test("enter: two who are matched fit in goal, gender and level, in this order")
  func unfit() {
    let wishes = Seek(goal: .seconds(100), wish: .female)
    let terms = RoomTerms(kind: .matched(wishes, left: .seconds(120)), goal: .seconds(100), places: 2)
    let room = RoomTale()
    let (goal, gender, level) = (RoomRefusal.Unfit.goal, RoomRefusal.Unfit.gender, RoomRefusal.Unfit.level)
    let men = Seek(goal: .seconds(100), wish: .male)
    #expect(room.at(0, .anna, .open(terms, .card("Anna", .female))) == .opened)
    #expect(room.at(1, .ben, .comes("Ben", level: 9, .male, seek: nil)) == .rejected(.unfit(goal)))
    #expect(room.at(1, .ben, .comes("Ben", level: 9, seek: Seek(goal: .seconds(99)))) == .rejected(.unfit(goal)))
    #expect(room.at(1, .ben, .comes("Ben", level: 9, .male)) == .rejected(.unfit(gender)))
    #expect(room.at(1, .ben, .comes("Ben", level: 9, nil)) == .rejected(.unfit(gender)))
    #expect(room.at(1, .cleo, .comes("Cleo", level: 9, .female, seek: men)) == .rejected(.unfit(gender)))
    #expect(room.at(1, .cleo, .comes("Cleo", level: 2, .female)) == .rejected(.unfit(level)))
    #expect(room.at(60, plus: -1, .cleo, .comes("Cleo", level: 4, .female)) == .rejected(.unfit(level)))
    #expect(room.at(60, .cleo, .comes("Cleo", level: 5, .female)) == .rejected(.unfit(level)))
    #expect(room.at(60, .cleo, .comes("Cleo", level: 4, .female)) == .entered)
    // Two are in: no comparison.
    #expect(room.at(61, .ben, .comes("Ben", .male, seek: nil)) == .rejected(.full))
    // The one who stays is the one who is compared, with the goal of the room.
    #expect(room.at(62, .anna, .leave) == .left)
    #expect(room.at(63, .ben, .comes("Ben", level: 5, .male)) == .entered)
  }

  @Test("ready: while recruiting; a matched room counts down when both are")
  func ready() {
    let room = RoomTale(.plain, others: [.ben])
    #expect(room.at(1, .ben, .ready(true)) == .noted)
    #expect(room.at(1, .ben, .ready(true)) == .noted)
    #expect(room.state.notReady == [.anna])
    #expect(room.at(1, .ben, .ready(false)) == .noted)
    #expect(room.state.notReady == [.anna, .ben])
    #expect(RoomTale.counting.at(1, .ben, .ready(false)) == .rejected(.notRecruiting))
    #expect(RoomTale.gathering.at(1, .ben, .ready(true)) == .rejected(.notRecruiting))

    let search = RoomTale(.search)
    #expect(search.at(1, .anna, .ready(true)) == .rejected(.tooFew))
    #expect(search.at(1, .anna, .ready(false)) == .noted)
    #expect(search.at(2, .ben, .comes("Ben")) == .entered)
    #expect(search.at(3, .ben, .ready(true)) == .noted)
    #expect(search.stage == .recruiting)
    #expect(search.at(4, .anna, .ready(true)) == .noted)
    #expect(search.stage == .countdown(startsAt: .seconds(9)))
  }

  @Test("Nobody is ready in a matched room when another one comes")
  func nobodyReady() {
    let room = RoomTale(.search, others: [.ben], ready: [.ben])
    #expect(room.at(1, .anna, .leave) == .left)
    #expect(room.state.notReady == [])
    #expect(room.at(2, .cleo, .comes("Cleo")) == .entered)
    #expect(room.state.notReady == [.ben, .cleo])
  }

  @Test("begin: the owner, two or more, all of them ready")
  func begin() {
    let room = RoomTale(.plain)
    #expect(room.at(1, .anna, .begin) == .rejected(.tooFew))
    #expect(room.at(1, .ben, .comes("Ben")) == .entered)
    #expect(room.at(1, .ben, .begin) == .rejected(.notOwner))
    #expect(room.at(1, .anna, .begin) == .rejected(.notReady([.anna, .ben])))
    #expect(room.at(1, .anna, .ready(true)) == .noted)
    #expect(room.at(1, .anna, .begin) == .rejected(.notReady([.ben])))
    #expect(room.at(1, .ben, .ready(true)) == .noted)
    #expect(room.at(2, .anna, .begin) == .begun)
    #expect(room.stage == .countdown(startsAt: .seconds(7)))
    #expect(room.at(3, .ben, .begin) == .rejected(.notOwner))
    #expect(room.at(3, .anna, .begin) == .rejected(.notRecruiting))
    // Nobody owns a matched room.
    #expect(RoomTale(.search, others: [.ben]).at(1, .anna, .begin) == .rejected(.notOwner))
  }

  @Test("here and proceed: while gathering, and all are there")
  func hereAndProceed() {
    let room = RoomTale.gathering
    #expect(room.at(1, .ben, .proceed) == .rejected(.notOwner))
    #expect(room.at(1, .anna, .proceed) == .rejected(.notHere([.anna, .ben, .cleo])))
    #expect(room.at(1, .anna, .here(true)) == .noted)
    #expect(room.at(1, .ben, .here(true)) == .noted)
    #expect(room.at(1, .cleo, .here(true)) == .noted)
    #expect(room.at(1, .ben, .here(false)) == .noted)
    #expect(room.at(1, .anna, .proceed) == .rejected(.notHere([.ben])))
    #expect(room.at(1, .ben, .here(true)) == .noted)
    #expect(room.at(2, .anna, .proceed) == .begun)
    #expect(room.stage == .countdown(startsAt: .seconds(7)))
    #expect(room.at(3, .anna, .proceed) == .rejected(.notGathering))
    #expect(room.at(3, .anna, .here(false)) == .rejected(.notGathering))
    #expect(RoomTale(.plain).at(1, .anna, .here(true)) == .rejected(.notGathering))
  }

  @Test("hold: any member, until a second before the start")
  func hold() {
    let room = RoomTale.counting
    #expect(room.at(4, plus: -1, .cleo, .hold) == .held)
    #expect(room.stage == .recruiting)
    #expect(room.state.notReady == [.anna, .ben, .cleo])
    #expect(room.at(4, .cleo, .hold) == .rejected(.notCounting))
    #expect(RoomTale.counting.at(4, .cleo, .hold) == .rejected(.tooLate))
    #expect(RoomTale.counting.at(5, .cleo, .hold) == .rejected(.notCounting))
    #expect(RoomTale.matched.at(3, .ben, .hold) == .held)
  }

  @Test("leave: until a second before the start")
  func leave() {
    let recruiting = RoomTale(.plain, others: [.ben, .cleo], ready: [.ben])
    #expect(recruiting.at(1, .anna, .leave) == .left)
    #expect(recruiting.state.owner == .ben)
    #expect(recruiting.state.notReady == [.cleo])
    #expect(recruiting.at(1, .anna, .leave) == .rejected(.notIn))
    #expect(recruiting.at(2, .ben, .leave) == .left)
    #expect(recruiting.at(2, .cleo, .leave) == .left)
    #expect(recruiting.stage == .cancelled(.left))
    #expect(recruiting.state.owner == nil)

    let gathering = RoomTale.gathering
    #expect(gathering.at(1, .cleo, .leave) == .left)
    #expect(gathering.stage == .gathering)
    #expect(gathering.at(2, .anna, .leave) == .left)
    #expect(gathering.stage == .recruiting)
    #expect(gathering.state.notReady == [.ben])

    let counting = RoomTale.counting
    #expect(counting.at(4, plus: -1, .cleo, .leave) == .left)
    #expect(counting.stage == .recruiting)
    #expect(counting.state.notReady == [.anna, .ben])
    #expect(RoomTale.counting.at(4, .cleo, .leave) == .rejected(.tooLate))
    #expect(RoomTale.counting.at(5, .cleo, .leave) == .rejected(.alreadyRunning))
    #expect(RoomTale.counting.at(105, .cleo, .leave) == .rejected(.alreadyRunning))
  }

  @Test("remove: the owner, before the countdown, and for ever")
  func remove() {
    let room = RoomTale(.plain, others: [.ben, .cleo])
    #expect(room.at(1, .ben, .remove(.cleo)) == .rejected(.notOwner))
    #expect(room.at(1, .anna, .remove(.dora)) == .rejected(.notIn))
    #expect(room.at(1, .anna, .remove(.cleo)) == .removed)
    #expect(room.at(1, .cleo, .stay) == .rejected(.notIn))
    #expect(room.at(2, .anna, .remove(.cleo)) == .rejected(.notIn))
    #expect(room.at(3, .anna, .remove(.anna)) == .removed)
    #expect(room.state.owner == .ben)
    #expect(room.state.barred == [.anna, .cleo])
    #expect(room.at(4, .anna, .comes("Anna")) == .rejected(.barred))

    let gathering = RoomTale.gathering
    #expect(gathering.at(1, .anna, .remove(.ben)) == .removed)
    #expect(gathering.stage == .gathering)
    #expect(gathering.at(1, .anna, .remove(.cleo)) == .removed)
    #expect(gathering.stage == .recruiting)
    #expect(RoomTale.counting.at(1, .anna, .remove(.dora)) == .rejected(.notRecruiting))
    #expect(RoomTale(.search, others: [.ben]).at(1, .anna, .remove(.ben)) == .rejected(.notOwner))
  }

  @Test("close: who seeks and is alone")
  func close() {
    #expect(RoomTale.counting.at(1, .anna, .close) == .rejected(.unsupported))
    #expect(RoomTale.matched.at(1, .anna, .close) == .rejected(.notRecruiting))
    #expect(RoomTale(.search, others: [.ben]).at(1, .anna, .close) == .rejected(.matched))
    let room = RoomTale(.search)
    #expect(room.at(1, .anna, .close) == .closed)
    #expect(room.stage == .cancelled(.closed))
    #expect(room.roster == [.anna])
  }

  @Test("cancel: the owner, until a second before the start")
  func cancel() {
    for room in [RoomTale(.plain, others: [.ben]), .gathering, .counting] {
      #expect(room.at(1, .ben, .cancel) == .rejected(.notOwner))
      #expect(room.at(4, plus: -1, .anna, .cancel) == .cancelled)
      #expect(room.stage == .cancelled(.owner))
    }
    for second: Int64 in [4, 5, 105] { #expect(RoomTale.counting.at(second, .anna, .cancel) == .rejected(.tooLate)) }
    #expect(RoomTale.matched.at(1, .anna, .cancel) == .rejected(.notOwner))
  }

  @Test("mark and record: during the run and a day after it")
  func markAndRecord() {
    let day: Int64 = 24 * 3600
    for room in [RoomTale(.plain), .gathering, .counting] {
      #expect(room.at(1, .anna, .marks(1, after: 1)) == .rejected(.notRunning))
      #expect(room.at(1, .anna, .ran(1_000_000)) == .rejected(.notRunning))
    }
    let room = RoomTale.running
    #expect(room.at(6, .anna, .marks(10, after: 2)) == .noted)
    #expect(room.at(7, .anna, .marks(5, after: 1)) == .noted)
    #expect(room.at(8, .anna, .marks(20, after: 2)) == .noted)
    #expect(room.state.member(.anna)?.mark?.decimetres == 10)
    #expect(room.at(104 + day, .anna, .ran(10, version: 2)) == .noted)
    #expect(room.at(104 + day, .anna, .ran(11, version: 2)) == .noted)
    #expect(room.at(104 + day, .anna, .ran(12, version: 1)) == .noted)
    #expect(room.state.member(.anna)?.record?.decimetres == 10)
    #expect(room.at(105 + day, .anna, .ran(13, version: 3)) == .rejected(.over))
  }

  @Test("record: at most 10 m/s over the shorter of the run and the goal")
  func implausible() {
    let room = RoomTale.running
    #expect(room.at(6, .anna, .ran(10_001, seconds: 1000)) == .rejected(.implausible))
    #expect(room.at(6, .anna, .ran(.max)) == .rejected(.implausible))
    #expect(room.at(6, .anna, .ran(701, seconds: 7)) == .rejected(.implausible))
    #expect(room.at(6, .anna, .ran(1, seconds: 0)) == .rejected(.implausible))
    #expect(room.at(6, .anna, .ran(0, seconds: 0)) == .noted)
    #expect(room.at(6, .anna, .ran(700, version: 2, seconds: 7)) == .noted)
    #expect(room.at(6, .anna, .ran(10_000, version: 3, seconds: 1000)) == .noted)
    #expect(room.at(6, .anna, .ran(nil, version: 4)) == .noted)
    var record = RoomRecord.run(10, version: 5)
    record.elapsed = BusDuration(nanoseconds: 99_999_999)
    #expect(room.at(6, .anna, .record(record)) == .rejected(.implausible))
    record.elapsed = BusDuration(nanoseconds: 100_000_000)
    #expect(room.at(6, .anna, .record(record)) == .noted)
  }

  @Test("mark: at most 10 m/s over the shorter of its time and the goal")
  func implausibleMark() {
    let room = RoomTale.running
    #expect(room.at(6, .anna, .marks(701, after: 7)) == .rejected(.implausible))
    #expect(room.at(6, .anna, .marks(1, after: 0)) == .rejected(.implausible))
    #expect(room.at(6, .anna, .marks(10_001, after: 1000)) == .rejected(.implausible))
    #expect(room.at(6, .anna, .marks(.max, after: 1000)) == .rejected(.implausible))
    #expect(room.state.member(.anna)?.mark == nil)
    #expect(room.lines == ["1 anna - open", "1 ben - open", "1 cleo - open"])
    #expect(room.at(6, .anna, .marks(0, after: 0)) == .noted)
    #expect(room.at(6, .anna, .marks(700, after: 7)) == .noted)
    #expect(room.at(6, .anna, .marks(10_000, after: 1000)) == .noted)
    #expect(room.lines.first == "1 anna 10000? open")
  }

  @Test("stay and tick: any member, any stage")
  func stayAndTick() {
    for room in [RoomTale(.plain, others: [.ben]), .gathering, .counting, .running, .matched] {
      #expect(room.at(5, .ben, .stay) == .noted)
      #expect(room.at(5, .ben, .tick) == .noted)
    }
  }
}
