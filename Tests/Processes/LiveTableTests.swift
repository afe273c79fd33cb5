import Foundation
import RunBus
import Testing
import TestSupport

@testable import busnode

@Suite("The table of up")
struct LiveTableTests {
  private static let rows: [(SpawnedNode, LiveTable.Row)] = SpawnedNode.allCases.map { node in
    var row = LiveTable.Row()
    row.link = "up"
    row.verdict = "resume superseded"
    row.button = .completed
    return (node, row)
  }

  /// The drawn lines, without the control sequences.
  private func draw(_ table: inout LiveTable, columns: Int, rows: Int = 24) -> [String] {
    let text = table.draw(
      Self.rows, note: "busnode monitor --bus up-1234567", on: Screen(columns: columns, rows: rows), now: .now)
    return text.split(separator: "\r").dropFirst(text.hasPrefix("\r") ? 0 : 1).map {
      String($0.replacing("\u{1B}[K\n", with: ""))
    }
  }

  @Test("On a narrow terminal columns are left out in the stated order; node and phase always stay")
  func columns() {
    var widths: [Int] = []
    var before = LiveTable.Column.fitting(200)
    #expect(before == LiveTable.Column.allCases)
    var dropped: [LiveTable.Column] = []
    for width in stride(from: 200, through: 1, by: -1) {
      let columns = LiveTable.Column.fitting(width)
      dropped += before.filter { !columns.contains($0) }
      if columns.count < before.count { widths.append(width + 1) }
      before = columns
    }
    #expect(dropped == LiveTable.Column.droppable)
    #expect(before == [.node, .phase])
    #expect(widths.first == 115)
  }

  @Test("On a terminal of any size no line is too long and none too many", arguments: [1, 20, 60, 80, 100, 120, 160])
  func sizes(width: Int) {
    for height in 1...8 {
      var table = LiveTable()
      let lines = draw(&table, columns: width, rows: height)
      #expect(lines.count == min(5, max(1, height - 1)))
      #expect(lines.allSatisfy { $0.count <= max(1, width - 1) }, "\(lines)")
    }
  }

  @Test("On a low terminal the note goes first, then the heading, then the last nodes")
  func low() {
    func firstWords(_ rows: Int) -> [String] {
      var table = LiveTable()
      return draw(&table, columns: 80, rows: rows).compactMap { $0.split(separator: " ").first.map(String.init) }
    }
    #expect(firstWords(6) == ["node", "phone", "watch", "widget", "busnode"])
    #expect(firstWords(5) == ["node", "phone", "watch", "widget"])
    #expect(firstWords(4) == ["phone", "watch", "widget"])
    #expect(firstWords(3) == ["phone", "watch"])
    #expect(firstWords(1) == ["phone"])
  }

  @Test("The table is drawn over itself, and again at the top after a change of the size")
  func redrawing() {
    var table = LiveTable()
    func begin(_ columns: Int) -> String {
      let text = table.draw(Self.rows, note: "", on: Screen(columns: columns, rows: 24), now: .now)
      return String(text.prefix { $0 != "\r" })
    }
    #expect(begin(80) == "")
    #expect(begin(80) == "\u{1B}[5A")
    #expect(begin(60) == "\u{1B}[H\u{1B}[2J")
    #expect(begin(60) == "\u{1B}[5A")
  }

  private static let script = Checkout.path("Tests/Processes/Clients/terminal.py")

  private func terminal(_ bus: TestBus, _ columns: Int, _ rows: Int, _ arguments: [String]) -> NodeProcess {
    bus.spawn(
      executable: Checkout.python, [Self.script, "\(columns)", "\(rows)", TestBus.busnode] + arguments,
      environment: ["PYTHONDONTWRITEBYTECODE": "1", "TERM": "xterm"])
  }

  /// Waits for a screen of a size that shows the whole table and nothing else, during a run.
  private func screen(of terminal: NodeProcess, _ columns: Int, _ rows: Int, from index: Int) async throws -> [String] {
    let shown = try await terminal.event("the table on \(columns)x\(rows)", from: index) { shown in
      guard let lines = shown["screen"]?.array?.compactMap(\.string), shown["columns"]?.int == columns,
        shown["rows"]?.int == rows, shown["scrolled"]?.int == 0
      else { return false }
      let nodes = lines.filter { line in SpawnedNode.allCases.contains { line.hasPrefix($0.rawValue) } }
      return nodes.count == 3 && nodes.allSatisfy { $0.contains("running") && $0.count < columns }
        && lines.filter { !$0.isEmpty }.count == min(5, rows - 1)
    }
    return shown["screen"]?.array?.compactMap(\.string) ?? []
  }

  @Test(
    "On a real terminal the table stays in place at 60 to 160 columns and on four rows, after every resize",
    .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
  func terminal() async throws {
    try await withTestBus { bus in
      let terminal = terminal(bus, 60, 24, ["up", "--synthetic", "--duration", "600"])
      let headings = [
        60: "node phase elapsed distance last verdict",
        80: "node link t.rev.tick phase elapsed distance last verdict",
        100: "node link t.rev.tick phase elapsed distance button last verdict",
        120: "node link t.rev.tick phase elapsed distance pace heart age button last verdict",
        160: "node link t.rev.tick phase elapsed distance pace heart age button last verdict",
      ]
      var index = 0
      for (columns, rows) in [(60, 24), (80, 24), (100, 24), (120, 24), (160, 24), (60, 24), (80, 4), (160, 6)] {
        if index > 0 { terminal.write("resize \(columns) \(rows)") }
        let lines = try await screen(of: terminal, columns, rows, from: index)
        if rows >= 5 {
          let words = lines.first?.split(separator: " ").joined(separator: " ")
          #expect(words == headings[columns], "\(lines)")
        }
        index = terminal.view.json.count
      }
      terminal.write("type ^C")
      let end = try await terminal.event("its end") { $0["exited"] != nil }
      #expect(end["exited"]?.int == 130)
      _ = try await terminal.ending()
      try await nothingIsLeft(of: bus)
    }
  }

  @Test(
    "When its terminal is closed up ends its nodes and leaves nothing behind",
    .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
  func hangup() async throws {
    try await withTestBus { bus in
      let terminal = terminal(bus, 80, 24, ["up", "--synthetic", "--duration", "600"])
      _ = try await screen(of: terminal, 80, 24, from: 0)
      terminal.write("hangup")
      let end = try await terminal.event("its end") { $0["exited"] != nil }
      #expect(end["exited"]?.int == 130)
      _ = try await terminal.ending()
      try await nothingIsLeft(of: bus)
    }
  }

  /// Checks that no node runs, and that only the directories are left that were there before.
  private func nothingIsLeft(of bus: TestBus) async throws {
    let left = FileManager.default.enumerator(atPath: bus.directory)?.compactMap { $0 as? String } ?? []
    #expect(Set(left).isSubset(of: ["run", "run/runbus"]), "\(left)")
  }
}
