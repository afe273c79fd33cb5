import RunCore
import Testing

@Suite("The standings of a room")
struct StandingsTableTests {
  private static let roster = [1, 2, 3].map(Parts.member)
  private static func at(_ milliseconds: Int64) -> BusTime { BusTime.zero + .milliseconds(milliseconds) }
  private static func standing(_ member: Int, _ number: UInt64, _ decimetres: Int?) -> LiveStanding {
    LiveStanding(member: Parts.member(member), number: number, elapsed: .seconds(60), decimetres: decimetres)
  }
  private static func text(_ rows: [StandingsTable.Row]) -> [String] {
    rows.map { row in
      let number = Self.roster.firstIndex(of: row.member)! + 1
      func text(_ value: Int?) -> String { value.map { "\($0)" } ?? "-" }
      return
        "\(number): \(text(row.place)) \(text(row.behindNext)) \(text(row.behindFirst))\(row.isStale ? " stale" : "")"
    }
  }

  @Test("Larger distances are first, equal ones share a place, and who has none is last")
  func order() {
    var table = StandingsTable(roster: Self.roster)
    #expect(Self.text(table.rows(at: Self.at(0))) == ["1: - - - stale", "2: - - - stale", "3: - - - stale"])
    #expect(table.take(Self.standing(2, 1, 900), at: Self.at(0)) == .taken)
    #expect(table.take(Self.standing(3, 1, 1000), at: Self.at(0)) == .taken)
    #expect(Self.text(table.rows(at: Self.at(10))) == ["3: 1 0 0", "2: 2 100 100", "1: - - - stale"])
    #expect(table.take(Self.standing(1, 1, 1000), at: Self.at(1000)) == .taken)
    #expect(Self.text(table.rows(at: Self.at(1000))) == ["1: 1 0 0", "3: 1 0 0", "2: 3 100 100"])
    #expect(table.take(Self.standing(1, 2, nil), at: Self.at(2000)) == .taken)
    #expect(Self.text(table.rows(at: Self.at(2000))) == ["3: 1 0 0", "2: 2 100 100", "1: - - -"])
  }

  @Test("Standings of different moments are compared at the same elapsed time")
  func sameTime() {
    var table = StandingsTable(roster: Self.roster)
    // The own standing is the newest; the second runner was faster up to its own.
    var own = Self.standing(1, 1, 1800)
    own.elapsed = .seconds(63)
    _ = table.take(own, at: Self.at(3000))
    _ = table.take(Self.standing(2, 1, 1740), at: Self.at(100))
    #expect(Self.text(table.rows(at: Self.at(3000))) == ["2: 1 0 0", "1: 2 27 27", "3: - - - stale"])
    // What is shown is what was told.
    #expect(table.rows(at: Self.at(3000))[0].standing?.decimetres == 1740)
    // Who pauses stays where it is.
    var paused = Self.standing(2, 2, 1740)
    paused.phase = .paused
    _ = table.take(paused, at: Self.at(3000))
    #expect(table.rows(at: Self.at(3000)).first?.member == Parts.member(1))
  }

  @Test("A standing is stale after nine seconds")
  func stale() {
    var table = StandingsTable(roster: Self.roster)
    #expect(table.deadline(after: Self.at(0)) == nil)
    _ = table.take(Self.standing(1, 1, 5), at: Self.at(500))
    #expect(table.deadline(after: Self.at(600)) == Self.at(9500))
    #expect(table.rows(at: Self.at(9499))[0].isStale == false)
    #expect(table.rows(at: Self.at(9500))[0].isStale)
    #expect(table.rows(at: Self.at(9500))[0].age == .seconds(9))
    #expect(table.rows(at: Self.at(0))[0].age == .zero)
    #expect(table.deadline(after: Self.at(9500)) == nil)
  }

  @Test("Old numbers, strangers, what cannot be and more than two a second are not taken")
  func refused() {
    var table = StandingsTable(roster: Self.roster)
    #expect(table.take(Self.standing(4, 1, 5), at: Self.at(0)) == .stranger)
    #expect(table.take(Self.standing(1, 1, -1), at: Self.at(0)) == .wrong)
    #expect(table.take(Self.standing(1, 5, 5), at: Self.at(0)) == .taken)
    #expect(table.take(Self.standing(1, 5, 6), at: Self.at(1)) == .old)
    #expect(table.take(Self.standing(1, 4, 6), at: Self.at(1)) == .old)
    #expect(table.take(Self.standing(1, 6, 6), at: Self.at(2)) == .taken)
    #expect(table.take(Self.standing(1, 7, 7), at: Self.at(999)) == .tooMany)
    #expect(table.take(Self.standing(2, 1, 7), at: Self.at(999)) == .taken)
    #expect(table.take(Self.standing(1, 8, 8), at: Self.at(1000)) == .taken)
    #expect(table.take(Self.standing(1, .max, 6_000), at: Self.at(1001)) == .tooMany)
    #expect(table.check() == nil)
  }

  @Test("A standing that nobody can have run is not taken: at most 10 m/s over the shorter of its time and the goal")
  func implausible() {
    var table = StandingsTable(roster: Self.roster, goal: .seconds(50))
    #expect(table.take(Self.standing(1, 1, 5_001), at: Self.at(0)) == .wrong)
    #expect(table.take(Self.standing(1, 1, .max), at: Self.at(0)) == .wrong)
    #expect(Self.text(table.rows(at: Self.at(0))).first == "1: - - - stale")
    #expect(table.take(Self.standing(1, 1, 5_000), at: Self.at(0)) == .taken)
    var early = Self.standing(2, 1, 71)
    early.elapsed = .milliseconds(700)
    #expect(table.take(early, at: Self.at(0)) == .wrong)
    early.decimetres = 70
    #expect(table.take(early, at: Self.at(0)) == .taken)
  }

  @Test("Under a flood each member has at most two a second, and the newest one counts", arguments: 1...20)
  func flood(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = StandingsTable(roster: (0..<40).map(Parts.member))
    var (now, newest) = (Int64(0), [Int: LiveStanding]())
    var taken: [Int: [Int64]] = [:]
    for _ in 0..<3_000 {
      now += Int64.random(in: 0...30, using: &random)
      let who = Int.random(in: 0..<45, using: &random)
      var standing = Self.standing(
        who, UInt64.random(in: 0...200, using: &random), Int.random(in: 0...999, using: &random))
      if Int.random(in: 0..<5, using: &random) == 0 {
        standing.decimetres = [nil, .max, .min, -1].randomElement(using: &random)!
      }
      guard table.take(standing, at: Self.at(now)) == .taken else { continue }
      newest[who] = standing
      taken[who, default: []].append(now)
    }
    #expect(table.check() == nil)
    let rows = table.rows(at: Self.at(now))
    #expect(rows.count == 32)
    for row in rows {
      let who = (0..<40).first { Parts.member($0) == row.member }!
      #expect(row.standing == newest[who])
    }
    let distances = rows.map { $0.standing?.decimetres ?? -1 }
    #expect(distances == distances.sorted(by: >))
    for moments in taken.values {
      #expect(zip(moments, moments.dropFirst(2)).allSatisfy { $1 - $0 >= 1_000 })
    }
  }
}
