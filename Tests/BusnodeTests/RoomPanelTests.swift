import RunBus
import RunScripts
import Testing

@testable import busnode

@Suite("The room on the live screen")
struct RoomPanelTests {
  private static let sizes = [
    Screen(columns: 60, rows: 20), Screen(columns: 80, rows: 24), Screen(columns: 120, rows: 40),
    Screen(columns: 200, rows: 50),
  ]

  private static func member(
    _ number: Int, _ name: String, isReady: Bool = false, isHere: Bool = false, _ standing: RoomView.Standing? = nil,
    _ finish: RoomView.Finish? = nil
  ) -> RoomView.Member {
    RoomView.Member(
      id: "\(number)000", nickname: name, level: number, isSelf: number == 2, isOwner: number == 1, isReady: isReady,
      isHere: isHere, standing: standing, finish: finish)
  }

  private static func view(
    _ stage: RoomView.Stage, _ gate: RoomView.Gate? = nil, members: [RoomView.Member]? = nil,
    _ change: (inout RoomView) -> Void = { _ in }
  ) -> RoomView {
    var view = RoomView(
      order: RoomView.Order(term: 1, number: 1), room: "32d9626b000000000000000000000000", goal: .seconds(1800),
      places: 4, stage: stage, gate: gate,
      members: members ?? [member(1, "Anna", isReady: true, isHere: true), member(2, "Ben"), member(3, "mira")])
    change(&view)
    return view
  }

  private static let running = view(
    .running,
    members: [
      member(
        1, "Anna",
        RoomView.Standing(
          place: 2, meters: 753.7, metersBehind: 17.5, paceSecondsPerKilometer: 320, phase: .running, age: .seconds(1),
          isStale: false)),
      member(
        2, "Ben",
        RoomView.Standing(
          place: 1, meters: 771.2, paceSecondsPerKilometer: 312, phase: .running, age: .seconds(1), isStale: false)),
      member(
        3, "mira",
        RoomView.Standing(
          place: 3, meters: 700, metersBehind: 53.7, phase: .running, age: .seconds(12), isStale: true)),
    ])

  private func state(_ view: RoomView?, _ change: (inout ScreenState) -> Void = { _ in }) -> ScreenState {
    var state = ScreenState(bus: "demo", source: .shell)
    state.add(
      Snapshot(
        order: SnapshotOrder(term: 1, revision: 1, tick: 2), phase: .running, runID: RunID(high: 0, low: 1),
        changedBy: nil, startedAt: .zero, capturedAt: .zero, metrics: RunMetrics(elapsed: .seconds(60))))
    state.predicted = .running
    state.isReachable = true
    state.devices = ["watch", "widget", "tablet"].map {
      ScreenState.Device(name: $0, isHere: true, roundTrip: .milliseconds(2), waiting: 0, ageSeconds: 1)
    }
    state.room = view
    change(&state)
    return state
  }

  private func rows(_ state: ScreenState, _ columns: Int = 80, _ rows: Int = 24) -> [String] {
    let screen = RunScreen.rows(state, on: Screen(columns: columns, rows: rows))
    #expect(screen.count == rows && screen.allSatisfy { $0.width <= columns })
    return screen.map(\.text)
  }

  private func text(_ view: RoomView, _ change: (inout ScreenState) -> Void = { _ in }) -> String {
    rows(state(view, change)).joined(separator: "\n")
  }

  @Test("The gate is in words, with who is missing and how far the runner is from the start")
  func gate() {
    let recruiting = text(Self.view(.recruiting, .notReady) { $0.startLabel = "Olympic Park" })
    for fact in [
      "ROOM 32d9626b  recruiting  3 of 4  goal 30:00  start Olympic Park", "waits for: you, mira (not ready)",
      "Anna    ready      level 1  owner", "Ben     not ready  level 2  you", "mira    not ready  level 3",
    ] {
      #expect(recruiting.contains(fact), "\(fact) in \(recruiting)")
    }
    let gathering = text(Self.view(.gathering, .notHere) { $0.metersToStart = 340 })
    #expect(gathering.contains("waits for: you, mira (not at the start); you are 340 m from the start"))
    #expect(gathering.contains("Anna    at the start"))
    #expect(text(Self.view(.recruiting, .tooFew)).contains("waits for: another runner"))
    #expect(text(Self.view(.recruiting, .open)).contains("all is ready: its owner begins it"))
    let owner = Self.view(.gathering, .open) { $0.members[1].isOwner = true }
    #expect(text(owner).contains("all are at the start: proceed"))
  }

