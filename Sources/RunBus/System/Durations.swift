public import RunCore

extension Duration {
  /// The same span, exactly.
  public init(_ span: BusDuration) { self = .nanoseconds(span.nanoseconds) }
}

extension BusDuration {
  /// The same span, rounded to the nearest nanosecond (a half away from zero). Spans of more than 292 years become the
  /// longest that there is.
  ///
  /// ```swift
  /// let patience = BusDuration(.milliseconds(1500))
  /// let timeout = Duration(patience)
  /// ```
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let half: Int64 = attoseconds < 0 ? -500_000_000 : 500_000_000
    let (whole, hasOverflown) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !hasOverflown else {
      self.init(nanoseconds: seconds < 0 ? .min : .max)
      return
    }
    self = BusDuration(nanoseconds: whole) + BusDuration(nanoseconds: (attoseconds + half) / 1_000_000_000)
  }
}
