import Foundation
import RunBus
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
    for number in 1...9 {
      state.note(
        Receipt(commandID: CommandID(high: 1, low: UInt64(number)), kind: .lap, source: .watch, stage: .pending),
        of: "watch", at: "17:00:0\(number)")
    }
    change(&state)
    return state
  }

  @Test("It fills the screen and overflows nowhere, and what matters is there", arguments: sizes)
  func fits(screen: Screen) {
    for hasUnicode in [true, false] {
      let rows = RunScreen.rows(state { $0.hasUnicode = hasUnicode }, on: screen)
      #expect(rows.count == screen.rows)
      #expect(rows.allSatisfy { $0.width <= screen.columns })
      let text = rows.map(\.text).joined(separator: "\n")
      for fact in [
        "RUNNING", "by watch", "elapsed 1:06:40", "laps 2", "10.25 km", "5:12 /km", "152 bpm", "DEVICE", "watch",
        "COMMANDS", "lap waits", "? help", "q quit", "p pause",
      ] {
        #expect(text.contains(fact), "\(fact) at \(screen)")
      }
      #expect(hasUnicode || text.unicodeScalars.allSatisfy(\.isASCII))
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
    for key in ["s", "p", "r", "x", "l", "1-3", "o", "k", "n", "a", "?", "q"] { #expect(words.contains(key)) }
    #expect(columns < 80 || words.contains("offline"))
  }

  @Test("A press that waits shows what is expected beside what the hub says")
  func pending() {
    let rows = RunScreen.rows(state { $0.predicted = .paused }, on: Self.sizes[1]).map(\.text)
    #expect(rows.contains { $0.contains("PAUSED") && $0.contains("the hub: running") })
  }

  @Test("A verdict replaces the stage before it, and nothing replaces a verdict")
  func commands() {
    var state = ScreenState(bus: "demo", source: .shell)
    let id = CommandID(high: 0, low: 7)
    func receipt(_ stage: ReceiptStage) -> Receipt {
      Receipt(commandID: id, kind: .pause, source: .shell, stage: stage)
    }
    let verdict = Verdict(
      commandID: id, kind: .pause, source: .shell, outcome: .rejected(.illegal(.idle)), runID: nil, term: 1,
      revision: 0,
      effectiveAt: nil)
    state.note(receipt(.queued), of: "here", at: "")
    state.note(receipt(.verdict(verdict)), of: "here", at: "")
    state.note(receipt(.pending), of: "here", at: "")
    #expect(state.commands.count == 1 && state.commands[0].style == .bad && state.commands[0].text.contains("rejected"))
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
