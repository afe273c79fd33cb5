import Foundation
import RunBus
import RunScripts
import Testing

@testable import busnode

@Suite("Texts on a terminal")
struct TextWidthTests {
  @Test(
    "Korean, Chinese and emoji take two columns, combining marks none",
    arguments: [
      ("abc", 3), ("달리기", 6), ("漢字", 4), ("é", 1), ("e\u{301}", 1), ("\u{1F3C3}", 2),
      ("\u{1F3C3}\u{1F3FD}\u{200D}\u{2642}\u{FE0F}", 2),
      ("\u{231A}\u{FE0F}", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("▄█⠿", 3), ("", 0), ("\u{200B}", 0), ("Ａ", 2),
      ("→", 1),
    ])
  func width(text: String, columns: Int) { #expect(TextWidth.of(text) == columns) }

  @Test("A wide character that does not fit is left out, and a blank takes its place")
  func cut() {
    #expect(TextWidth.cut("달리기", to: 5) == "달리")
    #expect(TextWidth.fitted("달리기", to: 5) == "달리 ")
    #expect(TextWidth.fitted("ab", to: 4) == "ab  " && TextWidth.fitted("ab", to: 0) == "")
    let row = StyledRow("달", .bold).beside(StyledRow("x"), at: 4)
    #expect(row.text == "달  x" && row.width == 5 && row.cut(to: 1).text == "")
  }
}

@Suite("Keys of a terminal")
struct KeyReaderTests {
  @Test("Letters, sequences and Korean characters are keys, in whatever pieces their bytes come")
  func keys() {
    let bytes = Array("sp\u{1B}[A\u{1B}OB\t\r\u{7F}\u{3}\u{1A}가?".utf8)
    let wanted: [Key] = [
      .character("s"), .character("p"), .up, .down, .tab, .enter, .backspace, .control("c"), .control("z"),
      .character("가"),
      .character("?"),
    ]
    for size in 1...bytes.count {
      var reader = KeyReader()
      var keys: [Key] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        keys += reader.read(bytes[start..<min(start + size, bytes.count)])
      }
      #expect(keys == wanted, "in pieces of \(size)")
    }
  }

  @Test("A paste presses no button")
  func paste() {
    var reader = KeyReader()
    #expect(reader.read(Array("\u{1B}[200~stop x\nq\u{1B}[201~p".utf8)) == [.character("p")])
  }

  @Test("A single Escape is a key once nothing follows; unknown sequences and broken UTF-8 are none")
  func escape() {
    var reader = KeyReader()
    #expect(reader.read([0x1B]) == [] && reader.patience != nil)
    #expect(reader.timeOut() == [.escape] && reader.patience == nil)
    #expect(reader.read(Array("\u{1B}[3~\u{1B}[1;5Cx".utf8)) == [.character("x")])
    #expect(reader.read([0xFF, 0xC3, 0x28, 0x61]).last == .character("a"))
    #expect(reader.read([0x1B, 0x5B] + [UInt8](repeating: 0x31, count: 100)) == [] && reader.patience == nil)
  }

  // Once broken: A paste whose begin came in two pieces pressed buttons, because Half a sequence was dropped after 50
  // ms.
  @Test(
    "Part of a sequence waits longer than a single Escape, so a paste in pieces presses nothing; silence ends the wait")
  func patience() throws {
    var reader = KeyReader()
    #expect(reader.read([0x1B]) == [])
    let escape = try #require(reader.patience)
    for piece in ["[20", "0~stop", "\u{1B}[20"] {
      #expect(reader.read(Array(piece.utf8)) == [] && reader.patience ?? 0 > escape)
    }
    #expect(reader.read(Array("1~p".utf8)) == [.character("p")] && reader.patience == nil)
    // A sequence without its end, and a paste without its end.
    for start in ["\u{1B}[20", "\u{1B}[200~stop", "\u{1B}[200~stop\u{1B}"] {
      #expect(reader.read(Array(start.utf8)) == [] && reader.timeOut() == [] && reader.patience == nil)
      #expect(reader.read(Array("l".utf8)) == [.character("l")])
    }
  }
}

@Suite("What is drawn again")
struct ScreenPainterTests {
  /// A terminal that understands what the painter writes.
  private struct Model {
    var rows: [String]
    mutating func take(_ text: String) {
      for part in text.components(separatedBy: "\u{1B}[") where !part.isEmpty {
        if part.hasPrefix("2J") { rows = rows.map { _ in "" } }
        guard let end = part.firstIndex(of: "H"), part[..<end].allSatisfy({ $0.isNumber || $0 == ";" }) else {
          continue
        }
        let row = Int(part[..<end].prefix { $0 != ";" }) ?? 0
        rows[row - 1] = String(part[part.index(after: end)...])
      }
    }
  }

