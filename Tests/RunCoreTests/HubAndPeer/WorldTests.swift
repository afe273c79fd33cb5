import RunCore
import Simulation
import Testing
import SystemC

/// The seed of a single world to run: `RUNBUS_WORLD_SEED`.
private let onlySeed = getenv("RUNBUS_WORLD_SEED").flatMap { UInt64(String(cString: $0)) }

/// A few worlds in a debug build; campaigns run in release, by `simulate`.
@Suite("Simulated worlds")
struct WorldTests {
  @Test("Each command has one verdict, each message one effect, and all views agree, whatever fails")
  func worlds() async {
    let seeds = onlySeed.map { $0..<$0 + 1 } ?? 0..<40
    await withTaskGroup { group in
      for part in 0..<UInt64(4) {
        group.addTask {
          for seed in stride(from: seeds.lowerBound + part, to: seeds.upperBound, by: 4) {
            let faults = World.judge(seed, WorldOptions()).faults
            #expect(faults.isEmpty, "seed \(seed): \(faults.prefix(5).joined(separator: "; "))")
          }
        }
      }
    }
  }

  @Test("The same seed gives the same world")
  func repeatable() {
    var worlds = [World(seed: 2), World(seed: 2)]
    for index in worlds.indices { worlds[index].run() }
    #expect(worlds[0].digest == worlds[1].digest)
    #expect(worlds[0].tally.counts == worlds[1].tally.counts)
    #expect(worlds[0].steps > 20)
  }
}
