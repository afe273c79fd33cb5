extension Double {
  /// The value without its decimals, toward zero, as digits are cut that a screen does not show. A millionth is added,
  /// because a product of binary fractions may be less than the whole number that it stands for by less than that.
  package var cut: Double { (magnitude + 1e-6).rounded(.down) * (self < 0 ? -1 : 1) }
}
