extension SampleMoment {
  /// The moment on the hub's time line, given the origin of the run's: recorded offsets land at start plus offset,
  /// whenever they arrive, so that a replay gives the same numbers every time.
  public func time(runStartedAt origin: BusTime) -> BusTime {
    switch self {
    case .at(let time): time
    case .runOffset(let offset): origin + offset
    }
  }
}
