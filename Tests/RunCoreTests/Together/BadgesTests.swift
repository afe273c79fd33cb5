import RunCore
import Testing

@Suite("Badges")
struct BadgesTests {
  /// A run on a day of November, from which each test counts.
  private static func ran(_ run: UInt64, day: Int, metres: Double, month: Int = 11) -> BadgeDeed {
    BadgeDeed(
      run: Parts.run(run), moment: Int64(day) * 1_000 + Int64(run), day: day, month: Parts.month(month),
      kind: .run(metres: metres))
  }
  private static func result(_ run: UInt64, day: Int, _ outcome: RoomResult.Outcome) -> BadgeDeed {
    BadgeDeed(
      run: Parts.run(run), moment: Int64(day) * 1_000 + Int64(run), day: day, month: Parts.month(11),
      kind: .result(outcome))
  }
  private static func given(_ deeds: [BadgeDeed]) -> [String] {
    var badges = Badges()
    return badges.look(at: deeds).map { "\($0.badge) \($0.run.high)" }
  }

  @Test("A run brings the badges of all distances that it reaches")
  func distances() {
    #expect(Self.given([Self.ran(1, day: 1, metres: 4_999.9)]) == ["firstRun 1"])
    #expect(Self.given([Self.ran(1, day: 1, metres: 5_000)]) == ["firstRun 1", "fiveKilometres 1"])
    let runs = [
      Self.ran(1, day: 1, metres: 21_097), Self.ran(2, day: 9, metres: 21_097.5), Self.ran(3, day: 20, metres: 42_195),
    ]
    #expect(
      Self.given(runs) == ["firstRun 1", "fiveKilometres 1", "tenKilometres 1", "halfMarathon 2", "marathon 3"])
  }

  @Test("A hundred kilometres count within one calendar month")
  func month() {
    let runs = (1...12).map { Self.ran(UInt64($0), day: 2 * $0, metres: 9_000, month: $0 <= 11 ? 10 : 11) }
    #expect(!Self.given(runs).contains { $0.hasPrefix("hundred") })
    let more = runs + [Self.ran(13, day: 3, metres: 1_000, month: 10)]
    #expect(Self.given(more).contains("hundredInMonth 11"))
    #expect(
      !Self.given([Self.ran(1, day: 1, metres: .nan), Self.ran(2, day: 3, metres: .nan)]).contains {
        $0.hasPrefix("hu")
      })
  }

  @Test("Three wins in a row have no loss and no draw between them")
  func wins() {
    let won = [1, 2, 4].map { Self.result($0, day: Int($0), .won) }
    #expect(Self.given(won) == ["firstWin 1", "threeWinsInRow 4"])
    #expect(Self.given(won + [Self.result(3, day: 3, .lost)]) == ["firstWin 1"])
    #expect(Self.given(won + [Self.result(3, day: 3, .drawn)]) == ["firstWin 1"])
    #expect(Self.given(won + won) == ["firstWin 1", "threeWinsInRow 4"], "a repetition counts once")
    #expect(Self.given([won[0], won[1], won[0], won[1]]) == ["firstWin 1"])
  }

  @Test("Seven days in a row may have several runs a day and no day without one")
  func days() {
    let week = (1...7).map { Self.ran(UInt64($0), day: $0, metres: 1) }
    #expect(Self.given(week).contains("sevenDaysInRow 7"))
    #expect(Self.given(week + [Self.ran(9, day: 3, metres: 1)]).contains("sevenDaysInRow 7"))
    #expect(Self.given(Array(week.dropFirst())) == ["firstRun 2"])
    #expect(Self.given(week.filter { $0.day != 4 } + [Self.ran(8, day: 8, metres: 1)]) == ["firstRun 1"])
  }

  @Test("A badge is given once, and kept as it was given when the run is removed or an earlier one comes late")
  func kept() {
    var badges = Badges()
    let run = Self.ran(5, day: 5, metres: 6_000)
    #expect(badges.look(at: [run]).map(\.badge) == [.firstRun, .fiveKilometres])
    let before = badges.given
    #expect(badges.look(at: [run]) == [])
    #expect(badges.look(at: []) == [])
    #expect(badges.look(at: [run, Self.ran(1, day: 1, metres: 12_000)]).map(\.badge) == [.tenKilometres])
    #expect(Array(badges.given.prefix(2)) == before)
    #expect(badges.given[2].run == Parts.run(1), "given late, with its own run and moment")
    #expect(Badges(given: badges.given) == badges)
  }

  @Test("Any order of the same deeds gives the same badges, and more deeds take none away", arguments: 1...60)
  func orders(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let deeds = (1...60).map { number -> BadgeDeed in
      let day = Int.random(in: 1...40, using: &random)
      if Bool.random(using: &random) {
        return Self.result(UInt64(number), day: day, [.won, .won, .lost, .drawn].randomElement(using: &random)!)
      }
      return Self.ran(
        UInt64(number), day: day, metres: Double.random(in: 0...30_000, using: &random), month: day <= 30 ? 11 : 12)
    }
    var (one, other) = (Badges(), Badges())
    one.look(at: deeds)
    other.look(at: deeds.shuffled(using: &random) + deeds.prefix(5))
    #expect(one == other)

    var growing = Badges()
    var last: [Badges.Given] = []
    for end in 0...deeds.count {
      growing.look(
        at: deeds.prefix(end).shuffled(using: &random).filter { _ in Int.random(in: 0..<9, using: &random) > 0 })
      #expect(last.allSatisfy(growing.given.contains))
      last = growing.given
    }
    growing.look(at: deeds)
    // A row of wins that was there before a late loss stays given; otherwise both have the same kinds.
    let missing = Set(one.given.map(\.badge)).subtracting(growing.given.map(\.badge))
    #expect(missing.isEmpty)
  }
}
