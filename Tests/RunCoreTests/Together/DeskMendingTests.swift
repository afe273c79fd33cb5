import Testing

@testable import RunCore

@Suite("A hub mends a log that has lost entries")
struct DeskMendingTests {
  @Test("Its own missing entries are appended again with their numbers, each after those that were before it")
  func order() {
    let tale = DeskTale.running
    let (before, stranger) = (tale.state, tale.stranger.state.members.map(\.id))
    tale.loses(after: 1)
    #expect(tale.rows.contains(.lost) && tale.warnings == [.altered] && tale.state.stage == before.stage)
    // Ben's entering was before Anna's ready.
    tale.passes(to: 19)
    #expect(tale.sent.isEmpty)
    tale.hears(.ben, .enter(.card("Ben"), metres: nil, seek: nil), number: 1)
    tale.passes(to: 20)
    #expect(tale.sentNumbers == [2] && tale.sent.first?.ask == .ready(true))
    tale.takes()
    tale.passes(to: 21)
    // Ben was ready before Anna began.
    #expect(tale.sent.isEmpty)
    tale.hears(.ben, .ready(true), number: 2)
    tale.passes(to: 22)
    #expect(tale.sentNumbers == [3] && tale.sent.first?.ask == .begin)
    tale.takes()
    #expect(tale.stranger.state.members.map(\.id) == stranger)
    let isCounting = if case .countdown = tale.stranger.state.stage { true } else { false }
    #expect(isCounting)
    // For Anna nothing has changed.
    #expect(tale.state.stage == before.stage && tale.state.members == before.members)
    #expect(tale.desk.check() == nil)
  }

  @Test("An entry that was appended again and is not read is appended again every one to two seconds, as it was signed")
  func again() {
    let tale = DeskTale.counting
    let begin = tale.log.last
    tale.loses(after: 4)
    tale.passes(to: 15)
    #expect((2...6).contains(tale.sent.count) && Set(tale.sent).count == 1)
    #expect(tale.sent.first?.seen == begin?.entry.seen && tale.sent.first?.ask == .begin)
  }

  @Test("A member whose entry stays away is waited for ten seconds, and not again")
  func patience() {
    let tale = DeskTale.running
    tale.loses(after: 1)
    tale.passes(to: 27)
    #expect(tale.sent.isEmpty)
    tale.passes(to: 29)
    #expect(tale.sentNumbers == [2])
    tale.takes()
    // The last one is that of the start.
    #expect(tale.log.map(\.entry.number) == [1, 2, 3, 4] && tale.log.last?.entry.ask == .tick)
  }

  @Test("A log that has nothing of the room any more gets the whole room")
  func everything() {
    let tale = DeskTale.running
    tale.loses(after: 0)
    tale.passes(to: 19)
    #expect(tale.sentNumbers == [1] && tale.sent.first?.nonce == DeskTale.nonce)
    tale.takes()
    tale.hears(.ben, .enter(.card("Ben"), metres: nil, seek: nil), number: 1)
    tale.takes()
    tale.hears(.ben, .ready(true), number: 2)
    tale.takes()
    #expect(tale.stranger.state.members.count == 2 && tale.state.members.count == 2)
  }

  @Test("A mark waits until the run has begun in the log, too, and the result is complete for who was in it")
  func marks() {
    let tale = DeskTale.running
    tale.passes(to: 80)
    tale.takes()
    #expect(tale.state.member(.anna)?.mark != nil)
    tale.loses(after: 4)
    tale.passes(to: 81)
    #expect(tale.sentNumbers == [3])
    tale.takes()
    tale.passes(to: 84)
    #expect(tale.sent.isEmpty)
    tale.passes(to: 88)
    tale.takes()
    #expect(tale.stranger.state.member(.anna)?.mark == tale.state.member(.anna)?.mark)
    tale.passes(to: 700)
    tale.takes()
    tale.hears(.ben, .record(.run(2900, seconds: 600)))
    #expect(RoomResult(tale.state)?.standing == .complete)
    #expect(tale.stranger.result?.rows.map(\.decimetres) == RoomResult(tale.state)?.rows.map(\.decimetres))
    // The run starts and stops once, where it would have.
    #expect(tale.presses.map(\.press) == [.start(DeskTale.run, goal: .seconds(600)), .stop(DeskTale.run)])
  }

  @Test("The next life goes on with the mending")
  func restart() {
    let tale = DeskTale.running
    tale.loses(after: 1)
    tale.hears(.ben, .enter(.card("Ben"), metres: nil, seek: nil), number: 1)
    tale.takes()
    tale.dies()
    tale.resumes(startedAt: .zero + .seconds(15), isOn: true)
    tale.reads()
    tale.hears(.ben, .ready(true), number: 2)
    tale.passes(to: 20)
    #expect(tale.sentNumbers == [3])
    tale.takes()
    let (own, others) = (tale.state.stage.startsAt, tale.stranger.state.stage.startsAt)
    #expect(own != nil && others != nil && own != others)
    #expect(tale.presses.count == 1)
  }

