import Testing

@testable import RunCore

/// What comes out of a run.
@Suite("The result of a room")
struct RoomResultTests {
  private static let day: Int64 = 24 * 3600

  @Test("There is none before the run, nor without one")
  func none() {
    for room in [RoomTale(), RoomTale(.plain), .gathering, .counting, .matched] {
      #expect(room.pair.machine.result == nil)
    }
    let cancelled = RoomTale.counting
    cancelled.at(1, .anna, .cancel)
    #expect(cancelled.pair.machine.result == nil)
  }

  @Test("It is provisional until all records are in, then complete, and final a day after the run")
  func standings() {
    let room = RoomTale.running
    #expect(room.standing == .provisional)
    #expect(room.lines == ["1 anna - open", "1 ben - open", "1 cleo - open"])
    room.at(20, .ben, .marks(40, after: 15))
    room.at(105, .cleo, .ran(300))
    room.at(106, .anna, .ran(310))
    #expect(room.standing == .provisional)
    #expect(room.lines == ["1 anna 310 open", "2 cleo 300 open", "3 ben 40? open"])
    room.at(107, .ben, .ran(320))
    #expect(room.standing == .complete)
    #expect(room.lines == ["1 ben 320 won", "2 anna 310 lost", "3 cleo 300 lost"])
    // A record may be amended.
    room.at(108, .cleo, .ran(330, version: 2))
    #expect(room.lines == ["1 cleo 330 won", "2 ben 320 lost", "3 anna 310 lost"])
    room.passes(105 + Self.day)
    #expect(room.standing == .final)
    #expect(room.lines == ["1 cleo 330 won", "2 ben 320 lost", "3 anna 310 lost"])
  }

  @Test("All records in a run that is still on are no complete result")
  func allInWhileRunning() {
    let room = RoomTale.running
    for member in [MemberID.anna, .ben, .cleo] { room.at(50, member, .ran(100)) }
    #expect(room.standing == .provisional)
    #expect(room.lines == ["1 anna 100 open", "1 ben 100 open", "1 cleo 100 open"])
    room.passes(105)
    #expect(room.standing == .complete)
    #expect(room.lines == ["1 anna 100 drawn", "1 ben 100 drawn", "1 cleo 100 drawn"])
  }

  @Test("Confirmed is before unconfirmed, and unknown comes last")
  func kinds() {
    let room = RoomTale.running
    room.at(50, .anna, .marks(900, after: 40))
    room.at(50, .ben, .ran(10))
    room.at(51, .cleo, .marks(950, after: 40))
    room.at(52, .cleo, .ran(nil))
    room.passes(105 + Self.day)
    #expect(room.standing == .final)
    #expect(room.lines == ["1 ben 10 won", "2 anna 900? lost", "3 cleo - lost"])
    #expect(room.pair.machine.result?.rows.map(\.isFinished) == [true, nil, true])
  }

  @Test("A mark may win, and is the one with the greatest time, not the greatest distance")
  func marks() {
    let room = RoomTale.running
    room.at(50, .anna, .marks(200, after: 30))
    room.at(51, .anna, .marks(150, after: 40))
    room.at(52, .ben, .marks(160, after: 40))
    room.passes(105 + Self.day)
    #expect(room.lines == ["1 ben 160? won", "2 anna 150? lost", "3 cleo - lost"])
  }

  @Test("Nobody has won when nobody has a distance")
  func nothing() {
    let room = RoomTale.running
    room.at(50, .anna, .ran(nil))
    room.passes(105 + Self.day)
    #expect(room.lines == ["1 anna - open", "1 ben - open", "1 cleo - open"])
    #expect(room.standing == .final)
  }

  @Test("Zero metres are a distance")
  func zero() {
    let room = RoomTale.running
    room.at(50, .cleo, .ran(0, seconds: 0))
    room.passes(105 + Self.day)
    #expect(room.lines == ["1 cleo 0 won", "2 anna - lost", "2 ben - lost"])
  }

  @Test("Who is equal shares a place")
  func ties() {
    let first = RoomTale.running
    first.at(106, .cleo, .ran(100))
    first.at(106, .anna, .ran(100))
    first.at(106, .ben, .ran(90))
    #expect(first.lines == ["1 anna 100 drawn", "1 cleo 100 drawn", "3 ben 90 lost"])
    let second = RoomTale.running
    second.at(106, .anna, .ran(80))
    second.at(106, .ben, .ran(90))
    second.at(106, .cleo, .ran(80))
    #expect(second.lines == ["1 ben 90 won", "2 anna 80 lost", "2 cleo 80 lost"])
    // The same distance of another kind is another place.
    let kinds = RoomTale.running
    kinds.at(100, .anna, .marks(90, after: 90))
    kinds.at(106, .ben, .ran(90))
    kinds.passes(105 + Self.day)
    #expect(kinds.lines == ["1 ben 90 won", "2 anna 90? lost", "3 cleo - lost"])
  }

  @Test("The order of records and marks does not matter")
  func anyOrder() {
    let told: [(MemberID, RoomAskKind)] = [
      (.anna, .ran(100)), (.anna, .ran(90, version: 2)), (.ben, .ran(90, version: 3)), (.ben, .ran(95, version: 1)),
      (.cleo, .marks(50, after: 60)), (.cleo, .marks(60, after: 50)), (.anna, .marks(99, after: 99)),
      (.cleo, .ran(89, version: 7, isFinished: false)),
    ]
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<50 {
      let room = RoomTale.running
      for (member, ask) in told.shuffled(using: &generator) { room.at(106, member, ask) }
      #expect(room.lines == ["1 anna 90 drawn", "1 ben 90 drawn", "3 cleo 89 lost"])
    }
  }
}
