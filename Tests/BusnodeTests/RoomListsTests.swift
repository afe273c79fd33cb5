import Foundation
import RunBus
import TestSupport
import Testing

@testable import busnode

@Suite("Rooms, rankings and badges: JSON and text")
struct RoomListsTests {
  private static let room = RoomID(high: 1, low: 1)
  private static let (anna, ben) = (member(1), member(2))
  private static func member(_ number: UInt8) -> MemberID { MemberID([UInt8](repeating: number, count: 32))! }

  /// Compares with a golden file. It is written by hand, and changing it breaks a promise.
  private func expect(_ name: String, _ values: [any Encodable], line: SourceLocation = #_sourceLocation) throws {
    let file = Checkout.root.appending(path: "Tests/BusnodeTests/Golden/\(name).json")
    let lines = values.map { Output.json($0) }.joined(separator: "\n")
    #expect(lines + "\n" == (try String(contentsOf: file, encoding: .utf8)), sourceLocation: line)
  }

  /// A room of two whose run is over.
  private static func report(_ decimetres: [Int?], me: MemberID = anna) -> RoomReport {
    let roster = zip([(anna, "Anna"), (ben, "Ben")], decimetres).map { runner, decimetres in
      RoomState.Member(
        id: runner.0, card: RoomCard(nickname: Nickname(runner.1)!), isReady: true,
        record: decimetres.map {
          RoomRecord(
            version: 1, decimetres: $0, elapsed: .seconds(120), isFinished: true, run: RunID(high: 1, low: 1))
        })
    }
    let startsAt = LogTime.zero + .seconds(10)
    let state = RoomState(
      stage: .settling(startsAt: startsAt, endedAt: startsAt + .seconds(120)),
      terms: RoomTerms(goal: .seconds(120)), owner: anna, members: roster)
    return RoomReport(
      room: room, me: me, state: state, isProvisional: false, isLost: false, count: 9,
      digest: LogHash([UInt8](repeating: 1, count: 32)), startsIn: nil, clockError: nil)
  }

  @Test("What is not known of a room is null, and its key is there")
  func rooms() throws {
    let nothing = RoomReport(
      room: Self.room, me: Self.anna, state: RoomState(stage: .cancelled(.nobodyCame)), isProvisional: true,
      isLost: false, count: 0, digest: nil, startsIn: nil, clockError: nil)
    try expect("room", [RoomJSON(Self.report([4001, nil])), RoomJSON(nothing)])
    let read = try JSONDecoder().decode(RoomJSON.self, from: Data(Output.json(RoomJSON(nothing)).utf8))
    #expect(read == RoomJSON(nothing))
    try expect(
      "room-asks",
      [
        RoomAskJSON(ask: "ready", room: Self.room.description, outcome: "done", message: "noted (room 00000000)"),
        RoomAskJSON(ask: "begin", room: nil, outcome: "rejected", message: "a run is on: stop it first"),
      ])
  }

  private static func report(
    _ stage: RoomStage, _ members: [RoomState.Member], terms: RoomTerms = RoomTerms(goal: .seconds(300)),
    startsIn: BusDuration? = nil
  ) -> RoomReport {
    RoomReport(
      room: room, me: anna, state: RoomState(stage: stage, terms: terms, owner: anna, members: members),
      isProvisional: false, isLost: false, count: 9, digest: nil, startsIn: startsIn, clockError: nil)
  }
  private static let both = [(anna, "Anna"), (ben, "Ben")].map {
    RoomState.Member(id: $0.0, card: RoomCard(nickname: Nickname($0.1)!))
  }

  @Test("A room says what holds its runner, and whose records its result waits for")
  func whatIsMissing() {
    let startsAt = LogTime.zero + .seconds(10)
    let running = Self.report(.running(startsAt: startsAt), Self.both, startsIn: .seconds(-100))
    let held = "you       in it until its run is over, in 3:20, also when your own is: then another takes you"
    #expect(RoomText.lines(running).contains(held))
    #expect(RoomText.lasting(running) == RoomText.lines(running).filter { $0 != held && !$0.hasPrefix("stage") })
    let waiting = Self.report([4001, nil])
    let missing = "missing   the record of Ben: it comes from its phone, a minute of the run after its end"
    #expect(RoomText.lines(waiting).last == missing)
    let result = RoomResult(waiting.state)!
    #expect(RoomText.outcome(waiting, result, me: Self.anna).dropLast().last == missing)
    let both = RoomText.lines(Self.report([nil, nil]))
    #expect(both.last?.hasPrefix("missing   the records of Anna, Ben: they come from their phones") == true)
    #expect(!RoomText.lines(Self.report([4001, 3902])).contains { $0.hasPrefix("missing") })
  }

