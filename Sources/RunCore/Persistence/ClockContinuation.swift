extension BusClock {
  /// The bus clock of a hub that starts, continuing the bus time of its last term.
  ///
  /// In the same boot the monotonic clock measures how long the hub was away. In another boot wall time does; a
  /// negative difference counts as zero. Without a mark bus time begins at zero.
  ///
  /// - Parameters:
  ///   - mark: the last mark of the last term; `nil` for a new store.
  ///   - lastSign: the latest bus time that the store contains (``HubHistory/lastSign``). In another boot bus time does
  ///     not begin before it, even if the wall clock was set back.
  ///   - real: the monotonic clock now.
  ///   - wallSeconds: seconds since 1970 now.
  ///   - bootID: the boot to which `real` belongs; empty when unknown.
  ///   - speed: how fast bus time runs from now on.
  package static func continuing(
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
  /// The latest bus time in the store. It can be later than the clock's mark, which is only written with ticks and may
  /// be hours old when a press arrives without a run.
  package var lastSign: BusTime? {
    let signs = [
      clock?.bus, journal.map(\.time).max(), transitions.map(\.effectiveAt).max(),
      accepted.map(\.press.arrivedAt).max(),
      verdicts.map(\.judgedAt).max(),
    ]
    return signs.compactMap { $0 }.max()
  }
}

extension ClockMark {
  /// How far to move times of this mark's monotonic clock so that they fit the present one; `nil` in the same boot,
  /// where both have the same origin. Across boots wall time measures the time between; a negative difference counts as
  /// zero.
  package func shift(real: BusTime, wallSeconds: Double, bootID: String) -> BusDuration? {
    if !bootID.isEmpty, self.bootID == bootID, real >= self.real { return nil }
    let away = max(.zero, BusDuration(seconds: wallSeconds - self.wallSeconds))
    return (real - away) - self.real
  }
}
