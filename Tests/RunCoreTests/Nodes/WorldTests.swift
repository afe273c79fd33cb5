import RunCore
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How many more worlds than usual: `RUNBUS_SOAK_WORLD`, 0 when it is not set.
private let soakWorlds = getenv("RUNBUS_SOAK_WORLD").flatMap { UInt64(String(cString: $0)) } ?? 0
/// One world alone: `RUNBUS_WORLD_SEED`.
private let onlySeed = getenv("RUNBUS_WORLD_SEED").flatMap { UInt64(String(cString: $0)) }

@Suite("Simulated worlds")
struct WorldTests {
  @Test("Whatever is lost, delayed, repeated or killed: one verdict a command, one effect a message, one view")
  func worlds() async {
    let seeds = onlySeed.map { $0..<$0 + 1 } ?? 0..<200 + soakWorlds
    let tally = await withTaskGroup(of: WorldTally.self) { group in
      for part in 0..<UInt64(4) {
        group.addTask {
          var tally = WorldTally()
          for seed in stride(from: seeds.lowerBound + part, to: seeds.upperBound, by: 4) {
            var world = World(seed: seed)
            world.run()
            tally.add(world.tally)
            #expect(world.faults.isEmpty, "seed \(seed): \(world.faults.prefix(5).joined(separator: "; "))")
          }
          return tally
        }
      }
      return await group.reduce(into: WorldTally()) { $0.add($1) }
    }
    guard onlySeed == nil else { return }
    for name in WorldTally.expected {
      #expect(tally.counts[name] ?? 0 > 0, "the campaign has not seen: \(name)")
    }
    if soakWorlds > 0 {
      for (name, count) in tally.counts.sorted(by: { $0.key < $1.key }) { print("\(count)\t\(name)") }
    }
  }

  @Test("The same seed is the same world")
  func repeatable() {
    var worlds = [World(seed: 2), World(seed: 2)]
    for index in worlds.indices { worlds[index].run() }
    #expect(worlds[0].hub.store.verdicts == worlds[1].hub.store.verdicts)
    #expect(worlds[0].tally.counts == worlds[1].tally.counts)
    #expect(worlds[0].hub.store.verdicts.count > 20)
  }
}
