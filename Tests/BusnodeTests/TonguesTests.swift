import ArgumentParser
import Foundation
import RunBus
import RunScripts
import Testing

@testable import busnode

@Suite("The catalogues")
struct CatalogueTests {
  @Test("Every phrase has a text in every language, with the same names in braces", arguments: Tongue.allCases)
  func complete(tongue: Tongue) {
    for phrase in Phrase.allCases {
      let text = tongue.text(of: phrase)
      #expect(!text.isEmpty, "\(phrase)")
      #expect(Tongue.placeholders(in: text) == Tongue.placeholders(in: phrase.english), "\(phrase): \(text)")
    }
  }

  @Test("Where English has a word, Korean has another text, of ASCII and wide characters")
  func translated() {
    for phrase in Phrase.allCases {
      let words = phrase.english.replacing(/\{\w+\}/, with: "").filter(\.isLetter)
      #expect(words.isEmpty || phrase.korean != phrase.english, "\(phrase): \(phrase.english)")
      #expect(phrase.korean.allSatisfy { $0.isASCII || "·…→".contains($0) || TextWidth.of($0) == 2 }, "\(phrase)")
    }
  }

  @Test("A name in braces is replaced once, also where it stands twice; braces of a value are left")
  func filled() {
    #expect(Tongue.say(.recordRemoved, ["run": "run {version}"]) == "run {version} was removed")
    #expect(
      Tongue.say(.settingUnset, ["key": "units"]) == "units is not set: busnode config set units VALUE")
    #expect(Tongue.say(.flawNoObject) == "it is not one object, {...}")
    #expect(
      Tongue.say(.flawNested, ["word": "log", "place": ""])
        == "'log' is an object in an object: \"log\": {\"level\": ...}")
    Tongue.$inTask.withValue(.korean) {
      #expect(Tongue.say(.goalLeft, ["left": "1:00", "goal": "30:00"]) == "30:00, 1:00 남음")
    }
  }

  @Test("In English the words are those of JSON, and verdicts are the library's sentences")
  func english() {
    #expect(RunPhase.allCases.map(\.spoken) == RunPhase.allCases.map(\.rawValue))
    #expect(CommandKind.allCases.map(\.spoken) == CommandKind.allCases.map(\.rawValue))
    #expect(RoomView.Stage.allCases.map(\.spoken) == RoomView.Stage.allCases.map(\.rawValue))
    #expect(RoomView.Outcome.allCases.map(\.spoken) == RoomView.Outcome.allCases.map(\.rawValue))
    #expect(RoomView.Settled.allCases.map(\.spoken) == RoomView.Settled.allCases.map(\.rawValue))
    #expect(RoomResult.Outcome.allCases.map(\.spoken) == RoomResult.Outcome.allCases.map(\.rawValue))
    #expect(RoomResult.Standing.allCases.map(\.spoken) == RoomResult.Standing.allCases.map(\.rawValue))
    #expect(RoomWarning.allCases.map(\.spoken) == RoomWarning.allCases.map(\.message))
    #expect(RunCalendar.Unit.allCases.map(\.spoken) == RunCalendar.Unit.allCases.map(\.rawValue))
    #expect(RunCalendar.Unit.allCases.map(\.heading) == RunCalendar.Unit.allCases.map { $0.rawValue.uppercased() })
    for source: ControlSource in [.phone, .watch, .liveActivity, .room, .shell, .recovery] {
      #expect(source.spoken == source.rawValue)
    }
    #expect(ControlSource(rawValue: "treadmill").spoken == "treadmill")
    for verdict in Self.verdicts {
      #expect(verdict.sentence == verdict.message)
      let receipt = Receipt(commandID: verdict.commandID, kind: .lap, source: .watch, stage: .verdict(verdict))
      #expect(receipt.sentence == receipt.message)
    }
    for stage in [ReceiptStage.queued, .pending] {
      let receipt = Receipt(commandID: CommandID(high: 0, low: 1), kind: .pause, source: .watch, stage: stage)
      #expect(receipt.sentence == receipt.message)
    }
  }

  /// One of every outcome and reason, of every command.
  private static let verdicts: [Verdict] = CommandKind.allCases.flatMap { kind -> [Verdict] in
    let other = CommandID(high: 0, low: 2)
    var reasons: [RejectionReason] = RunPhase.allCases.map { .illegal($0) }
    reasons += [
      .otherRun, .staleRevision, .tooOld, .busy, .unsupported, .cancelled, .expired, .quarantined, .forbidden,
      .revisionChanged(3), .revisionChanged(4), .unknown(99),
    ]
    var outcomes: [Outcome] = [.applied, .coalesced(into: other), .superseded(by: other), .unknown]
    outcomes += reasons.map { Outcome.rejected($0) }
    return outcomes.map { outcome in
      Verdict(
        commandID: CommandID(high: 0, low: 1), kind: kind, source: .watch, outcome: outcome, runID: nil, term: 1,
        revision: 3, effectiveAt: nil)
    }
  }
}

