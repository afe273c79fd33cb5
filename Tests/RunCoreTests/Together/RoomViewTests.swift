import RunCore
import Testing

@Suite("The view of a room")
struct RoomViewTests {
  private static let room = Parts.room(1)
  private static let order = RoomView.Order(term: 1, number: 1)

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
      let report = RoomReport(
        room: RoomViewTests.room, me: Parts.member(member), state: machine.state, isProvisional: false, isLost: false,
        count: machine.entryCount, digest: nil, startsIn: nil, clockError: nil)
      let view = RoomView(report, order: RoomViewTests.order, standings: standings)
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
    #expect(stage.view(of: 1).gate == .notReady)
    #expect(stage.view(of: 1).members.map(\.isReady) == [false, true, false])
    stage.ask(1, .ready(true), at: 2)
    stage.ask(3, .ready(true), at: 2)
    #expect(stage.view(of: 1).gate == .open)
    stage.ask(1, .begin, at: 3)
    #expect(stage.view(of: 1).stage == .gathering)
    #expect(stage.view(of: 1).gate == .notHere)
    for member in 1...3 { stage.ask(member, .here(true), at: 4) }
    #expect(stage.view(of: 1).gate == .open)
    stage.ask(1, .proceed, at: 5)
    #expect(stage.view(of: 1).gate == nil)
    #expect(stage.view(of: 1).stage == .countdown)
    #expect(stage.view(of: 2).members.map(\.nickname) == ["runner1", "runner2", "runner3"])
    #expect(stage.view(of: 2).members.map(\.isOwner) == [true, false, false])
    #expect(stage.view(of: 2).own?.id == "\(Parts.member(2))")
    #expect(stage.view(of: 2).own?.isHere == true)
    #expect(stage.view(of: 9).own == nil)
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
    #expect(stage.view(of: 1, (table, BusTime.zero)).members.allSatisfy { $0.standing == nil })
    stage.machine.advance(to: Parts.at(8))
    let running = stage.view(of: 1, (table, BusTime.zero))
    #expect(running.ranked.map(\.nickname) == ["runner2", "runner1"])
    #expect(running.ranked.first?.standing?.meters == 3)
    #expect(running.own?.standing?.place == nil)
    #expect(running.settled == nil)
    stage.machine.advance(to: Parts.at(608))
    for (member, metres) in [(1, 1_900), (2, 1_800)] {
      let record = RoomRecord(
        version: 1, decimetres: metres * 10, elapsed: .seconds(600), isFinished: true, run: Parts.run(UInt64(member)))
      stage.ask(member, .record(record), at: 610)
    }
    let settled = stage.view(of: 2, (table, BusTime.zero))
    #expect(settled.settled == .complete)
    #expect(settled.own?.finish == RoomView.Finish(place: 2, meters: 1_800, isConfirmed: true, outcome: .lost))
    #expect(settled.ranked.map(\.nickname) == ["runner1", "runner2"])
  }

  @Test("In a matched room nobody is shown as owner")
  func matched() {
    var stage = Stage()
    let seek = Seek(goal: .seconds(600))
    let terms = RoomTerms(kind: .matched(seek, left: .seconds(120)), goal: .seconds(600), places: 2)
    stage.ask(1, .open(terms, Parts.card("runner1")), at: 0)
    #expect(stage.view(of: 1).gate == .tooFew)
    #expect(stage.view(of: 1).members.map(\.isOwner) == [false])
  }

  @Test("Newer views are larger: by term, then number")
  func order() {
    let orders = [(1, 1), (1, 2), (2, 0)].map { RoomView.Order(term: $0.0, number: $0.1) }
    #expect(orders.reversed().sorted() == orders)
  }
}