  @Test("A phone that ends says what it leaves undone in a room")
  func unfinished() {
    let startsAt = LogTime.zero + .seconds(10)
    let running = RoomText.unfinished(Self.report(.running(startsAt: startsAt), Self.both))
    #expect(running?.hasPrefix("the run of room 00000000 is not over: start the phone again") == true)
    let settling = RoomText.unfinished(Self.report([nil, 3902]))
    #expect(settling?.contains("its result stays provisional: start the phone again within a day") == true)
    #expect(RoomText.unfinished(Self.report([4001, nil])) == nil)
    #expect(RoomText.unfinished(Self.report(.recruiting, Self.both)) == nil)
    #expect(RoomText.unfinished(Self.report(.running(startsAt: startsAt), [Self.both[1]])) == nil)
  }

  @Test("A search for another runner is listed and shown as one")
  func searches() {
    let terms = RoomTerms(kind: .matched(Seek(goal: .seconds(300)), left: .seconds(60)), goal: .seconds(300), places: 2)
    let search = Self.report(.recruiting, [Self.both[0]], terms: terms)
    #expect(RoomList.line(search) == "00000000  search  5:00  1/2  Anna")
    #expect(RoomText.lines(search)[1] == "stage     recruiting (a search for another runner)")
    #expect(RoomList.line(Self.report(.recruiting, Self.both)) == "00000000  recruiting  5:00  2/4  Anna, Ben")
  }

