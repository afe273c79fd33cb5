import RunCore

/// The dice of a world.
struct WorldRandom: RandomNumberGenerator {
  private var dice: Dice

  init(seed: UInt64) { dice = Dice(seed: seed) }

  /// Dice of their own for one thing of a world: what another thing draws does not change what these draw.
  init(seed: UInt64, _ purpose: UInt64, _ place: UInt64 = 0) {
    self.init(seed: seed)
    dice = Dice(seed: next() &+ purpose)
    dice = Dice(seed: next() &+ place)
    _ = next()
  }

  mutating func next() -> UInt64 { dice.next() }
}