@Suite("Which language, units and characters")
struct TongueChoiceTests {
  private static let korea = ["LANG": "ko_KR.UTF-8"]

  @Test("A choice wins over the locale, which counts on a terminal only; JSON is the same for all")
  func tongue() {
    func tongue(
      _ environment: [String: String] = Self.korea, _ choice: Tongue? = nil, isJSON: Bool = false,
      isTerminal: Bool = true
    ) -> Tongue {
      Locales(environment).tongue(choice: choice, isJSON: isJSON, isTerminal: isTerminal)
    }
    #expect(tongue() == .korean && tongue(isTerminal: false) == .english)
    #expect(tongue(Self.korea, .english) == .english && tongue([:], .korean, isTerminal: false) == .korean)
    #expect(tongue(Self.korea, .korean, isJSON: true) == .english && tongue(isJSON: true) == .english)
    for (variables, wanted) in [
      ([:], .english), (["LANG": "ko"], .english), (["LANG": "ko_KR.eucKR"], .english),
      (["LANG": "ko_KR.utf8"], .korean), (["LANG": "ko.UTF-8@x"], .korean), (["LANG": "kok_IN.UTF-8"], .english),
      (["LANG": "en_US.UTF-8", "LC_MESSAGES": "ko_KR.UTF-8"], .korean),
      (["LANG": "ko_KR.UTF-8", "LC_MESSAGES": "C"], .english),
      (["LANG": "ko_KR.UTF-8", "LC_ALL": "C.UTF-8"], .english), (["LANG": "ko_KR.UTF-8", "LC_ALL": ""], .korean),
      (["LANG": "ko_KR.UTF-8", "LC_CTYPE": "C"], .english),
    ] as [([String: String], Tongue)] {
      #expect(tongue(variables) == wanted, "\(variables)")
    }
  }

  @Test("The option is found in both places; a variable wins over the settings; the parser knows the languages")
  func choice() throws {
    for (arguments, wanted) in [
      ("--language ko state", .korean), ("state --language=en", .english), ("state --language fr", nil),
      ("state", nil), ("state -- --language ko", nil),
    ] as [(String, Tongue?)] {
      #expect(ContextOption.language(in: arguments.split(separator: " ").map(String.init)) == wanted, "\(arguments)")
    }
    #expect(
      ContextOption.dropped(from: ["--context", "a", "--language", "ko", "--language=en", "stat"]) == ["stat"])
    let tree = try SettingsTree(Data("{\"language\": \"ko\"}".utf8))
    try tree.check()
    func settings(_ environment: [String: String]) throws -> Settings {
      try Settings(context: nil, environment: environment, tree: tree, file: SettingsFile(["HOME": "/h"]))
    }
    #expect(try settings([:]).language == .korean)
    #expect(try settings(["RUNBUS_LANGUAGE": "en"]).language == .english)
    #expect(throws: Failure.self) { try settings(["RUNBUS_LANGUAGE": "fr"]) }
    #expect(try Busnode.parseAsRoot(["--language", "ko", "state"]) is State)
    #expect(throws: (any Error).self) { try Busnode.parseAsRoot(["state", "--language", "fr"]) }
  }

  @Test("Miles are those of the locale's country")
  func units() {
    for (variables, wanted) in [
      ([:], .metric), (["LANG": "C.UTF-8"], .metric), (["LANG": "en_US.UTF-8"], .imperial),
      (["LANG": "en_GB.UTF-8"], .imperial), (["LANG": "ko_KR.UTF-8"], .metric), (["LANG": "en"], .metric),
      (["LANG": "en_US.UTF-8", "LC_MEASUREMENT": "de_DE.UTF-8"], .metric),
      (["LC_MEASUREMENT": "en_US.UTF-8", "LC_ALL": "C"], .metric),
    ] as [([String: String], RunUnits)] {
      #expect(Locales(variables).units == wanted, "\(variables)")
    }
  }

  @Test("Where the locale has no others, characters are plain, and names stay")
  func plain() {
    #expect(Locales.plain("running 3:05 · 0.52 km … – 달리") == "running 3:05 - 0.52 km ... - 달리")
    #expect(!Locales(["LANG": "C"]).hasUnicode && Locales(["LC_CTYPE": "C.utf8", "LANG": "C"]).hasUnicode)
  }
}

