import Foundation
import Testing
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("What pair, join and devices say in time")
struct PairingAdviceTests {
  private static func port() throws -> UInt16 { try #require(Loopback.freeFixedPorts()) }

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
      // The person is asked whether to replace, and --replace says so beforehand.
      for more in [["--yes", "--replace"], []] {
        let pair = bus.spawn(executable: TestBus.busnode, ["pair", "--no-qr", "--as", "watch-1"] + more)
        _ = try await pair.wait(for: "the line") { $0.lines.first { $0.hasPrefix("runbus://") } }
        pair.signal(SIGINT)
        #expect(try await pair.ending() == .exited(130))
      }
    }
  }
}
