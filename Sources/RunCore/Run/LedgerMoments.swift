extension SampleMoment {
  /// The moment on the hub's time line.
  ///
  /// A run offset counts from the start, whenever the sample arrives, so that a replay gives the same metrics every
  /// time.
  ///
  /// - Parameter origin: the start of the run, on the hub's time line.
  public func time(runStartedAt origin: BusTime) -> BusTime {
    switch self {
    case .at(let time): time
    case .runOffset(let offset): origin + offset
    }
  }
}
