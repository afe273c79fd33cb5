/// Draws the same numbers from the same seed on every machine (SplitMix64).
struct WorldRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// A generator of its own for one thing of a world: what another thing draws does not change what this one draws.
  init(seed: UInt64, _ purpose: UInt64, _ place: UInt64 = 0) {
    state = seed
    state = next() &+ purpose
    state = next() &+ place
    _ = next()
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
