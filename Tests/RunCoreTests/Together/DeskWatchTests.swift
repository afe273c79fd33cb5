import Testing

@testable import RunCore

@Suite("A hub notices a log that somebody changes past its rules")
struct DeskWatchTests {
  /// What somebody can do to entries that were read, none of them the last one.
  enum Change: CaseIterable {
    case deletes, swaps, dates, replaces

    func apply(to log: inout [ReadEntry]) {
      switch self {
      case .deletes: log.remove(at: 2)
      case .swaps:
        let (one, two) = (log[1], log[3])
        (log[1].entry, log[3].entry) = (two.entry, one.entry)
        (log[1].hash, log[3].hash) = (two.hash, one.hash)
        (log[1].entry.position, log[3].entry.position) = (one.entry.position, two.entry.position)
        (log[1].entry.time, log[3].entry.time) = (one.entry.time, two.entry.time)
      case .dates: log[2].entry.time = log[2].entry.time - .milliseconds(1)
      case .replaces:
        log[2].entry.ask = log[1].entry.ask
        log[2].hash = log[1].hash
      }
    }
  }

  @Test("Within half a minute, told once, and the room of a run stands as it was read", arguments: Change.allCases)
  func running(_ change: Change) {
    let tale = DeskTale.running
    let before = tale.state
    tale.tampers { change.apply(to: &$0) }
    #expect(tale.warnings.isEmpty)
    tale.passes(to: 49)
    tale.reads()
    tale.takes()
    #expect(tale.warnings == [.altered] && tale.desk.isMended(DeskTale.room))
    #expect(tale.state.stage == before.stage && tale.state.members.map(\.id) == before.members.map(\.id))
    // What the log has now is what the next comparisons are of.
    tale.passes(to: 140)
    tale.takes()
    #expect(tale.warnings == [.altered] && tale.rows.count { $0 == .lost } == 1)
    tale.passes(to: 700)
    tale.takes()
    tale.hears(.ben, .record(.run(2900, seconds: 600)))
    #expect(RoomResult(tale.state)?.standing == .complete)
    #expect(tale.presses.map(\.press) == [.start(DeskTale.run, goal: .seconds(600)), .stop(DeskTale.run)])
    #expect(tale.desk.check() == nil)
  }

  @Test("A room that does not count down yet is void", arguments: Change.allCases)
  func recruiting(_ change: Change) {
    let tale = Self.recruiting
    tale.tampers { change.apply(to: &$0) }
    tale.passes(to: 41)
    #expect(tale.warnings == [.altered] && tale.desk.isVoid(DeskTale.room))
    #expect(tale.desk.activeRoom == nil)
  }

  @Test("A change of the stage has the log compared at once")
  func stages() {
    let tale = Self.recruiting
    let count = tale.proofs.count
    tale.asks(.ready(true))
    tale.takes()
    #expect(tale.proofs.count == count)
    tale.tampers { Change.dates.apply(to: &$0) }
    tale.asks(.begin)
    tale.takes()
    #expect(tale.proofs.count == count + 1 && tale.warnings == [.altered])
    let isCounting = if case .countdown = tale.state.stage { true } else { false }
    #expect(isCounting && tale.desk.isMended(DeskTale.room))
  }

  @Test("A change while the hub was dead is noticed by its next life")
  func nextLife() {
    let tale = DeskTale.running
    tale.dies()
    tale.tampers { Change.deletes.apply(to: &$0) }
    tale.reads()
    #expect(tale.warnings == [.altered] && tale.desk.isMended(DeskTale.room))
  }

  @Test(
    "A log that nobody changes is compared every 30 s in the run, every 10 min while records come, and then no more")
  func costs() {
    let tale = DeskTale.running
    tale.passes(to: 615)
    tale.takes()
    #expect((20...24).contains(tale.proofs.count) && tale.warnings.isEmpty, "\(tale.proofs.count)")
    let count = tale.proofs.count
    tale.hears(.ben, .tick)
    tale.passes(to: 2400)
    tale.takes()
    #expect((3...5).contains(tale.proofs.count - count), "\(tale.proofs.count - count)")
    tale.now = tale.now + .seconds(90_000)
    tale.hears(.ben, .tick)
    let end = tale.proofs.count
    tale.passes(to: Int64(tale.now.nanoseconds / 1_000_000_000) + 700)
    #expect(tale.state.stage.isEnd && tale.proofs.count == end)
  }

  @Test("Who is alone in a room does not wake up for it")
  func alone() {
    let tale = DeskTale()
    tale.asks(.open(RoomTerms(goal: .seconds(600))))
    tale.takes()
    tale.passes(to: 100)
    #expect(tale.proofs.isEmpty)
  }

  @Test("What was compared before a loss says nothing about what is read after it")
  func stale() throws {
    let tale = DeskTale.running
    let reading = try #require(tale.reading)
    tale.loses(after: 2)
    tale.answers(RoomReading(number: reading.number, from: 5, digest: .number(1)), found: .number(2))
    #expect(tale.rows.count { $0 == .lost } == 1)
  }

  // MARK: Times

  @Test("An entry that is stamped ten days ahead moves no time of a room, also in the next life")
  func ahead() {
    let tale = Self.recruiting
    let before = tale.state
    tale.hears(.ben, .tick, ahead: .seconds(864_000))
    #expect(tale.warnings == [.misdated])
    #expect(tale.state.stage == before.stage && tale.state.members == before.members)
    #expect(tale.state.time <= tale.logTime)
    tale.hears(.ben, .ready(true))
    tale.asks(.begin)
    tale.takes()
    let state = tale.state
    tale.dies()
    tale.reads()
    #expect(tale.desk.machine(of: DeskTale.room)?.state == state)
  }

