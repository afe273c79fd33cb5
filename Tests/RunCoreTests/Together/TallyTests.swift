import RunCore
import Testing

@Suite("The tally of rooms")
struct TallyTests {
  private static func row(_ member: Int, _ outcome: RoomResult.Outcome?, _ decimetres: Int?) -> RoomResult.Row {
    RoomResult.Row(
      member: Parts.member(member), decimetres: decimetres, isConfirmed: true, isFinished: true,
      place: outcome == .lost ? 2 : 1, outcome: outcome)
  }
  private static func result(
    _ room: UInt64, _ version: UInt64, month: Int = 11, _ standing: RoomResult.Standing = .complete,
    _ rows: RoomResult.Row...
  ) -> TalliedResult {
    TalliedResult(
      room: Parts.room(room), version: version, month: Parts.month(month),
      result: RoomResult(standing: standing, rows: rows))
  }

  @Test("A room counts once, by its newest version, and not before all records are in")
  func once() {
    var tally = Tally()
    #expect(tally.count(Self.result(1, 9, .provisional, Self.row(1, nil, 5), Self.row(2, nil, 6))) == false)
    #expect(tally.members == [])
    let first = Self.result(1, 9, .complete, Self.row(1, .won, 500), Self.row(2, .lost, 400))
    #expect(tally.count(first) == true)
    #expect(tally.count(first) == false)
    #expect(tally.score(of: Parts.member(1)).won == 1)
    #expect(tally.score(of: Parts.member(2)).lost == 1)
    // An amended record turns it round.
    let amended = Self.result(1, 10, .final, Self.row(1, .lost, 500), Self.row(2, .won, 600))
    #expect(tally.count(amended) == true)
    #expect(tally.count(first) == false)
    #expect(tally.score(of: Parts.member(1)).won == 0)
    #expect(tally.score(of: Parts.member(1)).lost == 1)
    #expect(tally.score(of: Parts.member(2)).decimetres == [Parts.month(11): 600])
    #expect(tally.count(Self.result(2, 1, month: 12, .final, Self.row(1, .drawn, 7), Self.row(3, .drawn, 7))) == true)
    #expect(tally.score(of: Parts.member(1)).drawn == 1)
    #expect(tally.score(of: Parts.member(1)).decimetres == [Parts.month(11): 500, Parts.month(12): 7])
    #expect(tally.check() == nil)
  }

  @Test("The tally of a list is that of its fold in any order, with any repetitions", arguments: 1...30)
  func recount(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let standings: [RoomResult.Standing] = [.provisional, .complete, .final]
    let list = (0..<60).map { _ in
      let rows = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        Self.row(
          Int.random(in: 1...5, using: &random), [nil, .won, .lost, .drawn].randomElement(using: &random)!,
          [nil, 0, 100, 5_000, .max, .min].randomElement(using: &random)!)
      }
      return TalliedResult(
        room: Parts.room(UInt64.random(in: 1...8, using: &random)), version: UInt64.random(in: 1...4, using: &random),
        month: Parts.month(Int.random(in: 1...12, using: &random)),
        result: RoomResult(standing: standings.randomElement(using: &random)!, rows: rows))
    }
    let whole = Tally(list)
    var folded = Tally()
    for result in list.shuffled(using: &random) + list.shuffled(using: &random).prefix(20) {
      folded.count(result)
    }
    #expect(folded.check() == nil)
    #expect(folded == whole)
    #expect(Tally(whole.counted.reversed()) == whole)
    let results = whole.counted
    #expect(Set(results.map(\.room)).count == results.count)
    for member in whole.members {
      let rows = results.flatMap(\.result.rows).filter { $0.member == member }
      #expect(whole.score(of: member).won == rows.count { $0.outcome == .won })
      #expect(whole.score(of: member).lost == rows.count { $0.outcome == .lost })
      #expect(whole.score(of: member).drawn == rows.count { $0.outcome == .drawn })
    }
  }

  @Test("Equal ones share a rank and are listed by nickname, then by key; who has nothing is not listed")
  func ranking() {
    let tally = Tally([
      Self.result(1, 1, .final, Self.row(1, .won, 300), Self.row(2, .lost, 200)),
      Self.result(2, 1, .final, Self.row(3, .won, 300), Self.row(4, .lost, 100)),
      Self.result(3, 1, month: 10, .final, Self.row(2, .won, 900), Self.row(4, .lost, 100)),
      Self.result(4, 1, month: 10, .final, Self.row(2, .won, 900), Self.row(5, .lost, nil)),
    ])
    let names = ["", "dora", "ben", "cleo", "anna", "anna"]
    let runners = tally.members.reversed().map { member in
      let number = (1...5).first { Parts.member($0) == member }!
      return Ranking.Runner(member: member, nickname: Nickname(names[number])!, score: tally.score(of: member))
    }
    func list(_ kind: Ranking.Kind) -> [String] {
      Ranking.list(kind, of: runners, month: Parts.month(11)).map { row in
        let number = (1...5).first { Parts.member($0) == row.runner.member }!
        return "\(row.rank) \(row.runner.nickname) \(number) \(row.value)"
      }
    }
    #expect(list(.month) == ["1 cleo 3 300", "1 dora 1 300", "3 ben 2 200", "4 anna 4 100"])
    #expect(list(.wins) == ["1 ben 2 2", "2 cleo 3 1", "2 dora 1 1"])
    #expect(list(.losses) == ["1 anna 4 2", "2 anna 5 1", "2 ben 2 1"])
  }

  @Test("There are twelve months")
  func months() {
    #expect(CalendarMonth(year: 2026, month: 0) == nil)
    #expect(CalendarMonth(year: 2026, month: 13) == nil)
    #expect(Parts.month(12, 2025) < Parts.month(1, 2026))
  }
}
