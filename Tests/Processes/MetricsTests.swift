import Foundation
import SystemC
import Testing
import TestSupport

@Suite("What operators read of a phone and a page")
struct MetricsTests {
  /// The status and the body of an answer.
  private func get(_ url: String) throws -> (status: Int, body: String) {
    let parts = try #require(URLComponents(string: url))
    let port = try #require(parts.port.flatMap { UInt16(exactly: $0) })
    let answer = try #require(Loopback.ask("GET \(parts.path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", at: port))
    let halves = answer.components(separatedBy: "\r\n\r\n")
    let status = try #require(answer.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    return (status, halves.dropFirst().joined(separator: "\r\n\r\n"))
  }

  /// Waits until the metrics of a node have a line.
  private func metrics(of node: NodeProcess) async throws -> String {
    try await node.wait(for: "the address of its metrics") { view in
      view.errors.lazy.compactMap { line in line.range(of: "http://").map { String(line[$0.lowerBound...]) } }.first
    }
  }

  @Test("A phone counts presses by verdict and says how its devices stand; nothing tells where or how fast")
  func phone() async throws {
    try await withTrio(.ipc) { trio in
      let (phone, watch, _) = try await trio.start(phone: ["--metrics", "127.0.0.1:0"])
      let url = try await metrics(of: phone)
      phone.write("start")
      try await watch.shows("running", revision: 1)
      phone.write("start")
      try await phone.event("the second verdict") { line in
        line["event"]?.string == "verdict" && line["receipt"]?.string == "coalesced"
      }
      let (status, text) = try get(url)
      #expect(status == 200)
      let lines = Set(text.split(separator: "\n").map(String.init))
      for line in [
        "runbus_up 1", "runbus_verdicts_total{outcome=\"applied\"} 1", "runbus_verdicts_total{outcome=\"coalesced\"} 1",
        "runbus_transitions_total{phase=\"running\"} 1", "runbus_store_held_up 0",
        "runbus_device_reachable{device=\"watch\",role=\"watch\"} 1",
      ] { #expect(lines.contains(line), "\(line) is missing in\n\(text)") }
      for name in ["retransmissions", "duplicates"] {
        #expect(lines.contains { $0.hasPrefix("runbus_\(name)_total ") }, "\(name) is missing in\n\(text)")
      }
      #expect(lines.contains { $0.hasPrefix("runbus_store_bytes{file=\"node.sqlite\"} ") }, "\(text)")
      let count = lines.first { $0.hasPrefix("runbus_commit_seconds_count ") }
      #expect(count.flatMap { Int($0.split(separator: " ")[1]) } ?? 0 > 0)
      for word in ["latitude", "longitude", "distance", "pace", "heart", "speed", "elapsed"] {
        #expect(!text.lowercased().contains(word), "\(word)")
      }
      try checkPage(text)

      let health = try get(url.replacingOccurrences(of: "/metrics", with: "/healthz"))
      #expect(health.status == 200 && health.body == "ok\n")
      #expect(try get(url.replacingOccurrences(of: "/metrics", with: "/")).status == 404)
    }
  }

  @Test("A page says by /healthz that its phone is out of reach")
  func page() async throws {
    try await withTrio(.ipc) { trio in
      let (phone, _, _) = try await trio.start()
      let web = trio.adopt(
        trio.bus.spawn(executable: TestBus.busnode, ["web", "--http", "127.0.0.1:0", "--json"] + trio.place))
      let link = try await web.event("its link") { $0["event"]?.string == "web" }
      let parts = try #require(link["url"]?.string.flatMap { URLComponents(string: $0) })
      let url = "http://127.0.0.1:\(try #require(parts.port))"
      try await lookFor("the phone in reach") { try get(url + "/healthz").status == 200 }
      try checkPage(try get(url + "/metrics").body)
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
      try await lookFor("the phone out of reach") {
        let health = try get(url + "/healthz")
        return health.status == 503 && health.body.hasPrefix("the hub is out of reach")
      }
      #expect(try get(url + "/metrics").body.contains("\nrunbus_hub_reachable 0\n"))
    }
  }

  /// promtool, which Debian has in its package prometheus; `nil` where it is not installed.
  private static let checker = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/promtool" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  @Test("promtool finds nothing to say about /metrics", .enabled("needs promtool") { checker != nil })
  func promtool() async throws {
    try await withTrio(.ipc) { trio in
      let (phone, watch, _) = try await trio.start(phone: ["--metrics", "127.0.0.1:0"])
      let url = try await metrics(of: phone)
      phone.write("start")
      try await watch.shows("running", revision: 1)
      let check = trio.bus.spawn(executable: try #require(Self.checker), ["check", "metrics"])
      check.write(try get(url).body)
      check.closeInput()
      #expect(try await check.ending() == .exited(0), "\(check.view.lines) \(check.view.errors)")
      #expect(check.view.lines.isEmpty && check.view.errors.isEmpty, "\(check.view.lines) \(check.view.errors)")
    }
  }

  /// A text keeps the rules of Prometheus, and each metric of it is on the page for operators.
  private func checkPage(_ text: String) throws {
    #expect(PrometheusFormat.faults(in: text) == [])
    let page = try String(contentsOfFile: Checkout.path("docs/operating.md"), encoding: .utf8)
    for line in text.split(separator: "\n") where line.hasPrefix("# TYPE ") {
      let name = line.split(separator: " ")[2]
      #expect(page.contains("`\(name)`"), "docs/operating.md lacks \(name)")
    }
  }

  @Test("An address that is not loopback, one without a port, and one in use are refused with a sentence")
  func badAddresses() async throws {
    try await withTrio(.ipc) { trio in
      for (address, status, words) in [
        ("0.0.0.0:0", Int32(64), "on this machine only"), ("127.0.0.1", 64, "is not an address with a port"),
      ] {
        let view = try await trio.run("phone", "--metrics", address)
        #expect(view.ending == .exited(status) && view.errors.contains { $0.contains(words) }, "\(view.errors)")
      }
      let (phone, _, _) = try await trio.start(phone: ["--metrics", "127.0.0.1:0"])
      let port = try #require(URLComponents(string: try await metrics(of: phone))?.port)
      let other = trio.bus.spawn(
        executable: TestBus.busnode, ["phone", "--bus", "other", "--metrics", "127.0.0.1:\(port)"])
      #expect(try await other.ending() == .exited(75))
      #expect(other.view.errors.contains { $0.contains("choose another port with --metrics") }, "\(other.view.errors)")
    }
  }
}
