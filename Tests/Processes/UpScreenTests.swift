import Foundation
import RunBus
import Testing
import TestSupport

@testable import busnode

@Suite("The screen of up", .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
struct UpScreenTests {
  private static let script = Checkout.path("Tests/Processes/Clients/terminal.py")

  private func terminal(_ bus: TestBus, _ columns: Int, _ rows: Int, _ arguments: [String]) -> NodeProcess {
    bus.spawn(
      executable: Checkout.python, [Self.script, "\(columns)", "\(rows)", TestBus.busnode] + arguments,
      environment: ["PYTHONDONTWRITEBYTECODE": "1", "TERM": "xterm", "LC_ALL": "C.UTF-8"])
  }

  /// Waits for a screen that shows texts, at a size, with no line too long.
  @discardableResult
  private func screen(
    of terminal: NodeProcess, _ columns: Int, _ rows: Int, shows texts: String..., from index: Int = 0
  ) async throws -> [String] {
    let shown = try await terminal.event("\(texts) at \(columns)x\(rows)", from: index) { shown in
      guard let lines = shown["screen"]?.array?.compactMap(\.string), shown["columns"]?.int == columns,
        shown["rows"]?.int == rows, shown["scrolled"]?.int == 0
      else { return false }
      let all = lines.joined(separator: "\n")
      return texts.allSatisfy { all.contains($0) } && lines.allSatisfy { TextWidth.of($0) <= columns }
    }
    return shown["screen"]?.array?.compactMap(\.string) ?? []
  }

  // Once broken: `up` scrolled its table away on terminals narrower than 126 columns or lower than seven rows, because
  // the lines had a fixed length.
  @Test("It stays in place at four sizes and after every resize, and Ctrl-C gives the terminal back with a summary")
  func sizes() async throws {
    try await withTestBus { bus in
      let terminal = terminal(bus, 60, 20, ["up", "--synthetic", "--duration", "600"])
      var index = 0
      for (columns, rows) in [(60, 20), (80, 24), (120, 40), (200, 50), (60, 20)] {
        if index > 0 { terminal.write("resize \(columns) \(rows)") }
        try await screen(
          of: terminal, columns, rows, shows: "RUNNING", "phone", "watch", "widget", " ? ", from: index)
        index = terminal.view.json.count
      }
      terminal.write("type ^C")
      let end = try await terminal.event("its end") { $0["exited"] != nil }
      #expect(end["exited"]?.int == 130)
      _ = try await terminal.ending()
      try await nothingIsLeft(of: bus)
    }
  }

  @Test("Keys press on one node and on all three, take a node offline and back, kill and restart it")
  func keys() async throws {
    try await withTestBus { bus in
      let terminal = terminal(bus, 120, 40, ["up"])
      // The first screen comes before the nodes are ready: the press waits in its node.
      try await screen(of: terminal, 120, 40, shows: "IDLE")
      terminal.write("type 2s")
      try await screen(of: terminal, 120, 40, shows: "RUNNING", "start was applied", "presses as watch")
      terminal.write("type a")
      try await screen(of: terminal, 120, 40, shows: "PAUSED", "pause was already asked for: it counts once")
      terminal.write("type o")
      try await screen(of: terminal, 120, 40, shows: ">watch         offline")
      terminal.write("type r")
      try await screen(of: terminal, 120, 40, shows: "resume waits for the phone", "o online")
      terminal.write("type o")
      try await screen(of: terminal, 120, 40, shows: "RUNNING", "resume was applied")
      terminal.write("type 1k")
      try await screen(of: terminal, 120, 40, shows: "dead")
      terminal.write("type n")
      var index = terminal.view.json.count
      try await screen(of: terminal, 120, 40, shows: "RUNNING", from: index)
      index = terminal.view.json.count
      terminal.write("type x")
      try await screen(of: terminal, 120, 40, shows: "RUNNING", "press x again", from: index)
      terminal.write("type x")
      try await screen(of: terminal, 120, 40, shows: "COMPLETED", from: index)
      terminal.write("type q")
      let end = try await terminal.event("its end") { $0["exited"] != nil }
      #expect(end["exited"]?.int == 0)
      _ = try await terminal.ending()
    }
  }

  @Test("When its terminal is closed up ends its nodes and leaves nothing behind")
  func hangup() async throws {
    try await withTestBus { bus in
      let terminal = terminal(bus, 80, 24, ["up", "--synthetic", "--duration", "600"])
      try await screen(of: terminal, 80, 24, shows: "RUNNING")
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
