import Foundation
import Testing
import TestSupport

@Suite("Clients that are not members use the sockets")
struct GarbageTests {
  @Test(
    "Random bytes and malformed messages on both sockets change nothing, and the run continues",
    .enabled("needs scripts/bootstrap --python") { Checkout.hasPython }, arguments: Link.allCases)
  func garbage(link: Link) async throws {
    try await withTrio(link) { trio in
      let (phone, watch, widget) = try await trio.start()
      phone.write("start")
      for node in [phone, watch, widget] { try await node.shows("running", revision: 1) }

      let seed = UInt32.random(in: .min ... .max)
      let script = Checkout.path("Tests/Processes/Clients/garbage.py")
      let thrower = trio.bus.spawn(
        executable: Checkout.python, [script, trio.control, "\(seed)"], environment: ["PYTHONDONTWRITEBYTECODE": "1"])
      let ending = try await thrower.ending(within: 90)
      #expect(ending == .exited(0), "seed \(seed): \(thrower.view.errors)")

      watch.write("pause")
      #expect(try await watch.verdict("pause")["receipt"]?.string == "applied")
      for node in [phone, watch, widget] {
        let snapshot = try await node.shows("paused", revision: 2, term: 1)
        #expect(snapshot["changedBy"]?["deviceId"]?.string == "watch", "seed \(seed)")
        #expect(node.revisions.isSubset(of: [0, 1, 2]), "seed \(seed)")
      }
      // No member lost the hub, and strangers do not fill its log.
      #expect(!watch.lostTheHub && !widget.lostTheHub)
      #expect(phone.view.errors.count < 300, "\(phone.view.errors.suffix(3))")
    }
  }
}
