/// Heart rate now, its mean over active time and its maximum.
///
/// Readings that no heart has are dropped. So is a spike: a reading that lies farther from the last one taken than a
/// heart gets in the time between is only a candidate. It is taken when the readings after it agree with it for some
/// seconds, and forgotten when they do not. After a silence the heart may have gone anywhere, and the reading counts.
struct HeartRateMeter: Hashable, Sendable {
  /// The latest reading that was taken.
  var latestBpm: Double? { latest?.bpm }
  /// When it was taken.
  var takenAt: BusTime? { latest?.time }
  /// The highest reading that was taken while the run ran.
  private(set) var maxBpm: Double?

  private var latest: Reading?
  private var candidate: Candidate?
  private var mean = HeldMean()

  private struct Reading: Hashable {
    let bpm: Double
    let time: BusTime

    /// A heart gets from one reading to the other in the time between. That counts as a second at least: a strap's
    /// readings may come in bursts.
    func isReachable(from earlier: Self, settings: MetricsSettings) -> Bool {
      abs(bpm - earlier.bpm) <= settings.heartRateSlopeMax * max(1, (time - earlier.time).seconds)
    }
  }
  private struct Candidate: Hashable {
    let since: BusTime
    var latest: Reading
  }

  /// Takes one reading at a reading of active time; it `counts` for the maximum while the run runs. Zero, which straps
  /// send without contact, is no heart rate.
  mutating func fold(_ bpm: Double, at time: BusTime, active: BusDuration, counts: Bool, settings: MetricsSettings) {
    guard bpm > 0, bpm <= settings.heartRateBpmMax else { return }
    let reading = Reading(bpm: bpm, time: time)
    guard isTaken(reading, settings: settings) else { return }
    candidate = nil
    latest = reading
    mean.add(bpm, active: active, hold: settings.heartRateHold)
    if counts { maxBpm = max(maxBpm ?? bpm, bpm) }
  }

  /// The mean up to a reading of active time; `nil` when no value has stood for any.
  func averageBpm(active: BusDuration, settings: MetricsSettings) -> Double? {
    totals(active: active, settings: settings).mean
  }
  /// Beats per minute times seconds, and the seconds, up to a reading of active time.
  func totals(active: BusDuration, settings: MetricsSettings) -> HeldMean.Totals {
    mean.totals(active: active, hold: settings.heartRateHold)
  }

  private mutating func isTaken(_ reading: Reading, settings: MetricsSettings) -> Bool {
    guard let latest, !reading.isReachable(from: latest, settings: settings) else { return true }
    guard var candidate, reading.isReachable(from: candidate.latest, settings: settings) else {
      self.candidate = Candidate(since: reading.time, latest: reading)
      return false
    }
    candidate.latest = reading
    self.candidate = candidate
    return reading.time - candidate.since >= settings.heartRateConfirmation
  }
}
