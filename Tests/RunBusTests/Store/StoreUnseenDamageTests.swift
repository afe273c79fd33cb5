import Foundation
import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("Damaged stores that pass the check at the opening", .timeLimit(.minutes(20)))
struct StoreUnseenDamageTests {
  // Once broken: A page of a store over another one, and the watch ended at each start with "a store has room for
  // 8388607 streams", because a number in a damaged table was taken for too many streams, which ends a node, and not
  // for damage.
  @Test(
    "A page over another, a bit in the description of a table, some other bytes: the node runs, and starts again",
    arguments: DamagedNode.Role.allCases)
  func unseen(role: DamagedNode.Role) async throws {
    let node = DamagedNode(role: role, loop: try Loop())
    let files = try await node.makeFiles()
    try NodeStore(directory: files.path).close()
    let made = try ScratchDirectory()
    let script = Process()
    script.executableURL = URL(filePath: "/usr/bin/env")
    script.arguments = [
      "python3", Checkout.path("Tests/Damage/make-stores.py"), files.file("node.sqlite"), made.path, "--count", "6",
      "--seed", role == .phone ? "1" : "2",
    ]
    let output = Pipe()
    script.standardOutput = output
    try script.run()
    let told = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    script.waitUntilExit()
    #expect(script.terminationStatus == 0)
    let kinds = Set(try made.names().map { $0.prefix { $0 != "-" } })
    #expect(kinds == ["page", "table", "bytes"], "\(told)")
    for name in try made.names() {
      let what = told.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
      for life in 1...2 {
        do {
          _ = try await node.live(on: made.file(name))
        } catch {
          Issue.record("\(role), \(what), life \(life): \(error)")
        }
      }
    }
  }
}
