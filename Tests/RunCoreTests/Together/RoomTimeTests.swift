import Testing

@testable import RunCore

/// Each line of what time does: just before its moment, at it and after it.
@Suite("A room, moment by moment")
struct RoomTimeTests {
  private static let day: Int64 = 24 * 3600

  @Test("A member who is silent for ten minutes is gone")
  func silence() {
    for room in [RoomTale(.plain, others: [.ben, .cleo]), .gathering] {
      let stage = room.stage
      room.at(100, .anna, .stay)
      room.at(200, .cleo, .tick)
      room.turns(at: 600, to: stage, roster: [.anna, .cleo])
      // Who is alone is not gone.
      room.turns(at: 700, to: .recruiting, roster: [.cleo])
      room.turns(at: 700 + Self.day, to: .cancelled(.nobodyCame))
    }
  }

  @Test("Every judged entry is a sign of life, and no other is")
  func signs() {
    let room = RoomTale(.plain, others: [.ben, .cleo])
    room.at(100, .anna, .stay)
    #expect(room.at(100, .ben, .begin) == .rejected(.notOwner))
    #expect(room.hears(100, .cleo, .stay, number: 1) == .known(.entered))
    #expect(room.hears(100, .cleo, .stay, number: 7) == .gap)
    #expect(room.hears(100, .cleo, .stay, number: 601) == .leftOut)
    room.turns(at: 600, to: .recruiting, roster: [.anna, .ben])
  }

  @Test("Ten minutes of silence count from when there were two")
  func silenceOfPair() {
    let room = RoomTale(.plain)
    room.at(5000, .ben, .comes("Ben"))
    // Nobody has gone from one to two with the third.
    room.at(5300, .cleo, .comes("Cleo"))
    room.at(5301, .ben, .stay)
    room.turns(at: 5600, to: .recruiting, roster: [.ben, .cleo])
  }

  @Test("Of several at one moment the longest there goes first, and the last one stays")
  func silentTogether() {
    let room = RoomTale(.plain, others: [.ben, .cleo])
    room.turns(at: 600, to: .recruiting, roster: [.cleo])
    #expect(room.state.owner == .cleo)
  }

  @Test("Who was silent for ten minutes when a countdown leads back is gone at once")
  func overdueSilence() {
    let room = RoomTale(.plain, others: [.ben, .cleo], ready: [.ben, .cleo])
    room.at(597, .anna, .ready(true))
    room.at(597, .anna, .begin)
    room.passes(600)
    #expect(room.roster == [.anna, .ben, .cleo])
    #expect(room.at(601, plus: -1, .anna, .hold) == .held)
    #expect(room.roster == [.anna])
    #expect(room.stage == .recruiting)
    let end = LogTime(nanoseconds: LogTime.seconds(601 + Self.day).nanoseconds - 1)
    #expect(room.pair.machine.deadline == end)
  }

  @Test("Of two who are matched, who is not ready half a minute later is gone")
  func notReadyInTime() {
    let one = RoomTale(.search)
    one.at(10, .ben, .comes("Ben"))
    one.at(20, .ben, .ready(true))
    one.turns(at: 40, to: .recruiting, roster: [.ben])
    // Ben seeks on in the time that the room was opened with.
    one.turns(at: 120, to: .cancelled(.nobodyFound))

    let both = RoomTale(.search)
    both.at(10, .ben, .comes("Ben"))
    both.turns(at: 40, to: .cancelled(.left), roster: [])
    #expect(both.state.owner == nil)
  }

  @Test("A hold gives two who are matched another half a minute")
  func notReadyAfterHold() {
    let room = RoomTale.matched
    room.at(3, .ben, .hold)
    room.at(4, .anna, .ready(true))
    room.turns(at: 33, to: .recruiting, roster: [.anna])
    room.at(34, .cleo, .comes("Cleo"))
    room.turns(at: 64, to: .cancelled(.left), roster: [])
  }

  @Test("The time of a search that is over when the other one goes ends the room at once")
  func overdueSearch() {
    let room = RoomTale(.search)
    room.at(119, .ben, .comes("Ben"))
    room.at(140, .anna, .leave)
    #expect(room.stage == .cancelled(.nobodyFound))

    let silent = RoomTale(.search)
    silent.at(119, .ben, .comes("Ben"))
    silent.at(119, .anna, .ready(true))
    // Ben is gone, and then nobody was found.
    silent.turns(at: 149, to: .cancelled(.nobodyFound), roster: [.anna])
  }

