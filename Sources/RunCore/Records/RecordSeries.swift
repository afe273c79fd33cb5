/// How a run went, at even steps of its own time: what charts are drawn from.
public struct RecordSeries: Hashable, Sendable {
  /// The values at one moment; what was not known then, or too old to stand for it, is `nil`. Rounded to hundredths.
  public struct Sample: Hashable, Sendable {
    /// Metres covered.
    public var distanceMeters: Double?
    /// Seconds per kilometre over the recent window; `nil` while the run is paused.
    public var paceSecondsPerKilometer: Double?
    /// Metres above sea level, smoothed.
    public var altitudeMeters: Double?
    /// Beats per minute.
    public var heartRateBpm: Double?
    /// Steps of both feet per minute.
    public var cadenceStepsPerMinute: Double?

    /// A sample from its values; each is rounded to hundredths.
    public init(
      distanceMeters: Double? = nil, paceSecondsPerKilometer: Double? = nil, altitudeMeters: Double? = nil,
      heartRateBpm: Double? = nil, cadenceStepsPerMinute: Double? = nil
    ) {
      self.distanceMeters = Self.rounded(distanceMeters)
      self.paceSecondsPerKilometer = Self.rounded(paceSecondsPerKilometer)
      self.altitudeMeters = Self.rounded(altitudeMeters)
      self.heartRateBpm = Self.rounded(heartRateBpm)
      self.cadenceStepsPerMinute = Self.rounded(cadenceStepsPerMinute)
    }

    /// More than any of these can be.
    static let valueMax = 1e9

    static func rounded(_ value: Double?) -> Double? {
      guard let value, abs(value) <= valueMax else { return nil }
      return (value * 100).rounded() / 100
    }
  }

  /// Ten seconds: finer than a chart shows, and a ten-hour run has 3,600.
  public static let usualInterval = BusDuration.seconds(10)
  /// A day of them; what goes on longer is sampled less often.
  public static let samplesMax = 8640

  /// The step.
  public var interval: BusDuration
  /// The samples: the first at the start, one after each further step.
  public var samples: [Sample]

  /// A series from its samples.
  public init(interval: BusDuration = RecordSeries.usualInterval, samples: [Sample] = []) {
    self.interval = interval
    self.samples = samples
  }

  /// When the sample of an index was taken: run time, from the start.
  public func offset(of index: Int) -> BusDuration {
    let (nanoseconds, isBeyond) = interval.nanoseconds.multipliedReportingOverflow(by: Int64(index))
    return BusDuration(nanoseconds: isBeyond ? .max : nanoseconds)
  }

  /// The last sample at or before a moment; `nil` when that is more than a step ago, or there is none.
  public func sample(at offset: BusDuration) -> Sample? {
    guard interval > .zero, offset >= .zero else { return nil }
    let index = offset.nanoseconds / interval.nanoseconds
    return index < samples.count ? samples[Int(index)] : nil
  }
}