  @Test("The countdown is rounded up, so that it ends with 1")
  func countdown() {
    func text(_ startsIn: BusDuration?) -> String { self.text(Self.view(.countdown) { $0.startsIn = startsIn }) }
    #expect(text(.milliseconds(4001)).contains("starts in 5 s") && text(.seconds(4)).contains("starts in 4 s"))
    #expect(text(.milliseconds(1)).contains("starts in 1 s") && text(.zero).contains("starts now"))
    #expect(text(nil).contains("  countdown"))
  }

  @Test("The standings are in order, and one that is old says so")
  func standings() {
    let shown = rows(state(Self.running))
    let begin = shown.firstIndex { $0.contains("ROOM 32d9626b  running  3 runners  goal 30:00") } ?? 0
    #expect(
      Array(shown[(begin + 1)...(begin + 3)]) == [
        " 1. Ben     0.77 km  ahead        5:12 /km            you    ",
        " 2. Anna    0.75 km  18 m behind  5:20 /km            owner  ",
        " 3. mira    0.70 km  54 m behind  -         12 s old         ",
      ])
    #expect(text(Self.running) { $0.isReachable = false }.contains("as it was when the phone was last heard"))
    #expect(text(Self.running) { $0.units = .imperial }.contains("57 ft behind"))
  }

  @Test("The result says how settled it is and what it rests on")
  func result() {
    let view = Self.view(
      .settling,
      members: [
        Self.member(1, "Anna", nil, RoomView.Finish(place: 2, meters: 753.74, isConfirmed: true, outcome: .lost)),
        Self.member(2, "Ben", nil, RoomView.Finish(place: 1, meters: 771.2, isConfirmed: true, outcome: .won)),
        Self.member(3, "mira", nil, RoomView.Finish(place: 3, meters: 700, isConfirmed: false, outcome: nil)),
        Self.member(4, "mira", nil, RoomView.Finish(place: 4, meters: nil, isConfirmed: false, outcome: nil)),
      ]
    ) { ($0.settled, $0.isProvisional, $0.isLost) = (.provisional, true, true) }
    let shown = text(view)
    for fact in [
      "settling, result provisional", "the log has lost this room; by the clock; the log does not say so yet",
      "1. Ben          771.2 m                won", "2. Anna         753.7 m                lost",
      "3. mira (3000)  700.0 m (unconfirmed)", "4. mira (4000)  distance unknown",
    ] {
      #expect(shown.contains(fact), "\(fact) in \(shown)")
    }
    #expect(text(Self.view(.cancelled) { $0.members[1].isSelf = false }).contains("you have no place in it"))
  }

  @Test("A cue is a line of its own")
  func cues() {
    func text(_ kind: RoomCue.Kind, _ nickname: String? = nil) -> String {
      self.text(Self.running) { $0.cue = RoomCue(room: "32d9626b", kind: kind, nickname: nickname) }
    }
    #expect(text(.overtaken, "mira").contains("mira is ahead of you now") && text(.won).contains("you have won"))
    #expect(text(.overtaken, "m\u{1B}[2J").contains("m\\u{1B}[2J is ahead"))
    #expect(Set(RoomCue.Kind.allCases.map { RoomViewText.sentence(RoomCue(room: "", kind: $0)) }).count == 6)
  }

  // Once broken: beside the gate of a new room stood COMPLETED and the clock of the run before.
  @Test("While the runner waits in a room the run before is the last one")
  func lastRun() {
    func completed(_ state: inout ScreenState) {
      state.add(
        Snapshot(
          order: SnapshotOrder(term: 1, revision: 2, tick: 3), phase: .completed, runID: RunID(high: 0, low: 1),
          changedBy: nil, startedAt: .zero, capturedAt: .zero, metrics: RunMetrics(elapsed: .seconds(60))))
      state.predicted = .completed
    }
    let waiting = text(Self.view(.recruiting, .notReady), completed)
    #expect(waiting.contains("LAST RUN") && !waiting.contains("COMPLETED"))
    #expect(text(Self.view(.settling), completed).contains("COMPLETED"))
    #expect(text(Self.view(.recruiting) { $0.members[1].isSelf = false }, completed).contains("COMPLETED"))
  }

  @Test("A search for another runner says so")
  func search() {
    let alone = Self.view(.recruiting, .tooFew, members: [Self.member(2, "Ben")]) { $0.isMatched = true }
    #expect(text(alone).contains("ROOM 32d9626b  search  1 of 4"))
    #expect(text(Self.view(.recruiting, .notReady) { $0.isMatched = true }).contains("recruiting"))
    #expect(RoomViewText.stage(Self.view(.cancelled) { $0.isMatched = true }) == "cancelled (a search)")
  }

  @Test("Without a room the screen is as it was, and with one it overflows nowhere", arguments: sizes)
  func fits(screen: Screen) {
    let (columns, count) = (screen.columns, screen.rows)
    let without = rows(state(nil), columns, count)
    #expect(!without.contains { $0.contains("ROOM") })
    let crowd = Self.view(
      .running, members: (1...32).map { Self.member($0, "러너 \($0) 아주 긴 이름입니다", RoomView.Standing(place: $0)) })
    for view in [Self.running, Self.view(.gathering, .notHere), crowd] {
      for hasUnicode in [true, false] {
        let shown = rows(state(view) { $0.hasUnicode = hasUnicode }, columns, count)
        for fact in ["ROOM", "RUNNING", "DEVICE", "watch", "COMMANDS"] {
          #expect(shown.contains { $0.contains(fact) }, "\(fact) at \(screen)")
        }
      }
    }
    let shown = rows(state(crowd), columns, count).filter { $0.contains(".") && $0.contains("러너") }.count
    let heading = rows(state(crowd), columns, count).first { $0.contains("ROOM") } ?? ""
    #expect(shown == 0 || heading.contains("+\(32 - shown) more"), "\(heading), \(shown) shown")
  }

  @Test("On a small terminal the panel gives way first: one row says the most important")
  func small() {
    let shown = rows(state(Self.running), 40, 15)
    #expect(shown.contains { $0.hasPrefix(" ROOM running  1 of 3") } && !shown.contains { $0.contains("mira") })
    #expect(shown.contains { $0.contains("watch") })
    let countdown = Self.view(.countdown) { $0.startsIn = .seconds(4) }
    #expect(rows(state(countdown), 40, 15).contains { $0.hasPrefix(" ROOM starts in 4 s") })
    #expect(rows(state(Self.view(.recruiting, .notReady)), 40, 15).contains { $0.contains("waits for: you, mira") })
    let least = rows(state(Self.running), 40, 10)
    #expect(
      !least.contains { $0.contains("ROOM") } && least.contains { $0.contains("DEVICE") || $0.contains("devices") })
  }

  @Test("monitor says a room and a cue in a line each")
  func lines() {
    func sentence(_ event: BusEvent) -> String { EventJSON(event).map { Sentence.event($0) } ?? "" }
    #expect(
      sentence(.room(Self.running))
        == "room 32d9626b: running · goal 30:00 · 3 runners · 1. Ben 0.77 km · 2. Anna 0.75 km, 18 m behind · "
        + "3. mira 0.70 km, 54 m behind, 12 s old")
    #expect(
      sentence(.room(Self.view(.recruiting, .notReady)))
        == "room 32d9626b: recruiting · goal 30:00 · 3 of 4 · waits for: you, mira (not ready)")
    #expect(sentence(.cue(RoomCue(room: "32d9626b00", kind: .lost))) == "room 32d9626b: you have lost")
  }
}