  @Test("A second loss is mended as the first one")
  func twice() {
    let tale = DeskTale.running
    tale.loses(after: 4)
    tale.passes(to: 19)
    tale.takes()
    tale.loses(after: 3)
    tale.hears(.ben, .ready(true), number: 2)
    tale.passes(to: 21)
    tale.takes()
    #expect(tale.rows.count { $0 == .lost } == 2)
    #expect(tale.stranger.nextNumber(of: .anna) == tale.desk.machine(of: DeskTale.room)?.nextNumber(of: .anna))
  }

  @Test("Before the countdown a room whose log lost entries is void, and may be entered anew")
  func void() {
    let tale = DeskTale()
    tale.asks(.open(RoomTerms(goal: .seconds(600))))
    tale.takes()
    tale.asks(.ready(true))
    tale.takes()
    tale.asks(.begin)
    tale.loses(after: 1)
    #expect(tale.desk.isVoid(DeskTale.room) && tale.answers.last == .refused(.unknownRoom))
    #expect(tale.desk.activeRoom == nil && tale.reading == nil)
    tale.losesSent()
    tale.asks(.enter(DeskTale.room))
    tale.takes()
    #expect(!tale.desk.isVoid(DeskTale.room) && tale.answers.last == .judged(DeskTale.room, .rejected(.alreadyIn)))
  }

  @Test("Other entries at the positions of the lost ones are a loss; the same ones are none")
  func positions() {
    let tale = DeskTale.running
    tale.dies()
    tale.reads()
    #expect(!tale.desk.isMended(DeskTale.room))
    let other = DeskTale.running
    other.dies()
    let count = other.log.count
    other.loses(after: count - 1)
    #expect(other.desk.isMended(DeskTale.room))
  }

  @Test("What an earlier reading still brings does not count")
  func stale() throws {
    let tale = DeskTale.running
    let (reading, log) = (try #require(tale.reading), tale.log)
    tale.loses(after: 1)
    tale.reads(log, of: reading)
    #expect(tale.desk.digest(of: DeskTale.room)?.count == 1)
  }

  @Test("A hub that is back in the run while the log is away stops the run at the goal, and marks and record follow")
  func away() throws {
    let tale = DeskTale.running
    let start = try #require(tale.presses.first)
    tale.now = tale.now + .seconds(60)
    tale.dies()
    #expect(tale.desk.clock.estimate(at: tale.now) == nil)
    tale.resumes(startedAt: start.at, isOn: true)
    tale.passes(to: 700)
    #expect(tale.presses.count == 2 && tale.presses.last?.press == .stop(DeskTale.run))
    #expect(tale.presses.last?.at == start.at + .seconds(600) && tale.sent.isEmpty)
    tale.reads()
    tale.takes()
    #expect(tale.state.member(.anna)?.record?.decimetres == 3000)
  }
}

@Suite("A record that changes is stated anew in its room")
struct DeskRecordTests {
  /// A room whose run is over, with Anna's record.
  private var settled: DeskTale {
    let tale = DeskTale.running
    tale.passes(to: 700)
    tale.takes()
    return tale
  }

  @Test("A new version is one in the room, once; what says the same is not stated")
  func amended() {
    let tale = settled
    #expect(tale.state.member(.anna)?.record?.version == 1)
    tale.amends(.made)
    #expect(tale.sent.isEmpty)
    tale.decimetres = 3100
    tale.amends(.made)
    tale.amends(.made)
    tale.takes()
    let record = tale.state.member(.anna)?.record
    #expect(record?.version == 2 && record?.decimetres == 3100)
  }

  @Test("One that was removed has no distance, also when the hub died before it said so")
  func removed() {
    let tale = settled
    tale.amends(.removed)
    tale.losesSent()
    tale.dies()
    tale.reads()
    #expect(tale.desk.statedRuns == [DeskTale.run])
    tale.amends(.removed)
    tale.takes()
    let record = tale.state.member(.anna)?.record
    #expect(record?.version == 2 && record?.decimetres == nil && record?.isFinished == true)
  }

  @Test("Before the first record, and once the room is over, nothing is stated")
  func bounds() {
    let early = DeskTale.running
    early.amends(.made)
    #expect(early.measured.allSatisfy { $0 == .live })
    let late = settled
    late.now = late.now + .seconds(90_000)
    late.hears(.ben, .tick)
    late.decimetres = 1
    late.amends(.made)
    #expect(late.sent.isEmpty)
  }
}
