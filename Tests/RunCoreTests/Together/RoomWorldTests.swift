import Foundation
import Simulation
import Testing

/// Simulated rooms: hubs with drifting clocks, disks that stall, killed hubs, a log that repeats, delays and loses, and up
/// to two wrong members.
@Suite("Rooms in simulated worlds")
struct RoomWorldTests {
  /// Few, in a debug build; `make test` runs 500 in release (`simulate --rooms`).
  private static let seeds: UInt64 = 30

  @Test("One room for all, one verdict for each ask, one start and one result, whatever fails")
  func worlds() async {
    let workers = UInt64(ProcessInfo.processInfo.activeProcessorCount)
    var counts: [String: Int] = [:]
    await withTaskGroup(of: [String: Int].self) { group in
      for worker in 0..<workers {
        group.addTask {
          var counts: [String: Int] = [:]
          for seed in stride(from: worker + 1, through: Self.seeds, by: Int(workers)) {
            var world = RoomWorld(seed: seed)
            world.run()
            counts.merge(world.counts, uniquingKeysWith: +)
            if let fault = world.faults.first { Issue.record("seed \(seed): \(fault)") }
          }
          return counts
        }
      }
      for await part in group { counts.merge(part, uniquingKeysWith: +) }
    }
    // Without these the checks would prove little.
    for what in RoomWorld.expected where !["flood", "stranger agrees"].contains(what) {
      #expect(counts[what, default: 0] > 0, "no world had: \(what)")
    }
  }
}
