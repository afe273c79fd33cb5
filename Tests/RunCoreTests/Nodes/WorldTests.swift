import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// How many more worlds than usual: `RUNBUS_SOAK_WORLD`, 0 when it is not set.
private let soakWorlds = getenv("RUNBUS_SOAK_WORLD").flatMap { UInt64(String(cString: $0)) } ?? 0

@Suite("Simulated worlds")
struct WorldTests {
  @Test(
    "Whatever is lost, delayed, repeated or killed: one verdict a command, one effect, one view",
    arguments: 0..<UInt64(8))
  func worlds(part: UInt64) {
    for seed in stride(from: part, to: 200 + soakWorlds, by: 8) {
      var world = World(seed: seed)
      world.run()
      #expect(world.faults.isEmpty, "seed \(seed): \(world.faults.prefix(5).joined(separator: "; "))")
    }
  }

  @Test("The same seed is the same world")
  func repeatable() {
    var worlds = [World(seed: 3), World(seed: 3)]
    for index in worlds.indices { worlds[index].run() }
    #expect(worlds[0].store.verdicts == worlds[1].store.verdicts)
    #expect(worlds[0].store.verdicts.count > 20)
  }
}