  @Test("Applied to the screen before, the difference gives the new screen; an unchanged screen writes nothing")
  func difference() {
    var generator = SystemRandomNumberGenerator()
    var painter = ScreenPainter(hasColor: false)
    var model = Model(rows: Array(repeating: "", count: 6))
    let screen = Screen(columns: 20, rows: 6)
    for _ in 0..<200 {
      let texts = (0..<6).map { _ in
        ["", "a", "달리기", "0123456789012345678901234"].randomElement(using: &generator) ?? ""
      }
      model.take(painter.paint(texts.map { StyledRow($0) }, on: screen))
      #expect(model.rows == texts.map { TextWidth.cut($0, to: 20) })
      #expect(painter.paint(texts.map { StyledRow($0) }, on: screen) == "")
    }
    #expect(
      painter.paint([StyledRow("x")], on: Screen(columns: 30, rows: 4)).contains("2J"), "another size clears the screen"
    )
  }

  @Test("Without colours there is no colour code; nothing is said by colour alone")
  func colors() {
    for style in [Style.good, .waiting, .bad, .accent] {
      #expect(!style.codes(hasColor: false).contains("3") && style.codes(hasColor: true).contains("3"))
    }
  }
}

@Suite("The live screen")
struct RunScreenTests {
  static let sizes = [
    Screen(columns: 60, rows: 20), Screen(columns: 80, rows: 24), Screen(columns: 120, rows: 40),
    Screen(columns: 200, rows: 50),
  ]

  private static func command(_ receipt: Receipt, of device: String, at time: String) -> ScreenState.Command {
    var board = RunBoard(own: "here")
    board.receive(.receipt(receipt, "watch"), at: .zero)
    return ScreenState.Command(board.commands[0], of: device, at: time)
  }

  private func state(_ change: (inout ScreenState) -> Void = { _ in }) -> ScreenState {
    var state = ScreenState(bus: "demo", source: .shell)
    var metrics = RunMetrics(
      elapsed: .seconds(4000), active: .seconds(3723), distanceMeters: 10_250, currentPaceSecondsPerKilometer: 312,
      heartRateBpm: 152)
    metrics.lapCount = 2
    state.add(
      Snapshot(
        order: SnapshotOrder(term: 1, revision: 1, tick: 2), phase: .running, runID: RunID(high: 0, low: 1),
        changedBy: Author(source: .watch, deviceID: "watch", commandID: CommandID(high: 0, low: 1)), startedAt: .zero,
        capturedAt: .zero, metrics: metrics))
    state.predicted = .running
    state.isReachable = true
    state.pace = (0..<100).map { 300 + Double($0 % 7) * 10 }
    state.heartRate = (0..<100).map { 140 + Double($0 % 5) }
    state.route = (0..<200).map {
      RoutePoint(
        offset: .seconds(Int64($0)),
        position: Position(latitude: 50 + Double($0 % 50) / 1000, longitude: 8 + Double($0) / 1000),
        verdict: .counted)
    }
    state.devices = ["watch", "widget", "tablet", "band", "treadmill"].enumerated().map { index, name in
      ScreenState.Device(name: name, isHere: index != 1, roundTrip: .milliseconds(2), waiting: index, ageSeconds: 1)
    }
    state.commands = (1...9).reversed().map { number in
      Self.command(
        Receipt(commandID: CommandID(high: 1, low: UInt64(number)), kind: .lap, source: .watch, stage: .pending),
        of: "watch", at: "17:00:0\(number)")
    }
    change(&state)
    return state
  }

