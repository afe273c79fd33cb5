import RunCore

/// The dice of a world.
struct WorldRandom: RandomNumberGenerator {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Dice of their own for one thing of a world: what another thing draws does not change what these draw.
  init(seed: UInt64, _ purpose: UInt64, _ place: UInt64 = 0) {
    self.init(seed: seed)
    generator = SeededGenerator(seed: next() &+ purpose)
    generator = SeededGenerator(seed: next() &+ place)
    _ = next()
  }

  mutating func next() -> UInt64 { generator.next() }
}