  @Test("A result, as its runner and as somebody else sees it")
  func results() throws {
    let report = Self.report([4001, 3902])
    let result = try #require(RoomResult(report.state))
    try expect(
      "room-result",
      [RoomResultJSON(report, result, me: Self.ben), RoomResultJSON(report, result, me: Self.member(3))])
    #expect(
      RoomText.outcome(report, result, me: Self.ben) == [
        "result    complete", "          1.  Anna  400.1 m  won", "          2.  Ben  390.2 m  lost",
        "you       2. of 2, lost",
      ])
    #expect(RoomText.outcome(report, result, me: nil).count == 3)
  }

  private static func entry(
    _ position: UInt64, _ second: Int64, _ author: MemberID, _ number: UInt64, _ ask: RoomAskKind, _ folded: Folded
  ) -> JudgedEntry {
    JudgedEntry(
      entry: RoomEntry(
        position: position, time: .zero + .seconds(second), author: author, number: number, ask: ask),
      folded: folded, nickname: author == anna ? Nickname("Anna") : nil)
  }
  private static let log: [JudgedEntry] = [
    entry(1, 1, anna, 1, .enter(RoomCard(nickname: Nickname("Anna")!), metres: 512, seek: nil), .verdict(.entered)),
    entry(2, 2, ben, 1, .ready(true), .verdict(.rejected(.notIn))),
    entry(3, 3, anna, 2, .remove(ben), .verdict(.removed)),
    entry(
      5, 4, anna, 3,
      .record(
        RoomRecord(
          version: 1, decimetres: 4001, elapsed: .seconds(120), isFinished: true, run: RunID(high: 1, low: 1))),
      .verdict(.noted)),
    entry(6, 5, anna, 3, .mark(RoomMark(elapsed: .seconds(60), decimetres: 2000)), .known(.noted)),
  ]

  @Test("The log of a room")
  func roomLog() throws {
    let names = RoomLogText.names(of: Self.log)
    try expect(
      "room-log", Self.log.map { RoomEntryJSON($0, message: RoomLogText.sentence($0, names)) })
    let lines = RoomLogText.lines(Self.log)
    #expect(lines[1] == "1      1970-01-01T00:00:01.000Z  Anna      enter, 512 m from the start  you are in")
    #expect(lines[2].contains("02020202  ready") && lines[2].hasSuffix("rejected: not in the room: enter it first"))
    #expect(lines[3].contains("remove 02020202") && lines[4].contains("record 1: 2:00, 400.1 m"))
    #expect(lines[5].contains("mark 1:00, 200.0 m"))
  }

  @Test("What a list does not wait for")
  func unread() {
    let rooms = (1...6).map { RoomID(high: $0 << 32, low: 0) }
    #expect(
      RoomList.sentence(unread: Array(rooms.prefix(2)))
        == "not read, because that would take long: 00000001, 00000002 (busnode room log ROOM reads one)")
    #expect(RoomList.sentence(unread: rooms).contains("00000004 and 2 more ("))
  }

  @Test("Why an entry was left out: its number, or the strangers before it")
  func leftOut() {
    let entries = [Self.entry(7, 6, Self.ben, 601, .stay, .leftOut), Self.entry(8, 7, Self.ben, 600, .stay, .leftOut)]
    #expect(
      entries.map { RoomLogText.sentence($0, [:]) } == [
        "left out: its number is above 600", "left out: too many strangers have written here",
      ])
  }

  @Test("A list of runners, and the same names told apart")
  func ranking() throws {
    let month = CalendarMonth(year: 2026, month: 2)!
    var tally = Tally()
    func count(_ room: UInt64, _ place: (MemberID, Int), _ other: (MemberID, Int)) {
      let rows = [(place, RoomResult.Outcome.won), (other, .lost)].enumerated().map { index, line in
        RoomResult.Row(
          member: line.0.0, decimetres: line.0.1, isConfirmed: true, isFinished: true, place: index + 1,
          outcome: line.1)
      }
      tally.count(
        TalliedResult(
          room: RoomID(high: 1, low: room), version: 1, month: month,
          result: RoomResult(standing: .complete, rows: rows)))
    }
    count(1, (Self.anna, 7712), (Self.ben, 0))
    count(2, (Self.ben, 5), (Self.anna, 0))
    count(3, (Self.ben, 5), (Self.anna, 0))
    func rows(_ list: Ranking.Kind, _ second: String) -> [Ranking.Row] {
      Ranking.list(
        list,
        of: [(Self.anna, "Anna"), (Self.ben, second)].map {
          Ranking.Runner(member: $0.0, nickname: Nickname($0.1)!, score: tally.score(of: $0.0))
        }, month: month)
    }
    try expect(
      "ranking",
      [
        RankingJSON(rows(.month, "Ben")[0], .month, month), RankingJSON(rows(.wins, "Ben")[1], .wins, month),
      ])
    #expect(
      RankingText.lines(rows(.month, "Ben"), .month, month) == [
        "RANK  RUNNER  2026-02  WON  DRAWN  LOST", "1.    Anna    771.2 m    1      0     2",
        "2.    Ben       1.0 m    2      0     1",
      ])
    #expect(
      RankingText.lines(rows(.wins, "Anna"), .wins, month) == [
        "RANK  RUNNER       WON  DRAWN  LOST", "1.    Anna (0202)    2      0     1",
        "2.    Anna (0101)    1      0     2",
      ])
    #expect(RankingText.none(.month, month) == "nobody has run in a room in 2026-02")
    #expect(MonthArgument(argument: "2026-02")?.month == month)
    for wrong in ["2026-13", "2026-2", "2026", "2026-02-01", "now"] { #expect(MonthArgument(argument: wrong) == nil) }
  }

  // MARK: Badges

  private static let run = RunID(high: 1, low: 2)
  private static func ran(_ metres: Double) -> BadgeDeed {
    BadgeDeed(
      run: run, moment: 1_796_081_400_500, day: 1, month: CalendarMonth(year: 2026, month: 11)!,
      kind: .run(metres: metres))
  }

  @Test("A badge is given once and stays when its run is gone, also beside badges of a later version")
  func badges() async throws {
    try await withTestBus { bus in
      let location = BusLocation(
        bus: "default", environment: ["XDG_STATE_HOME": bus.stateDirectory, "XDG_RUNTIME_DIR": bus.runtimeDirectory])
      let book = BadgeBook(of: location)
      #expect(try book.look(at: []).given.isEmpty)
      let first = try book.look(at: [Self.ran(6000)])
      #expect(first.new.map(\.badge) == [.firstRun, .fiveKilometres] && first.given == first.new)
      try expect("badges", [BadgeJSON(first.given[1])])
      let again = try BadgeBook(of: location).look(at: [])
      #expect(again.given == first.given && again.new.isEmpty)

      let file = URL(filePath: bus.stateDirectory + "/runbus/default/_badges")
      let later = try String(contentsOf: file, encoding: .utf8).replacing("firstRun", with: "hundredMarathons")
      try later.write(to: file, atomically: false, encoding: .utf8)
      #expect(try book.look(at: [Self.ran(11_000)]).new.map(\.badge) == [.firstRun, .tenKilometres])
      #expect(try String(contentsOf: file, encoding: .utf8).contains("hundredMarathons"))

      try Data("{}".utf8).write(to: file)
      #expect(throws: Failure.self) { try book.look(at: [Self.ran(11_000)]) }
      #expect(try Data(contentsOf: file) == Data("{}".utf8))
    }
  }

  @Test("Every badge has words of its own")
  func words() { #expect(Set(Badge.allCases.map(RankingText.words)).count == Badge.allCases.count) }
}
