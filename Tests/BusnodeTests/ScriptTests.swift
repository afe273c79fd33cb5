import Foundation
import RunBus
import RunScripts
import TestSupport
import Testing

@Suite("Scripts for up")
struct ScriptTests {
  @Test("A script is read in order of time, without comments and blank lines")
  func order() throws {
    let script = try Script(
      "# a run\n\nat 12s watch pause # now\nat 1m30s phone kill\nat 5 phone start\n", file: "a.run")
    #expect(script.steps.map(\.line) == [5, 3, 4])
    #expect(script.steps.map(\.time) == [.seconds(5), .seconds(12), .seconds(90)])
    #expect(script.steps.map(\.action) == [.order(.press(.start, at: nil)), .order(.press(.pause, at: nil)), .kill])
  }

  @Test("Steps of one moment stay in the order in which they are written")
  func ties() throws {
    let script = try Script("at 1s widget pause\nat 1s phone pause\nat 1s watch pause", file: "a.run")
    #expect(script.steps.map(\.node) == [.widget, .phone, .watch])
  }

  @Test(
    "A bad line is named with its file, its number and what is wrong",
    arguments: [
      ("on 1s phone start", "begins with \"at\""), ("at 1s phone", "which node, and what"),
      ("at soon phone start", "\"soon\" is not a time"), ("at -1s phone start", "\"-1s\" is not a time"),
      ("at 1s tablet start", "\"tablet\" is not one of phone, watch, widget"),
      ("at 1s phone jump", "\"jump\" is not one of start"),
      ("at 1s phone offline 0s", "\"0s\" is not a time"), ("at 1s phone kill now", "\"kill\""),
      ("at 1s phone start goal", "write start goal 30m"), ("at 1s phone start goal 25h", "at most 24 hours"),
      ("at 1s phone start goal 30m now", "write start goal 30m"),
      ("at 1s phone pause goal 30m", "does not belong after \"pause\""),
      ("at 1s phone pause 3", "\"3\" does not belong after \"pause\""),
      ("until", "FIELD OP VALUE"), ("until phas == paused", "did you mean phase"), ("expect phase = paused", "'='"),
      ("until phase == paused within", "within TIME"), ("until phase == paused within soon", "within TIME"),
      ("shell", "say which command"), ("at 1s shell # nothing", "say which command"),
      ("phone:", "which node, and what"),
      ("tablet: start", "\"tablet\" is not one of phone, watch, widget"),
    ])
  func badLine(line: String, what: String) {
    let error = #expect(throws: TextError.self) { try Script("at 0s phone start\n\(line)\n", file: "my.run") }
    #expect(error?.message.hasPrefix("my.run:2: ") == true)
    #expect(error?.message.contains(what) == true, "\(error?.message ?? "")")
  }

  @Test("A script cannot press a button of a killed device before it restarts it")
  func theDead() throws {
    _ = try Script("at 1s watch kill\nat 2s watch restart\nat 3s watch pause", file: "a.run")
    let error = #expect(throws: TextError.self) {
      try Script("at 3s watch pause\nat 1s watch kill", file: "a.run")
    }
    #expect(error?.message == "a.run:1: the watch is dead then (killed on line 2)")
  }

  @Test(
    "Times are read as people write them",
    arguments: [
      ("90", 90.0), ("12s", 12), ("1m30s", 90), ("1:30", 90), ("1:02:03", 3723), ("1h", 3600), ("500ms", 0.5),
      ("1.5s", 1.5), ("4m", 240),
    ])
  func times(text: String, seconds: Double) { #expect(DurationText.parse(text) == BusDuration(seconds: seconds)) }

  @Test("A wrong time is refused", arguments: ["", "s", "1x", "1:60", "1s1m", "nan", "1e3", "-1", "1:2:3:4", "1..2"])
  func noTimes(text: String) { #expect(DurationText.parse(text) == nil) }

  @Test(
    "A written order reads back the same",
    arguments: [
      NodeOrder.press(.start, at: nil), .press(.pause, at: BusDuration(nanoseconds: 123_400_000_001)), .offline(nil),
      .offline(.seconds(30)), .online, .start(RunGoal(time: .milliseconds(1_800_250))!),
    ])
  func orders(order: NodeOrder) throws { #expect(try NodeOrder.parse(line: order.line) == order) }

  @Test("demo.run is a script that can be played, with presses from all three")
  func demo() throws {
    let text = try String(contentsOf: Checkout.root.appending(path: "examples/scripts/demo.run"), encoding: .utf8)
    let script = try Script(text, file: "demo.run")
    #expect(Set(script.steps.compactMap(\.node)) == Set(UpDevices.usual.nodes))
  }

  @Test("A line without a time has that of the line above it, and names its node with a colon")
  func noTime() throws {
    let script = try Script("phone: start\nat 5s watch pause\nwidget: resume # now\nat 2s phone lap", file: "a.run")
    #expect(script.steps.map(\.time) == [.zero, .seconds(2), .seconds(5), .seconds(5)])
    #expect(script.steps.map(\.node) == [.phone, .phone, .watch, .widget])
  }

  @Test("A script waits, asserts and calls a command, which is taken as it is written")
  func steps() throws {
    let script = try Script(
      """
      at 1s watch start
      until phase == running within 5s   # at most
      until distance > 1 km
      expect phase == running && lapCount == 0
      at 9s shell  echo "# $RUNBUS_BUS" | cat   # a comment of the shell
      """, file: "a.run")
    let running = try StateCondition("phase == running")
    #expect(
      script.steps.dropFirst().map(\.action) == [
        .until(running, within: .seconds(5)), .until(try StateCondition("distance > 1 km"), within: nil),
        .expect(try StateCondition("phase == running && lapCount == 0")),
        .shell("echo \"# $RUNBUS_BUS\" | cat   # a comment of the shell"),
      ])
    #expect(script.steps.map(\.time) == [1, 1, 1, 1, 9].map { .seconds($0) })
    #expect(script.steps.dropFirst().allSatisfy { $0.node == nil })
  }

  @Test("The names of a script are those of its devices")
  func names() throws {
    let devices = UpDevices(watches: 2, shells: 1)
    let script = try Script("at 1s watch-2 start\nshell-1: pause", file: "a.run", devices: devices)
    #expect(script.steps.map { $0.node?.rawValue } == ["watch-2", "shell-1"])
    let error = #expect(throws: TextError.self) { try Script("watch: start", file: "a.run", devices: devices) }
    #expect(error?.message == "a.run:1: \"watch\" is not one of phone, watch-1, watch-2, widget, shell-1")
  }
}
