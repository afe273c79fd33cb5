import Foundation
import Testing
import TestSupport
import SystemC

@Suite("What pair, join and devices say in time")
struct PairingAdviceTests {
  private static func port() throws -> UInt16 { try #require(Loopback.freeFixedPorts()) }

  // Once broken: `pair --as` with a name of commands, of the phone or of another device failed only when the other
  // machine had used the line, which then read that the person had refused, because only the hub looked at the name,
  // when it admitted.
  @Test("A name that no device can be paired under is refused before pairing is opened, in one line")
  func names() async throws {
    try await withTestBus { bus in
      let machine = try PairedMachine("watch", on: bus)
      _ = try await bus.listeningPhone(port: try Self.port())
      try await machine.pair(on: bus, as: "watch-1")
      let refusals: [(name: String, more: [String], status: Int32, word: String)] = [
        ("shell", [], 64, "shells, pages and screens"), ("web-2", [], 64, "shells, pages and screens"),
        ("phone", [], 64, "the phone itself"), ("phone", ["--replace"], 64, "the phone itself"),
        ("watch-1", [], 1, "--replace"),
      ]
      for (name, more, status, word) in refusals {
        let pair = bus.spawn(executable: TestBus.busnode, ["pair", "--yes", "--no-qr", "--as", name] + more)
        #expect(try await pair.ending() == .exited(status), "\(name): \(pair.view)")
        #expect(pair.view.lines == [] && pair.view.errors.first?.contains(word) == true, "\(name): \(pair.view)")
      }
      let rename = try await bus.run("devices", "rename", "watch-1", "phone")
      #expect(rename.ending == .exited(65))
      #expect(rename.errors == ["busnode: phone is the name of the hub itself"])
      // Without --yes the person decides whether to replace; --replace decides it in advance.
      for more in [["--yes", "--replace"], []] {
        let pair = bus.spawn(executable: TestBus.busnode, ["pair", "--no-qr", "--as", "watch-1"] + more)
        _ = try await pair.wait(for: "the line") { $0.lines.first { $0.hasPrefix("runbus://") } }
        pair.signal(SIGINT)
        #expect(try await pair.ending() == .exited(130))
      }
    }
  }

  // Once broken: After a `join` with new keys a node that ran on the machine stayed out of reach, and nothing said so,
  // because a node reads its keys when it starts.
  @Test("join names the nodes of this machine that run on without the new keys")
  func runningNodes() async throws {
    try await withTestBus { bus in
      let machine = try PairedMachine("watch", on: bus)
      _ = try await bus.listeningPhone(port: try Self.port())
      func join() async throws -> NodeProcess.View {
        let pair = bus.spawn("pair", "--yes", "--no-qr")
        let line = try await pair.wait(for: "the line") { $0.lines.first { $0.hasPrefix("runbus://") } }
        let join = bus.spawn("join", "--device", "watch-1", environment: machine.environment)
        join.write(line)
        #expect(try await join.ending() == .exited(0), "\(join.view)")
        #expect(try await pair.ending() == .exited(0), "\(pair.view)")
        return join.view
      }
      func advice(_ view: NodeProcess.View) -> [String] { view.lines.filter { $0.contains("start it again") } }
      // It looks for a phone on its own machine.
      let stray = bus.spawn("watch", "--json", "--device", "left", environment: machine.environment)
      let door = try #require(machine.environment["XDG_RUNTIME_DIR"] ?? nil) + "/runbus/default/left.door"
      _ = try await bus.shell("until test -S '\(door)'; do sleep 0.1; done")
      #expect(try await advice(join()) == ["left runs here without these keys: end it, and start it again."])
      stray.signal(SIGTERM)
      _ = try await stray.ending()

      let watch = bus.spawn("watch", "--json", environment: machine.environment)
      _ = try await watch.event("the link") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      #expect(try await bus.run("keys", "rotate", "--now").ending == .exited(0))
      #expect(try await advice(join()) == ["watch-1 runs here without these keys: end it, and start it again."])
      watch.signal(SIGTERM)
      _ = try await watch.ending()

      let again = bus.spawn("watch", "--json", environment: machine.environment)
      _ = try await again.event("the link") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      // The phone knows this key: nothing changes.
      let pair = bus.spawn("pair", "--yes", "--no-qr")
      let line = try await pair.wait(for: "the line") { $0.lines.first { $0.hasPrefix("runbus://") } }
      let known = bus.spawn("join", "--device", "watch-1", environment: machine.environment)
      known.write(line)
      #expect(try await known.ending() == .exited(0))
      #expect(advice(known.view) == [], "\(known.view)")
      for process in [again, pair] {
        process.signal(SIGTERM)
        _ = try await process.ending()
      }
    }
  }
}
