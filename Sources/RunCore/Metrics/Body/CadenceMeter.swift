/// Steps of both feet per minute: the latest reading, and the mean over the active time in which the runner stepped.
///
/// A reading of zero means that the runner stands. It is shown but left out of the mean, which describes how the runner
/// steps, not for how much of the time.
struct CadenceMeter: Hashable, Sendable {
  /// The latest reading; zero while the runner stands.
  private(set) var latestStepsPerMinute: Double?
  /// When it was taken.
  private(set) var takenAt: BusTime?
  private var mean = HeldMean()

  /// Receives one reading, with the active time at it. Impossible readings are dropped.
  mutating func fold(_ stepsPerMinute: Double, at time: BusTime, active: BusDuration, settings: MetricsSettings) {
    guard stepsPerMinute >= 0, stepsPerMinute <= settings.cadenceStepsPerMinuteMax else { return }
    latestStepsPerMinute = stepsPerMinute
    takenAt = time
    mean.add(stepsPerMinute > 0 ? stepsPerMinute : nil, active: active, hold: settings.cadenceHold)
  }

  /// The mean up to an active time; `nil` when the runner has not stepped.
  func averageStepsPerMinute(active: BusDuration, settings: MetricsSettings) -> Double? {
    totals(active: active, settings: settings).mean
  }
  /// The sums behind the mean up to an active time: steps per minute times seconds, and seconds.
  func totals(active: BusDuration, settings: MetricsSettings) -> HeldMean.Totals {
    mean.totals(active: active, hold: settings.cadenceHold)
  }
}