  @Test("From 120 columns on splits and laps stand beside the route; from 70 on sparklines have a scale")
  func splits() {
    func split(_ number: Int) -> Split {
      Split(
        number: number, distanceMeters: 1000, active: .seconds(300 + Int64(number)), startedAt: .zero, endedAt: .zero,
        elevationGainMeters: 12, isComplete: true)
    }
    func text(_ columns: Int, laps: Int = 2) -> String {
      let state = state {
        $0.splits = RunSplits(kilometers: (1...30).map(split), laps: (0..<laps).map { split($0 + 1) })
      }
      let rows = RunScreen.rows(state, on: Screen(columns: columns, rows: 40))
      #expect(rows.allSatisfy { $0.width <= columns } && rows.count == 40)
      return rows.map(\.text).joined(separator: "\n")
    }
    for part in ["KILOMETRES  +", "LAPS", "5:30", "ROUTE", "COMMANDS", "DEVICE"] { #expect(text(120).contains(part)) }
    #expect(!text(119).contains("KILOMETRES") && !text(120, laps: 0).contains("LAPS"))
    #expect(text(80).contains("6:00 to 5:00") && text(80).contains("140 to 144"))
    #expect(!text(69).contains(" to "))
  }

  @Test("It fills the screen and overflows nowhere, and what matters is there", arguments: sizes)
  func fits(screen: Screen) {
    for hasUnicode in [true, false] {
      let rows = RunScreen.rows(state { $0.hasUnicode = hasUnicode }, on: screen)
      #expect(rows.count == screen.rows)
      #expect(rows.allSatisfy { $0.width <= screen.columns })
      let text = rows.map(\.text).joined(separator: "\n")
      for fact in [
        "RUNNING", "by watch", "active  elapsed 1:06:40", "laps 2", "10.25 km", "5:12 /km", "152 bpm", "DEVICE",
        "watch",
        "COMMANDS", "lap waits", "? help", "q quit", "p pause", "x stop",
      ] {
        #expect(text.contains(fact), "\(fact) at \(screen)")
      }
      #expect(hasUnicode || text.unicodeScalars.allSatisfy(\.isASCII))
    }
  }

  @Test("A goal stands beside the phase with what remains of it, and without one there is nothing", arguments: sizes)
  func goal(screen: Screen) {
    func text(_ change: (inout ScreenState) -> Void = { _ in }) -> String {
      let rows = RunScreen.rows(state(change), on: screen)
      #expect(rows.count == screen.rows && rows.allSatisfy { $0.width <= screen.columns })
      return rows.map(\.text).joined(separator: "\n")
    }
    #expect(!text().contains("goal") && !text().contains("left"))
    let goal = RunGoal(time: .seconds(5400))
    #expect(text { $0.snapshot.goal = goal }.contains("RUNNING  goal 1:30:00, 23:20 left"))
    // Between two snapshots it counts down with the clock.
    #expect(text { ($0.snapshot.goal, $0.elapsed) = (goal, .seconds(4001)) }.contains("23:19 left"))
    #expect(text { ($0.snapshot.goal, $0.elapsed) = (goal, .seconds(9000)) }.contains("goal 1:30:00 reached"))
    let least = RunScreen.rows(state { $0.snapshot.goal = goal }, on: Screen(columns: 40, rows: 10))
    #expect(least.contains { $0.text.contains("23:20") } && least.allSatisfy { $0.width <= 40 })
  }

  @Test(
    "In Korean it fills the screen, too, and overflows nowhere; the help is whole on the smallest", arguments: sizes)
  func korean(screen: Screen) {
    Tongue.$inTask.withValue(.korean) {
      for hasNodes in [false, true] {
        let rows = RunScreen.rows(state { $0.hasNodes = hasNodes }, on: screen)
        #expect(rows.count == screen.rows && rows.allSatisfy { $0.width <= screen.columns })
        let text = rows.map(\.text).joined(separator: "\n")
        for fact in ["달리는 중", "시계", "운동 시간  총 시간 1:06:40", "랩 2", "10.25 km", "심박수", "기기", "명령"] {
          #expect(text.contains(fact), "\(fact) at \(screen): \(text)")
        }
        let least = Screen(columns: RunScreen.columnsMin, rows: hasNodes ? 16 : RunScreen.rowsMin)
        let help = RunScreen.rows(state { ($0.isHelpShown, $0.hasNodes) = (true, hasNodes) }, on: least)
        #expect(help.allSatisfy { $0.width <= least.columns && !$0.text.contains("…") })
        for fact in ["달리기 시작", "셸", "끝 (Ctrl-C)", "돌아옴", "도움말을 닫습니다"] {
          #expect(help.contains { $0.text.contains(fact) }, "\(fact)")
        }
      }
    }
  }

  @Test("The help is whole on the smallest screen")
  func help() {
    let least = Screen(columns: RunScreen.columnsMin, rows: RunScreen.rowsMin)
    let text = RunScreen.rows(state { $0.isHelpShown = true }, on: least).map(\.text).joined(separator: "\n")
    for fact in ["start a run", "or shell", "q  quit (Ctrl-C)", "fg comes back", "any key closes"] {
      #expect(text.contains(fact))
    }
  }

  @Test("A terminal that is too small says so in one line")
  func small() {
    for screen in [Screen(columns: 39, rows: 24), Screen(columns: 80, rows: 9), Screen(columns: 5, rows: 2)] {
      let rows = RunScreen.rows(state(), on: screen)
      #expect(rows.count == 1 && rows[0].width <= screen.columns)
    }
    #expect(RunScreen.rows(state(), on: Screen(columns: 20, rows: 4)).map(\.text) == ["too small: 40x10"])
  }

  @Test("Alarms are said in words, the worst first")
  func alarms() {
    func alarm(_ change: (inout ScreenState) -> Void) -> String { state(change).alarms.first ?? "" }
    #expect(alarm { _ in } == "")
    #expect(alarm { $0.isReachable = false }.contains("out of reach"))
    #expect(alarm { ($0.isStale, $0.staleSeconds) = (true, 70) }.contains("no news for 1:10"))
    #expect(alarm { ($0.isStale, $0.isHubLost) = (true, true) }.contains("may have stopped"))
    #expect(alarm { $0.isHubOffDuty = true }.contains("was ended"))
    #expect(alarm { $0.snapshot.isRecovering = true }.contains("r resumes it"))
    #expect(alarm { $0.refusal = "the name is taken" }.contains("the name is taken"))
    // What to do is said beside each of them, in the room that there is.
    for (columns, words) in [(40, ["no news for 0:07"]), (60, ["no news for 0:07", "this state is old"])] {
      let silent = state { ($0.isStale, $0.staleSeconds, $0.isReachable) = (true, 7, false) }
      let row = RunScreen.rows(silent, on: Screen(columns: columns, rows: 24)).map(\.text).first { $0.contains(" ! ") }
      for word in words + ["presses wait here"] { #expect(row?.contains(word) == true, "\(row ?? "")") }
    }
    for screen in Self.sizes {
      #expect(
        RunScreen.rows(state { $0.isHubLost = true }, on: screen).contains { $0.text.contains("! the phone is silent") }
      )
    }
  }

  @Test("Devices do not look alive while the phone is out of reach")
  func unknownDevices() {
    func devices(_ change: (inout ScreenState) -> Void) -> [String] {
      RunScreen.rows(state(change), on: Self.sizes[1]).map(\.text).filter {
        $0.hasPrefix(" watch ") || $0.hasPrefix(" widget ")
      }
    }
    #expect(devices { _ in }.map { $0.contains("here") || $0.contains("gone") } == [true, true])
    for rows in [devices { $0.isReachable = false }, devices { $0.isStale = true }, devices { $0.isHubOffDuty = true }]
    {
      #expect(rows.count == 2 && rows.allSatisfy { $0.contains("unknown") && !$0.contains("ms") && $0.contains("1 s") })
    }
  }

  @Test("A value whose sensor is silent shows its age in a run, and not after it")
  func agedValues() {
    var metrics = RunMetrics(
      elapsed: .seconds(4000), active: .seconds(3723), distanceMeters: 10_250, currentPaceSecondsPerKilometer: 312,
      heartRateBpm: 152)
    metrics.moments = MetricMoments(distance: .seconds(3340), heartRate: .seconds(3340))
    func text(_ phase: RunPhase, _ columns: Int, _ change: (inout ScreenState) -> Void = { _ in }) -> String {
      let state = state {
        $0.snapshot.metrics = metrics
        $0.snapshot.phase = phase
        change(&$0)
      }
      return RunScreen.rows(state, on: Screen(columns: columns, rows: 24)).map(\.text).joined(separator: "\n")
    }
    for columns in [40, 80] {
      for value in ["152 bpm, 11 min old", "5:12 /km, 11 min old", "10.25 km, 11 min old"] {
        #expect(text(.running, columns).contains(value))
      }
      #expect(!text(.completed, columns).contains("min old"))
    }
    // The average is no pace of now.
    (metrics.currentPaceSecondsPerKilometer, metrics.averagePaceSecondsPerKilometer) = (nil, 2485)
    #expect(text(.running, 80).contains("pace      - ") && text(.completed, 80).contains("pace      41:25 /km"))
    // Without news of the phone the age grows with the clock.
    #expect(
      text(.running, 80) { ($0.isReachable, $0.elapsed) = (false, .seconds(4060)) }.contains("152 bpm, 12 min old"))
  }

