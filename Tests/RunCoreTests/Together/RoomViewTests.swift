import RunCore
import Testing

@Suite("The view of a room")
struct RoomViewTests {
  private static let room = Parts.room(1)
  private static let order = RoomView.Order(term: 1, room: 1, position: 1, tick: 0)

  /// A room of three that a test drives, one ask a line.
  private struct Stage {
    var machine = RoomMachine()
    mutating func ask(_ member: Int, _ ask: RoomAskKind, at second: Int64) {
      let id = Parts.member(member)
      let entry = RoomEntry(
        position: machine.entryCount + 1, time: Parts.at(second), author: id, number: machine.nextNumber(of: id),
        ask: ask, ownsRoom: true)
      _ = machine.apply(entry, digest: Parts.digest)
    }
    mutating func enter(_ member: Int, at second: Int64) {
      ask(member, .enter(Parts.card("runner\(member)"), metres: 10, seek: nil), at: second)
    }
    func view(of member: Int, _ standings: (table: StandingsTable, now: BusTime)? = nil) -> RoomView {
      let view = RoomView(
        machine.state, of: RoomViewTests.room, order: RoomViewTests.order, standings: standings,
        own: Parts.member(member), isProvisional: false, isStale: false)
      #expect(view.check() == nil)
      return view
    }
  }

  @Test("The gate says who blocks it and why, at each stage")
  func gate() {
    var stage = Stage()
    #expect(stage.view(of: 1).gate == nil)
    let start = RoomStart(label: "park", latitude: 37_500, longitude: 127_000)
    stage.ask(1, .open(RoomTerms(goal: .seconds(600), start: start), Parts.card("runner1")), at: 0)
    #expect(stage.view(of: 1).gate == .tooFew)
    stage.enter(2, at: 1)
    stage.enter(3, at: 1)
    stage.ask(2, .ready(true), at: 2)
    #expect(stage.view(of: 1).gate == .notReady([1, 3].map(Parts.member)))
    stage.ask(1, .ready(true), at: 2)
    stage.ask(3, .ready(true), at: 2)
    #expect(stage.view(of: 1).gate == .open)
    stage.ask(1, .begin, at: 3)
    #expect(stage.view(of: 1).stage == .gathering)
    #expect(stage.view(of: 1).gate == .notHere([1, 2, 3].map(Parts.member)))
    for member in 1...3 { stage.ask(member, .here(true), at: 4) }
    #expect(stage.view(of: 1).gate == .open)
    #expect(stage.view(of: 1).startsAt == nil)
    stage.ask(1, .proceed, at: 5)
    #expect(stage.view(of: 1).gate == nil)
    #expect(stage.view(of: 1).startsAt == Parts.at(10))
    #expect(stage.view(of: 2).roster.map(\.nickname.text) == ["runner1", "runner2", "runner3"])
    #expect(stage.view(of: 2).roster.map(\.isOwner) == [true, false, false])
    #expect(stage.view(of: 2).ownMember?.id == Parts.member(2))
    #expect(stage.view(of: 2).ownMember?.isHere == true)
    #expect(stage.view(of: 9).ownMember == nil)
  }

  @Test("Standings are seen from the start on, the result from the end on")
  func run() {
    var stage = Stage()
    stage.ask(1, .open(RoomTerms(goal: .seconds(600)), Parts.card("runner1")), at: 0)
    stage.enter(2, at: 1)
    for member in 1...2 { stage.ask(member, .ready(true), at: 2) }
    stage.ask(1, .begin, at: 3)
    var table = StandingsTable(roster: [1, 2].map(Parts.member))
    _ = table.take(
      LiveStanding(member: Parts.member(2), number: 1, elapsed: .seconds(1), decimetres: 30), at: BusTime.zero)
    #expect(stage.view(of: 1, (table, BusTime.zero)).standings == [])
    stage.machine.advance(to: Parts.at(8))
    let running = stage.view(of: 1, (table, BusTime.zero))
    #expect(running.standings.map(\.member) == [2, 1].map(Parts.member))
    #expect(running.ownStanding?.place == nil)
    #expect(running.result == nil)
    stage.machine.advance(to: Parts.at(608))
    for (member, metres) in [(1, 1_900), (2, 1_800)] {
      let record = RoomRecord(
        version: 1, decimetres: metres * 10, elapsed: .seconds(600), isFinished: true, run: Parts.run(UInt64(member)))
      stage.ask(member, .record(record), at: 610)
    }
    let settled = stage.view(of: 2, (table, BusTime.zero))
    #expect(settled.result?.standing == .complete)
    #expect(settled.ownResult?.place == 2)
    #expect(settled.startsAt == Parts.at(8))
  }

  @Test("In a matched room nobody is shown as owner")
  func matched() {
    var stage = Stage()
    let seek = Seek(goal: .seconds(600))
    let terms = RoomTerms(kind: .matched(seek, left: .seconds(120)), goal: .seconds(600), places: 2)
    stage.ask(1, .open(terms, Parts.card("runner1")), at: 0)
    #expect(stage.view(of: 1).gate == .tooFew)
    #expect(stage.view(of: 1).roster.map(\.isOwner) == [false])
  }

  @Test("Newer views are larger: by term, then room, then position, then tick")
  func order() {
    let orders: [RoomView.Order] = [(1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 2, 0), (1, 2, 0, 0), (2, 0, 0, 0)].map {
      RoomView.Order(term: $0.0, room: $0.1, position: $0.2, tick: $0.3)
    }
    #expect(orders.reversed().sorted() == orders)
  }
}
