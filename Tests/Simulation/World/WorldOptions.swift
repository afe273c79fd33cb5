package import RunCore

/// How a world is run, beside its seed.
package struct WorldOptions: Sendable {
  /// How long things go wrong; after that everything heals.
  package var trouble: BusDuration
  /// What is left out.
  package var cut: WorldCut
  /// Which random jumps the wall clocks make; nothing else depends on it.
  package var wallVariant: UInt64
  /// Whether every event is written down.
  package var isTraced: Bool
  /// Which worlds have members that break the rules.
  package var wrong: WrongMembers

  package init(
    trouble: BusDuration = .seconds(30), cut: WorldCut = WorldCut(), wallVariant: UInt64 = 0, isTraced: Bool = false,
    wrong: WrongMembers = .mixed
  ) {
    self.trouble = trouble
    self.cut = cut
    self.wallVariant = wallVariant
    self.isTraced = isTraced
    self.wrong = wrong
  }
}

/// What is left out of a world, to find out what a fault depends on.
package struct WorldCut: Hashable, Sendable {
  /// These steps do nothing.
  package var steps: Set<Int> = []
  /// After these steps wrong members do nothing.
  package var misdeeds: Set<Int> = []
  /// In these seconds networks and disks work without faults.
  package var calmSeconds: Set<Int> = []

  package init() {}
}

/// When people do something: in a long world, in bursts with quiet stretches between.
struct WorldRhythm {
  let isLong: Bool
  private var isLively = true
  private var changesAt = BusTime.zero + .seconds(20)

  init(isLong: Bool) { self.isLong = isLong }

  mutating func next(at now: BusTime, drawing random: inout WorldRandom) -> BusDuration {
    if isLong, now >= changesAt {
      isLively.toggle()
      changesAt = now + .milliseconds(.random(in: isLively ? 3_000...15_000 : 60_000...400_000, using: &random))
    }
    return .milliseconds(.random(in: isLively ? 1...400 : 2_000...30_000, using: &random))
  }
}