  @Test("An entry of the hub's own that somebody dates ahead says nothing about the log's clock")
  func ownAhead() {
    let tale = DeskTale.counting
    tale.hears(.anna, .tick, number: 4, ahead: .seconds(7200))
    tale.passes(to: 14)
    #expect(tale.presses.isEmpty)
    tale.passes(to: 16)
    #expect(tale.presses.map(\.press) == [.start(DeskTale.run, goal: .seconds(600))])
    #expect(tale.presses.first.map { abs(($0.at - (BusTime.zero + .seconds(15))).nanoseconds) < 1_000_000 } == true)
  }

  @Test("A hub that has just begun asks a log whose times cannot be true ever less often what time it is")
  func vainTicks() {
    let tale = DeskTale.running
    tale.dies()
    tale.reads()
    var ticks = 0
    while tale.now < .zero + .seconds(80) {
      tale.passes(to: tale.now.nanoseconds / 1_000_000_000 + 1)
      ticks += Set(tale.sent.filter { $0.ask == .tick }.map(\.number)).count
      tale.takes(ahead: .seconds(864_000))
    }
    #expect((2...10).contains(ticks), "\(ticks)")
  }

  @Test("A log's clock that jumps by more than a minute skips no countdown, ends no room and stops no run")
  func jump() {
    let early = Self.recruiting
    early.jump = .seconds(7200)
    early.hears(.ben, .tick)
    #expect(early.warnings == [.misdated] && early.state.members.count == 2 && early.state.stage == .recruiting)

    let tale = DeskTale.counting
    tale.jump = .seconds(864_000)
    tale.hears(.ben, .tick)
    tale.passes(to: 14)
    #expect(tale.presses.isEmpty && tale.warnings == [.misdated])
    tale.passes(to: 600)
    tale.takes()
    #expect(tale.presses.count == 1)
    tale.passes(to: 700)
    tale.takes()
    #expect(tale.presses.map(\.press) == [.start(DeskTale.run, goal: .seconds(600)), .stop(DeskTale.run)])
    #expect(tale.state.member(.anna)?.record != nil && tale.warnings == [.misdated])
  }

  @Test("The life after a jump goes on by the clock of the life before")
  func jumpThenDeath() {
    let tale = Self.recruiting
    tale.jump = .seconds(7200)
    tale.hears(.ben, .tick)
    tale.dies()
    tale.reads()
    tale.passes(to: 12)
    tale.hears(.ben, .ready(true))
    tale.takes()
    #expect(tale.state.members.count == 2 && tale.state.member(.ben)?.isReady == true)
    #expect(tale.desk.clock.estimate(at: tale.now).map { $0.now < tale.logTime - .seconds(7000) } == true)
  }

  @Test("A jump of half a minute is followed by all alike")
  func smallJump() {
    let tale = Self.recruiting
    tale.jump = .seconds(30)
    tale.hears(.ben, .tick)
    #expect(tale.warnings.isEmpty && tale.desk.machine(of: DeskTale.room)?.state.time == tale.logTime)
  }

  @Test("An entry whose time is before that of the entry before it is noticed")
  func back() {
    let tale = Self.recruiting
    tale.hears(.ben, .tick, ahead: .seconds(-60))
    #expect(tale.warnings == [.misdated] && tale.state.members.count == 2)
  }

  /// Anna's room with Ben, she ready; four entries and the room's time in the eleventh second.
  private static var recruiting: DeskTale {
    let tale = DeskTale()
    tale.asks(.open(RoomTerms(goal: .seconds(600))))
    tale.takes()
    tale.hears(.ben, .enter(.card("Ben"), metres: nil, seek: nil))
    tale.asks(.ready(true))
    tale.takes()
    tale.hears(.ben, .ready(true))
    tale.now = tale.now + .milliseconds(500)
    return tale
  }
}

@Suite("Times of a log that cannot be true")
struct LogStampsTests {
  private func entries(_ seconds: [Int64]) -> [ReadEntry] {
    seconds.enumerated().map { place, second in
      ReadEntry(
        entry: RoomEntry(
          position: UInt64(place + 1), time: .zero + .seconds(second), author: .ben, number: UInt64(place + 1),
          ask: .tick), hash: Parts.digest, digest: Parts.digest)
    }
  }
  private func times(_ seconds: [Int64], by clock: Int64) -> [Int64] {
    LogStamps.believed(entries(seconds), by: .zero + .seconds(clock)).map { $0.folded.time.nanoseconds / 1_000_000_000 }
  }

  @Test("One that is ahead of the log's clock counts as that of the next entry, or as now; others stay")
  func believed() {
    #expect(times([10, 20, 30], by: 30) == [10, 20, 30])
    #expect(times([10, 20, 32], by: 30) == [10, 20, 32])
    #expect(times([10, 20, 33], by: 30) == [10, 20, 30])
    #expect(times([10, 900, 25, 30], by: 30) == [10, 25, 25, 30])
    #expect(times([900, 901, .max / 1_000_000_000], by: 30) == [30, 30, 30])
    // One that is far back lowers none before it.
    #expect(times([10, 20, -900, 30], by: 30) == [10, 20, -900, 30])
  }

  @Test("What an entry says itself stays for digests and comparisons")
  func kept() {
    let read = LogStamps.believed(entries([900]), by: .zero)[0]
    #expect(read.entry.time == .zero + .seconds(900) && read.taken == .zero && read.isSame(as: entries([900])[0]))
  }
}
