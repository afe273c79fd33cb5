import Foundation
import RunBus
import TestSupport
import Testing

@Suite("busnode top on a terminal", .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
struct TopTests {
  /// What a step of `Clients/top.py` found.
  private struct Step: Decodable {
    var step: String?
    var missing: String?
    var screen: String?
    var ended: Int?
    var alternate: Bool?
    var wide: Int?
    var ascii: Bool?
    var colors: Bool?
    var restored: Bool?
  }

  /// Runs steps on a terminal of its own; the first one that is not reached fails the test.
  private func run(
    _ bus: TestBus, _ columns: Int, _ rows: Int,
    environment: [String: String] = ["LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": ""],
    _ steps: [String], line: SourceLocation = #_sourceLocation
  ) async throws -> [Step] {
    let client = bus.spawn(
      executable: Checkout.python, [Clients.directory + "/top.py", TestBus.busnode, "\(columns)", "\(rows)"] + steps,
      environment: environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 })
    _ = try await client.ending()
    let found = client.view.lines.compactMap { try? JSONDecoder().decode(Step.self, from: Data($0.utf8)) }
    let missing = found.first { $0.missing != nil }
    #expect(missing == nil, "\(missing?.missing ?? ""):\n\(missing?.screen ?? "")", sourceLocation: line)
    #expect(found.count == steps.count, "\(client.view.lines) \(client.view.errors)", sourceLocation: line)
    return found
  }

  private func phone(_ bus: TestBus) async throws -> NodeProcess {
    let phone = bus.spawn("phone", "--synthetic", "--json", "--speed", "10")
    _ = try await phone.snapshot("the first one") { _ in true }
    return phone
  }

  @Test(
    "Keys press, verdicts come in words, and the terminal is given back",
    arguments: [[60, 20], [80, 24], [120, 40], [200, 50]])
  func keys(size: [Int]) async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus)
      let steps = try await run(
        bus, size[0], size[1],
        [
          "see IDLE", "key s", "see RUNNING", "see start was applied", "see km", "key p", "see PAUSED", "key x",
          "see COMPLETED", "key p",
          "see rejected", "key ?", "see Ctrl-Z", "key  ", "not Ctrl-Z", "key \\t", "see presses as phone",
          "key \\x1b[200~s\\x1b[201~", "size 80 30", "see COMPLETED", "size 50 12", "see COMPLETED", "key q", "end",
        ])
      #expect(steps.allSatisfy { $0.wide ?? 0 <= max(size[0], 80) })
      let last = try #require(steps.last)
      #expect(last.ended == 0 && last.alternate == false && last.restored == true)
      #expect(steps.dropLast().last?.colors == true && steps.first?.alternate == true)
      try await phone.shows("completed", revision: 3)
    }
  }

  @Test("SIGTERM gives the terminal back; a phone that is killed is missed in words")
  func signals() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus)
      async let steps = run(bus, 80, 24, ["see IDLE", "key s", "see RUNNING", "see ! ", "term", "end"])
      try await phone.shows("running", revision: 1)
      phone.signal(SIGKILL)
      let last = try #require(try await steps.last)
      #expect(last.ended == 0 && last.alternate == false && last.restored == true)
    }
  }

  @Test("NO_COLOR writes no colour, and a locale without UTF-8 plain characters only")
  func plain() async throws {
    try await withTestBus { bus in
      _ = try await phone(bus)
      let environment = ["LC_ALL": "C", "TERM": "xterm", "NO_COLOR": "1"]
      let steps = try await run(
        bus, 80, 24, environment: environment, ["see IDLE", "key s", "see RUNNING", "see km", "key q", "end"])
      #expect(steps.allSatisfy { $0.colors == false && $0.ascii == true })
    }
  }

  @Test("With TERM=dumb, and without a terminal, there are lines")
  func lines() async throws {
    try await withTestBus { bus in
      _ = try await phone(bus)
      let steps = try await run(
        bus, 80, 24, environment: ["TERM": "dumb", "LC_ALL": "C.UTF-8"], ["raw idle", "term", "end"])
      #expect(steps.allSatisfy { $0.alternate == false })
      let piped = bus.spawn("top")
      try await piped.wait(for: "a line") { $0.lines.first { $0.contains("idle") } }
      piped.signal(SIGINT)
      _ = try await piped.ending()
    }
  }
}
