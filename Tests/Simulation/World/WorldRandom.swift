import RunCore

/// The random numbers of a world.
struct WorldRandom: RandomNumberGenerator {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// A generator for one purpose: draws for other purposes do not change its numbers.
  init(seed: UInt64, _ purpose: UInt64, _ place: UInt64 = 0) {
    self.init(seed: seed)
    generator = SeededGenerator(seed: next() &+ purpose)
    generator = SeededGenerator(seed: next() &+ place)
    _ = next()
  }

  mutating func next() -> UInt64 { generator.next() }
}