@Suite("Columns in Korean")
struct KoreanColumnsTests {
  private static let metrics = RunMetrics(
    elapsed: .seconds(4000), active: .seconds(3723), distanceMeters: 10_250, currentPaceSecondsPerKilometer: 312,
    averagePaceSecondsPerKilometer: 320, heartRateBpm: 152, averageHeartRateBpm: 148, maxHeartRateBpm: 171)

  /// The lines as they are in Korean.
  private func korean(_ lines: () -> [String]) -> [String] { Tongue.$inTask.withValue(.korean) { lines() } }

  /// Checks that a text begins at a column of every line, and that blanks stand before it.
  private func expect(_ lines: [String], beginAt column: Int) {
    for line in lines {
      let label = TextWidth.cut(line, to: column)
      #expect(TextWidth.of(label) == column && label.last == " ", "\(line)")
      #expect(line.dropFirst(label.count).first.map { $0 != " " } == true, "\(line)")
    }
  }

  @Test("Numbers begin in one column behind their names")
  func metrics() {
    let state = korean { MetricsText.table(Self.metrics, goal: "1:30:00", in: .metric, isRunning: false) }
    #expect(state.contains("거리            10.25 km") && state.contains("심박수          152 bpm"))
    expect(state, beginAt: 16)
    expect(korean { MeasureText.table(Self.metrics, in: .metric) }, beginAt: 16)
  }

  @Test("A column begins below its heading, whatever letters it has")
  func table() {
    let lines = Columns.lines(["기기", "상태"], ["페이스", "심박수", "pace"].map { [$0, "연결됨"] })
    expect(lines, beginAt: 8)
    let waiting = korean {
      Sentence.outbox([
        OutboxJSON(
          deviceId: "watch", place: .store, kind: "samples", what: "", receiverDeviceId: nil, id: nil,
          waitingSeconds: 12, tries: 0, count: 3, accepted: false)
      ])
    }
    #expect(waiting.first?.hasPrefix("기기") == true && waiting.last?.contains("측정값 3개") == true, "\(waiting)")
  }

  @Test("Snapshots and verdicts are in the words of the page")
  func sentences() {
    var snapshot = Snapshot.none
    (snapshot.phase, snapshot.metrics) = (.paused, Self.metrics)
    let line = korean { [Sentence.snapshot(snapshot), Sentence.standing(snapshot)] }
    #expect(line[0].hasPrefix("0.0.0 일시 정지 1:06:40 · 운동 1:02:03 · 10.25 km"), "\(line[0])")
    #expect(line[1] == "달리기: 일시 정지 (텀 0, 리비전 0, 틱 0)")
    let verdict = Verdict(
      commandID: CommandID(high: 0, low: 1), kind: .pause, source: .watch, outcome: .applied, runID: nil, term: 1,
      revision: 2, effectiveAt: nil)
    #expect(
      korean { [Sentence.verdict(verdict, phase: .paused, age: nil)] }
        == ["일시 정지: 적용됨; 달리기: 일시 정지 (리비전 2)"])
  }
}
