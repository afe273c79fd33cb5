/// Steps of both feet per minute: now, and the mean over the active time in which the runner stepped.
///
/// Zero is a reading: the runner stands. It is shown, and left out of the mean, which says how the runner steps and not
/// how often.
struct CadenceMeter: Hashable, Sendable {
  /// The latest reading; zero while the runner stands.
  private(set) var latestStepsPerMinute: Double?
  /// When it was taken.
  private(set) var takenAt: BusTime?
  private var mean = HeldMean()

  /// Takes one reading at a reading of active time. What no feet do is dropped.
  mutating func fold(_ stepsPerMinute: Double, at time: BusTime, active: BusDuration, settings: MetricsSettings) {
    guard stepsPerMinute >= 0, stepsPerMinute <= settings.cadenceStepsPerMinuteMax else { return }
    latestStepsPerMinute = stepsPerMinute
    takenAt = time
    mean.add(stepsPerMinute > 0 ? stepsPerMinute : nil, active: active, hold: settings.cadenceHold)
  }

  /// The mean up to a reading of active time; `nil` when the runner has not stepped.
  func averageStepsPerMinute(active: BusDuration, settings: MetricsSettings) -> Double? {
    totals(active: active, settings: settings).mean
  }
  /// Steps per minute times seconds, and the seconds, up to a reading of active time.
  func totals(active: BusDuration, settings: MetricsSettings) -> HeldMean.Totals {
    mean.totals(active: active, hold: settings.cadenceHold)
  }
}