  @Test("top, which has not seen all presses, does not say that there were none")
  func noPresses() {
    func text(_ change: (inout ScreenState) -> Void) -> String {
      RunScreen.rows(state(change), on: Self.sizes[1]).map(\.text).joined(separator: "\n")
    }
    #expect(text { $0.commands = [] }.contains("none since this was opened"))
    #expect(text { ($0.commands, $0.hasNodes) = ([], true) }.contains("no presses yet"))
  }

  @Test("All keys of up are in its last row", arguments: [40, 60, 80, 120])
  func keysOfUp(columns: Int) throws {
    let rows = RunScreen.rows(state { $0.hasNodes = true }, on: Screen(columns: columns, rows: 24))
    let words = try #require(rows.last).text.split(separator: " ").map(String.init)
    for key in ["p", "x", "l", "1-3", "o", "k", "n", "a", "?", "q"] { #expect(words.contains(key)) }
    #expect(columns < 80 || words.contains("offline"))
  }

  @Test("The keys that are shown are those that can do something in the phase of the run", arguments: [40, 80, 200])
  func usefulKeys(columns: Int) throws {
    func keys(_ change: (inout ScreenState) -> Void) throws -> Set<String> {
      let row = try #require(RunScreen.rows(state(change), on: Screen(columns: columns, rows: 24)).last).text
      return Set(row.split(separator: " ").map(String.init)).intersection(["s", "p", "r", "x", "l"])
    }
    #expect(try keys { $0.predicted = .idle } == ["s"])
    #expect(try keys { $0.predicted = .running } == ["p", "x", "l"])
    #expect(try keys { $0.predicted = .paused } == ["r", "x", "l"])
    #expect(try keys { $0.predicted = .completed } == ["s"])
    #expect(try keys { $0.snapshot.isRecovering = true } == ["r", "x"])
    // The key for all nodes says what it presses.
    func all(_ phase: RunPhase) throws -> String {
      let shown = state { ($0.hasNodes, $0.snapshot.phase, $0.predicted) = (true, phase, phase) }
      return try #require(RunScreen.rows(shown, on: Screen(columns: 200, rows: 24)).last).text
    }
    #expect(try all(.running).contains("a pause all") && all(.paused).contains("a resume all"))
    #expect(try all(.idle).contains("a start all"))
  }

  // Once broken: One tap on `x` in `top` or `up` ended the run for good, because stop was a key like the others.
  @Test("A run is stopped by a second press of its key within three seconds, and by no single one")
  func stopTwice() {
    var state = state()
    let begin = ContinuousClock.now
    func press(_ seconds: Double) -> Bool { state.pressStop(at: begin + .seconds(seconds)) }
    func isAsked() -> Bool {
      RunScreen.rows(state, on: Self.sizes[0]).contains { $0.text == " press x again to stop the run" }
    }
    #expect(!press(0))
    #expect(isAsked())
    #expect(press(2.999))
    #expect(!isAsked())
    // Each stop takes two presses, and the second one may come too late.
    #expect(!press(4))
    #expect(!press(7))
    state.expire(at: begin + .seconds(9.999))
    #expect(isAsked())
    state.expire(at: begin + .seconds(10))
    #expect(!isAsked())
    #expect(!press(10))
    // Another key between them, and another run.
    state.forgetStop()
    #expect(!press(11))
    var next = state.snapshot
    next.runID = RunID(high: 0, low: 2)
    state.add(next)
    #expect(!press(12))
  }

  @Test("The keys of up stop a run of the chosen node by two presses with no other key between them")
  func upStopsTwice() {
    var screen = UpScreen(bus: "demo", units: .metric, hasUnicode: true)
    let now = ContinuousClock.now
    func wishes(_ keys: String) -> [UpWish?] { keys.map { screen.obey(.character($0), at: now) } }
    #expect(wishes("xx") == [nil, .press(.stop, on: [.phone])])
    #expect(wishes("x2xx") == [nil, nil, nil, .press(.stop, on: [.watch])])
    #expect(wishes("x?xxp") == [nil, nil, nil, nil, .press(.pause, on: [.watch])])
  }

  // Once broken: In the help of `top` and `up`, which any key closes, q ended the screen, and Ctrl-C did not, because q
  // was excepted where Ctrl-C should have been.
  @Test("Every key closes the help and does nothing else, Ctrl-C alone ends the screen")
  func closesHelp() {
    var screen = UpScreen(bus: "demo", units: .metric, hasUnicode: true)
    func wish(_ key: Key) -> UpWish? { screen.obey(key, at: .now) }
    for key in [Key.character("q"), .character("?"), .character("s"), .escape, .control("l")] {
      #expect(wish(.character("?")) == nil && wish(key) == nil, "\(key)")
      #expect(wish(.character("s")) == .press(.start, on: [.phone]), "\(key)")
    }
    #expect(wish(.character("?")) == nil && wish(.control("c")) == .end)
    #expect(wish(.character("s")) == nil && wish(.character("q")) == .end)
  }

  // Once broken: `up` went on to show a running clock and no alarm when its phone had been killed, because only `top`
  // asked whether the phone was in reach.
  @Test("up says that its phone is missing when it was killed or is offline, and not while it starts")
  func phoneOfUp() {
    var screen = UpScreen(bus: "demo", units: .metric, hasUnicode: true)
    func alarm(_ link: String) -> String {
      var row = UpRow()
      row.link = link
      let rows = screen.draw(
        [(.phone, row), (.watch, UpRow())], speed: .realTime, on: Self.sizes[1], now: .now, moment: .zero)
      return rows.map(\.text).first { $0.contains(" ! ") } ?? ""
    }
    #expect(alarm("starting") == "" && alarm("up") == "")
    #expect(alarm("dead").contains("the phone is out of reach: presses wait here"))
    #expect(alarm("up") == "" && alarm("offline").contains("out of reach"))
  }

  // Once broken: `top` said "no other device yet" for two seconds, and for a moment IDLE and "out of reach", although
  // it had not heard anything.
  @Test("Until the phone has said something the screen does not claim that there is nothing")
  func asking() {
    func text(_ change: (inout ScreenState) -> Void) -> String {
      var state = ScreenState(bus: "demo", source: .shell)
      change(&state)
      return RunScreen.rows(state, on: Self.sizes[2]).map(\.text).joined(separator: "\n")
    }
    for claim in ["no other device", "IDLE", "out of reach", "no positions"] { #expect(!text { _ in }.contains(claim)) }
    #expect(text { _ in }.contains("asking the phone") && text { _ in }.contains("has not answered yet"))
    #expect(text { $0.devices = [] }.contains("no other device yet"))
    let away = text {
      $0.isReachable = true
      $0.isReachable = false
    }
    #expect(away.contains("the phone is out of reach"))
  }

  @Test("What is left out is counted, also where there is hardly any room")
  func more() {
    func rows(_ columns: Int, _ count: Int, _ change: (inout ScreenState) -> Void = { _ in }) -> [String] {
      RunScreen.rows(state(change), on: Screen(columns: columns, rows: count)).map(\.text)
    }
    for (columns, count) in [(40, 12), (60, 20), (80, 24), (120, 40), (200, 50), (120, 14)] {
      for hasRoute in [true, false] {
        let shown = rows(columns, count) { if !hasRoute { $0.route = [] } }
        func check(_ heading: String, _ all: [String]) {
          guard let row = shown.first(where: { $0.contains(heading) }) else {
            Issue.record("\(heading) at \(columns)x\(count)")
            return
          }
          let hidden = all.filter { name in !shown.contains { $0.contains(name) } }.count
          #expect(row.contains("+\(hidden) more") == (hidden > 0), "\(row) at \(columns)x\(count)")
        }
        check("DEVICE", ["watch  ", "widget  ", "tablet  ", "band  ", "treadmill  "])
        check("COMMANDS", (1...9).map { "17:00:0\($0)" })
      }
    }
    let least = rows(40, 10) { ($0.isReachable, $0.told) = (false, "z does nothing") }
    #expect(least.contains { $0.contains("+5 devices  +9 commands") }, "\(least)")
    let help = rows(40, 10) { ($0.isHelpShown, $0.hasNodes) = (true, true) }
    #expect(help.contains { $0.contains("more rows") }, "\(help)")
  }

  @Test("Names are whole on every screen on which they fit, and a text that is cut says so", arguments: [true, false])
  func names(hasUnicode: Bool) {
    let long = String(repeating: "n", count: 32)
    for columns in [40, 60, 80, 120] {
      let rows = RunScreen.rows(
        state {
          $0.hasUnicode = hasUnicode
          $0.devices?[0].name = long
          $0.commands.insert(
            Self.command(
              Receipt(commandID: CommandID(high: 9, low: 9), kind: .lap, source: .watch, stage: .queued), of: long,
              at: "17:00:00"), at: 0)
        }, on: Screen(columns: columns, rows: 24)
      ).map(\.text)
      let named = rows.filter { $0.contains(long) }
      #expect(named.count == (columns == 40 ? 1 : 2), "\(columns): \(rows)")
      #expect(rows.allSatisfy { TextWidth.of($0) <= columns })
      #expect(columns > 40 || rows.contains { $0.hasSuffix(hasUnicode ? "…" : "~") })
      // Columns are whole or not there.
      let heading = rows.first { $0.contains("DEVICE") } ?? ""
      for word in heading.split(separator: " ") {
        let words = ["DEVICE", "STATE", "ROUND", "TRIP", "WAITING", "HEARD", "+3", "+2", "+4", "more", "ROUTE"]
        #expect(words.contains(String(word)), "\(heading)")
      }
    }
  }

  @Test("Hours are whole on the smallest screen, in small digits")
  func hours() {
    func rows(_ seconds: Int64) -> [String] {
      let screen = Screen(columns: 40, rows: 10)
      return RunScreen.rows(
        state { ($0.active, $0.elapsed, $0.snapshot.metrics.lapCount) = (.seconds(seconds), .seconds(4000), 0) },
        on: screen
      ).map(\.text)
    }
    #expect(
      rows(3723).contains { $0 == " 1:02:03 active  elapsed 1:06:40" }
        && rows(3723).contains { $0.hasPrefix(" RUNNING") })
    #expect(rows(3723).allSatisfy { !$0.contains("█") } && rows(59).contains { $0.contains("█") })
  }

  @Test("A press that waits shows what is expected beside what the hub says")
  func pending() {
    let rows = RunScreen.rows(state { $0.predicted = .paused }, on: Self.sizes[1]).map(\.text)
    #expect(rows.contains { $0.contains("PAUSED") && $0.contains("the hub: running") })
  }

  @Test("A press says what has become of it, and that its verdict may have been missed")
  func commands() {
    let id = CommandID(high: 0, low: 7)
    func receipt(_ stage: ReceiptStage) -> Receipt {
      Receipt(commandID: id, kind: .pause, source: .shell, stage: stage)
    }
    func texts(_ news: NodeNews...) -> [String] {
      var board = RunBoard(own: "shell")
      board.receive(.link(Reachability(isReachable: true)), at: .zero)
      for one in news { board.receive(one, at: .zero) }
      var state = ScreenState(bus: "demo", source: .shell)
      state.show(board, at: .zero, clock: nil) { _ in "" }
      return state.commands.map { "\($0.device): \($0.text)" }
    }
    let verdict = Verdict(
      commandID: id, kind: .pause, source: .shell, outcome: .rejected(.illegal(.idle)), runID: nil, term: 1,
      revision: 0, effectiveAt: nil)
    #expect(texts(.ownReceipt(receipt(.queued))) == ["here: pause waits for the phone"])
    #expect(texts(.ownReceipt(receipt(.verdict(verdict))))[0].contains("rejected"))
    let pending = NodeNews.receipt(receipt(.pending), "watch")
    #expect(texts(pending) == ["watch: pause waits for its verdict"])
    // Once broken: A press of another device waited for ever in `top` when the phone had died before its verdict.
    let away = NodeNews.link(Reachability(isReachable: false))
    #expect(texts(pending, away) == ["watch: pause: no verdict was heard"])
    var snapshot = state().snapshot
    snapshot.changedBy = Author(source: .watch, deviceID: "watch", commandID: id)
    #expect(texts(pending, away, .snapshot(snapshot)) == ["watch: pause was applied"])
  }

  @Test("Large digits, sparklines and routes keep to their size")
  func pictures() {
    for hasUnicode in [true, false] {
      let digits = Pictures.large("1:02:03", hasUnicode: hasUnicode)
      #expect(digits.count == Pictures.digitRows(hasUnicode: hasUnicode) && Set(digits.map(\.count)).count == 1)
      let spark = Pictures.sparkline([nil, 1, 2, 3, nil, 4], columns: 5, hasUnicode: hasUnicode)
      #expect(spark.count == 5)
      let route = Pictures.route(state().route, columns: 30, rows: 8, hasUnicode: hasUnicode)
      #expect(route.count == 8 && route.allSatisfy { TextWidth.of($0) == 30 } && route.joined().contains("@"))
    }
    #expect(
      Pictures.sparkline([1], columns: 5, hasUnicode: true) == ""
        && Pictures.route([], columns: 9, rows: 9, hasUnicode: true) == [])
  }
}
