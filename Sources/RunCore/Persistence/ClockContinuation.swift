extension BusClock {
  /// The bus clock of a hub's next life: run time continues across lives.
  ///
  /// In the same boot the monotonic clock says how long the hub was away, in another boot wall time does, never
  /// less than nothing. Without a past the line begins at its origin.
  ///
  /// - Parameters:
  ///   - mark: where the last life stood, if there was one.
  ///   - lastSign: the latest moment that the last life left behind: in another boot the line does not begin before it,
  ///     however far back the wall clock was set. See ``HubHistory/lastSign``.
  ///   - real: the monotonic reading now.
  ///   - wallSeconds: seconds since 1970 now.
  ///   - bootID: which boot `real` belongs to.
  ///   - speed: how fast bus time runs from now on.
  public static func continuing(
    _ mark: ClockMark?, lastSign: BusTime? = nil, real: BusTime, wallSeconds: Double, bootID: String, speed: BusSpeed
  ) -> BusClock {
    guard let mark else { return BusClock(realAnchor: real, busAnchor: .zero, speed: speed) }
    if !bootID.isEmpty, mark.bootID == bootID, real >= mark.real {
      return BusClock(realAnchor: real, busAnchor: mark.bus + speed.bus(fromReal: real - mark.real), speed: speed)
    }
    let away = max(.zero, BusDuration(seconds: wallSeconds - mark.wallSeconds))
    let bus = mark.bus + speed.bus(fromReal: away)
    return BusClock(realAnchor: real, busAnchor: max(bus, lastSign ?? bus), speed: speed)
  }
}

extension HubHistory {
  /// The latest moment of bus time that was written down. The clock's own mark is older between two ticks, and by hours
  /// where no run was on when a press came.
  public var lastSign: BusTime? {
    let signs = [
      clock?.bus, journal.map(\.time).max(), transitions.map(\.effectiveAt).max(),
      accepted.map(\.press.arrivedAt).max(),
      verdicts.map(\.judgedAt).max(),
    ]
    return signs.compactMap { $0 }.max()
  }
}

extension ClockMark {
  /// How far moments of this mark's monotonic clock are to be moved to stand on the present one; `nil` in the same boot,
  /// where they stand on it already. Across boots wall time says how much has passed, never less than nothing.
  public func shift(real: BusTime, wallSeconds: Double, bootID: String) -> BusDuration? {
    if !bootID.isEmpty, self.bootID == bootID, real >= self.real { return nil }
    let away = max(.zero, BusDuration(seconds: wallSeconds - self.wallSeconds))
    return (real - away) - self.real
  }
}
