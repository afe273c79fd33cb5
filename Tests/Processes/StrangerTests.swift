import Foundation
import Testing
import TestSupport

/// What strangers must not do to a run, in small; `make chaos CONNECTS=10000` and `make chaos FRAMES=1000000` do
/// more.
@Suite(
  "Thousands of strangers during a run", .serialized,
  .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
struct StrangerTests {
  @Test("Connecting and leaving in every way, half-done handshakes included, leaves nothing behind")
  func connects() async throws {
    let (count, seed) = (Clients.size("CONNECTS"), Clients.seed)
    try await withTrio(.tcp) { trio in
      var run = try await Undisturbed(trio, speed: count == nil ? 10 : 1)
      var lines: [String] = []
      // The cost of the first ones stays: caches, and what the hub keeps about twenty devices.
      try await visit(count == nil ? 100 : 200, trio, seed, &run)
      let before = run.phone.footprint
      var after: [Footprint?] = []
      let total = count ?? 300
      for share in [total / 10, total - total / 10] {
        let left = try await visit(share, trio, seed, waits: !after.isEmpty, &run)
        if let before {
          // The system closes reset connections some time later.
          try await lookFor("descriptors of before", within: 30) { [phone = run.phone] in
            phone.footprint?.descriptors ?? 0 <= before.descriptors
          }
        }
        after.append(run.phone.footprint)
        lines.append("connects \(share) in \(left["seconds"]?.number ?? 0) s: \(Self.counts(left["left"]))")
      }
      try await run.press()
      try await run.expectAllIsWell()
      // A phone without keys says so, and nothing else.
      let errors = run.phone.view.errors.filter { !$0.contains("has no keys") }
      #expect(errors.isEmpty, "\(errors.prefix(3))")
      guard let before, let first = after[0], let last = after[1] else { return }
      // The hub keeps sessions without a goodbye for a while, at some hundred bytes each.
      #expect(last.hasGrown(byLessThan: 4096, since: first), "\(first), then \(last)")
      #expect(last.threads <= before.threads + 2)
      guard count != nil else { return }
      lines.append("the hub | MiB | descriptors | threads")
      for (when, print) in [("before", before), ("after a tenth of them", first), ("after all of them", last)] {
        let resident = String(format: "%.1f", Double(print.residentKilobytes) / 1024)
        lines.append("\(when) | \(resident) | \(print.descriptors) | \(print.threads)")
      }
      lines.append("meanwhile \(run.presses) presses, each applied once; seed \(seed)")
      print(lines.joined(separator: "\n"))
    }
  }

  @discardableResult
  private func visit(
    _ count: Int, _ trio: Trio, _ seed: UInt64, waits: Bool = false, _ run: inout Undisturbed
  ) async throws -> JSONValue {
    let visitor = trio.client("connects.py", seed: seed, "\(count)", waits ? "wait" : "leave")
    try await run.goOn(while: visitor)
    #expect(try await visitor.ending() == .exited(0), "seed \(seed): \(visitor.view.errors.suffix(5))")
    return try #require(visitor.view.json.first)
  }

  // Once broken: A stranger who connects again and again could fill the hub's log, because log lines were limited to
  // one a connection, and their total was not limited.
  @Test("Malformed frames of every kind on both sockets change nothing and fill neither log nor memory")
  func frames() async throws {
    let (count, seed) = (Clients.size("FRAMES"), Clients.seed)
    try await withTrio(.tcp) { trio in
      var run = try await Undisturbed(trio, speed: count == nil ? 10 : 1)
      let before = run.phone.footprint
      let thrower = trio.client("frames.py", seed: seed, "\(count ?? 3000)")
      try await run.goOn(while: thrower)
      #expect(try await thrower.ending() == .exited(0), "seed \(seed): \(thrower.view.errors.suffix(5))")
      let thrown = try #require(thrower.view.json.first)
      let after = run.phone.footprint
      try await run.press()
      try await run.expectAllIsWell()
      let errors = run.phone.view.errors
      // The log names the first 64 strangers of each socket.
      #expect(errors.count <= 2 * 64 + 8, "seed \(seed): \(errors.suffix(3))")
      if let before, let after { #expect(after.hasGrown(byLessThan: 64 * 1024, since: before)) }
      guard count != nil else { return }
      let (frames, seconds) = (thrown["thrown"]?.number ?? 0, thrown["seconds"]?.number ?? 1)
      print(
        """
        frames \(Int(frames)) in \(seconds) s, \(Int(frames / seconds)) a second: \(Self.counts(thrown["kinds"]))
        the hub: \(errors.count) lines logged, \(errors.map(\.utf8.count).reduce(0, +)) bytes; \
        \(before.map { $0.residentKilobytes / 1024 } ?? 0) MiB before, \
        \(after.map { $0.residentKilobytes / 1024 } ?? 0) MiB after
        meanwhile \(run.presses) presses, each applied once; \
        \(run.phone.snapshots.count) snapshots, each seen by watch and widget, \
        at most \(String(format: "%.2f", run.longestGap)) s apart; seed \(seed)
        """)
    }
  }

  private static func counts(_ value: JSONValue?) -> String {
    (value?.object ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.int ?? 0)" }.joined(separator: ", ")
  }
}