  @Test("Nobody came in a day, or was found in the time of the search")
  func nobody() {
    RoomTale(.plain).turns(at: Self.day, to: .cancelled(.nobodyCame))
    RoomTale(.search).turns(at: 120, to: .cancelled(.nobodyFound))
    let room = RoomTale(.plain, others: [.ben])
    room.at(500, .anna, .leave)
    room.at(501, .ben, .stay)
    room.turns(at: 500 + Self.day, to: .cancelled(.nobodyCame))
  }

  @Test("A run starts, ends at its goal, and is over a day later")
  func run() {
    let (start, end) = (LogTime.seconds(5), LogTime.seconds(105))
    let room = RoomTale.counting
    room.turns(at: 5, to: .running(startsAt: start))
    room.turns(at: 105, to: .settling(startsAt: start, endedAt: end))
    room.turns(at: 105 + Self.day, to: .over(startsAt: start))
    #expect(room.pair.machine.deadline == nil)
  }

  @Test("A run at ten times the speed ends after a tenth of its goal; all else is real time")
  func fastRun() {
    let terms = RoomTerms(goal: .seconds(100), speed: BusSpeed(factor: 10)!)
    let room = RoomTale(terms, others: [.ben], ready: [.anna, .ben])
    room.at(0, .anna, .begin)
    room.turns(at: 5, to: .running(startsAt: .seconds(5)))
    room.turns(at: 15, to: .settling(startsAt: .seconds(5), endedAt: .seconds(15)))
    #expect(room.at(16, .anna, .ran(10_000)) == .noted)
    #expect(room.at(16, .ben, .ran(10_001)) == .rejected(.implausible))
    room.turns(at: 15 + Self.day, to: .over(startsAt: .seconds(5)))
  }

  @Test("Nobody is gone by silence once the countdown is on")
  func silentRun() {
    let room = RoomTale(RoomTerms(goal: .seconds(7200), places: 2), others: [.ben], ready: [.anna, .ben])
    room.at(0, .anna, .begin)
    room.passes(5000)
    #expect(room.roster == [.anna, .ben])
  }

  @Test("A run that all have ended is settled at once, and over a day after that")
  func endedEarly() {
    let room = RoomTale.running
    room.at(10, .anna, .ran(100, isFinished: false))
    room.at(11, .ben, .ran(100))
    room.at(12, .cleo, .ran(100, isFinished: false))
    #expect(room.stage == .running(startsAt: .seconds(5)))
    room.at(13, .ben, .ran(100, version: 2, isFinished: false))
    #expect(room.stage == .settling(startsAt: .seconds(5), endedAt: .seconds(13)))
    room.turns(at: 13 + Self.day, to: .over(startsAt: .seconds(5)))
  }

  @Test("One entry far ahead lets everything happen before it, each at its own moment")
  func farAhead() {
    let room = RoomTale.counting
    #expect(room.at(100 * Self.day, .anna, .leave) == .rejected(.over))
    #expect(room.stage == .over(startsAt: .seconds(5)))
    let gone = RoomTale(.plain, others: [.ben, .cleo])
    gone.at(1, .ben, .stay)
    #expect(gone.hears(100 * Self.day, .ben, .stay, number: 9) == .gap)
    #expect(gone.stage == .cancelled(.nobodyCame))
    // Anna and Cleo went at 600, Ben has been alone since then.
    #expect(gone.roster == [.ben])
  }

  @Test("The clock never goes back")
  func back() {
    let room = RoomTale(.plain, others: [.ben], ready: [.anna, .ben])
    room.at(300, .ben, .stay)
    #expect(room.at(100, .anna, .begin) == .begun)
    #expect(room.stage == .countdown(startsAt: .seconds(305)))
    room.passes(200)
    #expect(room.state.time == .seconds(300))
    #expect(room.at(-7, .anna, .cancel) == .cancelled)
  }

  @Test("At the end of all time nothing fails")
  func endOfTime() {
    let room = RoomTale.running
    room.pair.hearLast(.anna)
    #expect(room.stage == .over(startsAt: .seconds(5)))
    let late = RoomTale()
    late.pair.hearLast(.anna)
    #expect(late.pair.complaint == nil)
  }
}

extension RoomPair {
  /// An entry at the last moment that there is.
  fileprivate mutating func hearLast(_ author: MemberID) {
    hear(entry(author, .open(.plain, .card("Anna")), at: .distantFuture))
  }
}
