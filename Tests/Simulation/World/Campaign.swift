package import RunCore

/// The result of one world.
package struct WorldVerdict: Sendable {
  package let seed: UInt64
  package let faults: [String]
  package let tally: WorldTally
  /// Simulated time of the world and of its repetition.
  package let simulated: BusDuration
  package let steps: Int
  package let hasWrongMembers: Bool
}

extension World {
  /// Runs the world of a seed, and, where wall clocks must decide nothing, a second time with other wall clocks.
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
  /// The verdict of every command, for comparing two worlds.
  package var digest: [CommandID: Verdict] { hub.store.verdicts }
}
