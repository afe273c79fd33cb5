/// Numbers that look random and follow from a seed: machines draw nothing, whoever drives them hands in the seed, and the
/// same seed gives the same world, on every machine.
public struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
  private var state: UInt64

  /// Dice from a seed, which a driver draws at random for each life.
  public init(seed: UInt64) { state = seed }

  /// The next 64 bits (SplitMix64, Steele et al. 2014).
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// A fresh identifier.
  public mutating func identifier<Kind>() -> Identifier<Kind> { Identifier(high: next(), low: next()) }

  /// A span up to a quarter shorter or longer, so that those who failed together do not come back together.
  public mutating func jittered(_ span: BusDuration) -> BusDuration {
    let quarter = max(1, span.nanoseconds / 4)
    let shift = Int64(next() % UInt64(2 * quarter)) - quarter
    return BusDuration(nanoseconds: span.nanoseconds + shift)
  }
}
