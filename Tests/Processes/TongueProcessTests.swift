import Foundation
import TestSupport
import Testing

@Suite("The language of a process")
struct TongueProcessTests {
  private static let korea: [String: String?] = ["LC_ALL": "ko_KR.UTF-8", "TERM": "xterm", "NO_COLOR": ""]

  @Test("A pipe is English whatever the locale is, unless the option, the variable or the setting says Korean")
  func pipes() async throws {
    try await withTestBus { bus in
      func records(_ words: String..., environment: [String: String?] = [:]) async throws -> String? {
        let listed = bus.spawn(
          executable: TestBus.busnode, ["measure", Checkout.path("examples/runs/synthetic.gpx")] + words,
          environment: Self.korea.merging(environment) { $1 })
        #expect(try await listed.ending() == .exited(0), "\(listed.view.errors)")
        return listed.view.lines.first
      }
      #expect(try await records() == "elapsed         5:00")
      #expect(try await records("--language", "ko") == "총 시간         5:00")
      #expect(try await records(environment: ["RUNBUS_LANGUAGE": "ko"]) == "총 시간         5:00")
      #expect(try await bus.run("config", "set", "language", "ko").ending == .exited(0))
      #expect(try await records() == "총 시간         5:00")
      #expect(try await records("--language", "en") == "elapsed         5:00")
      let json = try await records("--json")
      #expect(try await records("--json", "--language", "en") == json)
    }
  }

  @Test("What is wrong is said in the language of the option; with --json it stays as it is")
  func errors() async throws {
    try await withTestBus { bus in
      let state = try await bus.run("--language", "ko", "state")
      #expect(state.ending == .exited(69))
      #expect(state.errors.first?.hasPrefix("busnode: 그런 버스가 없습니다: \"") == true, "\(state.errors)")
      let usage = try await bus.run("state", "--language", "ko", "--fild", "x")
      #expect(usage.errors.first == "busnode: 그런 옵션이 없습니다: --fild. 혹시 이것입니까: --field", "\(usage.errors)")
      let json = try await bus.run("state", "--json", "--language", "ko")
      #expect(
        json.errors.first.flatMap { JSONValue(text: $0) }?["error"]?["message"]?.string?.hasPrefix("no bus") == true)
      let unknown = try await bus.run("state", "--language", "fr")
      #expect(unknown.ending == .exited(64))
      #expect(unknown.errors.first == "busnode: 'fr' is not what --language takes: give en or ko", "\(unknown.errors)")
    }
  }

  @Test(
    "On a terminal the locale says Korean, also on a live screen",
    .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
  func terminal() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--synthetic", "--json", "--speed", "10")
      _ = try await phone.snapshot("the first one") { _ in true }
      for (locale, steps) in [
        ("ko_KR.UTF-8", ["see 준비", "key s", "see 달리는 중", "see 적용됨", "key ?", "see 돌아옴", "key  ", "key q", "end"]),
        ("en_US.UTF-8", ["see RUNNING", "see  mi", "key q", "end"]),
      ] {
        let client = bus.spawn(
          executable: Checkout.python, [Clients.directory + "/top.py", TestBus.busnode, "80", "24"] + steps,
          environment: Self.korea.merging(["LC_ALL": locale, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"]) { $1 })
        _ = try await client.ending()
        #expect(client.view.lines.count == steps.count, "\(client.view.lines) \(client.view.errors)")
        #expect(!client.view.lines.contains { $0.contains("\"missing\"") }, "\(client.view.lines)")
      }
    }
  }
}
