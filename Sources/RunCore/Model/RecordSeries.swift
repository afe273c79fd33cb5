/// The metrics of a run at regular intervals of run time, for charts.
public struct RecordSeries: Hashable, Sendable {
  /// The values at one moment, rounded to hundredths; a value that was unknown or stale then is `nil`.
  public struct Sample: Hashable, Sendable {
    /// Metres covered.
    public var distanceMeters: Double?
    /// Current pace, seconds per kilometre; `nil` while the run is paused.
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

    /// A bound that no value exceeds; larger numbers count as unknown.
    static let valueMax = 1e9

    static func rounded(_ value: Double?) -> Double? {
      guard let value, abs(value) <= valueMax else { return nil }
      return (value * 100).rounded() / 100
    }
  }

  /// The interval for runs of up to a day: finer than a chart shows, and 3,600 samples for a ten-hour run.
  public static let usualInterval = BusDuration.seconds(10)
  /// The interval where heart rate or cadence was read more often than at the usual interval, for runs of up to a day:
  /// heart rate zones and exports need the readings as they came.
  package static let fineInterval = BusDuration.seconds(1)
  /// A day of samples at the fine interval; a longer run gets a longer interval.
  public static let samplesMax = 86_400
  /// More samples than this, a day of them at the usual interval, need a later form of the encoded body.
  static let samplesMaxOfFirstForm = 8640

  /// The run time between two samples.
  public var interval: BusDuration
  /// The samples: the first at the start, each further one an interval later.
  public var samples: [Sample]

  /// A series from its samples.
  public init(interval: BusDuration = RecordSeries.usualInterval, samples: [Sample] = []) {
    self.interval = interval
    self.samples = samples
  }

  /// The run time of the sample at an index, since the start.
  public func offset(of index: Int) -> BusDuration {
    let (nanoseconds, isBeyond) = interval.nanoseconds.multipliedReportingOverflow(by: Int64(index))
    return BusDuration(nanoseconds: isBeyond ? .max : nanoseconds)
  }

  /// The same series with a longer interval, for a chart.
  ///
  /// - Parameter least: The samples that are left are at least this far apart.
  package func spaced(by least: BusDuration) -> RecordSeries {
    guard interval > .zero, interval < least else { return self }
    let step = (least.nanoseconds + interval.nanoseconds - 1) / interval.nanoseconds
    let kept = stride(from: 0, to: samples.count, by: Int(clamping: step)).map { samples[$0] }
    return RecordSeries(interval: offset(of: Int(clamping: step)), samples: kept)
  }

  /// The last sample at or before a run time; `nil` outside the series.
  public func sample(at offset: BusDuration) -> Sample? {
    guard interval > .zero, offset >= .zero else { return nil }
    let index = offset.nanoseconds / interval.nanoseconds
    return index < samples.count ? samples[Int(index)] : nil
  }
}

extension RecordSeries.Sample {
  /// The metrics without stale values.
  package init(_ metrics: RunMetrics) {
    func fresh(_ value: Double?, _ metric: Metric) -> Double? { metrics.isStale(metric) ? nil : value }
    self.init(
      distanceMeters: metrics.distanceMeters,
      paceSecondsPerKilometer: fresh(metrics.currentPaceSecondsPerKilometer, .distance),
      altitudeMeters: fresh(metrics.altitudeMeters, .elevation),
      heartRateBpm: fresh(metrics.heartRateBpm, .heartRate),
      cadenceStepsPerMinute: fresh(metrics.cadenceStepsPerMinute, .cadence))
  }
}
