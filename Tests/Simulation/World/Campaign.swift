package import RunCore

/// One world, run and judged.
package struct WorldVerdict: Sendable {
  package let seed: UInt64
  package let faults: [String]
  package let tally: WorldTally
  /// How much time passed in it, and in the repetitions that its seed asks for.
  package let simulated: BusDuration
  package let steps: Int
  package let hasWrongMembers: Bool
}

extension World {
  /// Runs the world of a seed, and once more with other jumps of its wall clocks where these decide nothing.
  package static func judge(_ seed: UInt64, _ options: WorldOptions) -> WorldVerdict {
    var world = World(seed: seed, options: options)
    world.run()
    var simulated = world.now - BusTime.zero
    if world.faults.isEmpty, WorldClimate.comparesWallClocks(seed) {
      var variant = options
      variant.wallVariant += 1
      var other = World(seed: seed, options: variant)
      other.run()
      simulated += other.now - BusTime.zero
      if other.hub.store.verdicts != world.hub.store.verdicts {
        world.faults.append("other wall clocks, other verdicts")
      }
      world.faults += other.faults
      world.tally.count("other wall clocks")
    }
    return WorldVerdict(
      seed: seed, faults: world.faults, tally: world.tally, simulated: simulated, steps: world.steps,
      hasWrongMembers: !world.wrong.members.isEmpty)
  }
}

extension World {
  /// What became of every command, for comparing two worlds.
  package var digest: [CommandID: Verdict] { hub.store.verdicts }
}
