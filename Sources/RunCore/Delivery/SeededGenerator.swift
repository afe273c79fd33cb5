/// A pseudo-random generator. A core gets the seed from its driver, so that a simulation with the same seed repeats
/// exactly on every machine.
package struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
  private var state: UInt64

  /// A generator from a seed. A driver draws the seed at random whenever a node starts.
  package init(seed: UInt64) { state = seed }

  /// The next 64 bits (SplitMix64, Steele et al. 2014).
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// A fresh identifier.
  package mutating func identifier<Kind>() -> Identifier<Kind> { Identifier(high: next(), low: next()) }

  /// A span that is up to a quarter shorter or longer, so that nodes that failed together do not retry together.
  package mutating func jittered(_ span: BusDuration) -> BusDuration {
    let quarter = max(1, span.nanoseconds / 4)
    let shift = Int64(next() % UInt64(2 * quarter)) - quarter
    return BusDuration(nanoseconds: span.nanoseconds + shift)
  }
}
