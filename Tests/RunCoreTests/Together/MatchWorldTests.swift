import Simulation
import Testing

/// Simulated searches: hubs with drifting clocks, disks that stall, killed hubs, runners who think better of it, and a log
/// that repeats, delays and loses appends.
@Suite("Searches in simulated worlds")
struct MatchWorldTests {
  @Test("Nobody is in two rooms, every search ends, and those who run together have found each other")
  func worlds() {
    var counts: [String: Int] = [:]
    for seed in 1...60 as ClosedRange<UInt64> {
      var world = MatchWorld(seed: seed)
      world.run()
      counts.merge(world.counts, uniquingKeysWith: +)
      if let fault = world.faults.first { Issue.record("seed \(seed): \(fault)") }
    }
    // Without these the checks would prove little.
    for what in MatchWorld.expected { #expect(counts[what, default: 0] > 0, "no world had: \(what)") }
  }
}
