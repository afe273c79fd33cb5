/// The latest heart rate, its mean over active time and its maximum.
///
/// The meter drops impossible readings and spikes. A reading that differs from the last accepted one by more than a
/// heart can change in the time between is only a candidate. The meter accepts it when the following readings agree
/// with it for some seconds, and otherwise forgets it. The longer the silence before a reading, the larger is the
/// accepted change.
struct HeartRateMeter: Hashable, Sendable {
  /// The latest accepted reading.
  var latestBpm: Double? { latest?.bpm }
  /// When it was taken.
  var takenAt: BusTime? { latest?.time }
  /// The highest reading that counts, without the latest one if it was taken while the run did not run.
  private var countedMax: Double?

  private var latest: Reading?
  /// The active time at the latest accepted reading.
  private var latestActive = BusDuration.zero
  private var candidate: Candidate?
  private var mean = HeldMean()

  private struct Reading: Hashable {
    let bpm: Double
    let time: BusTime

    /// Whether a heart can change from the earlier reading to this one in the time between. The time counts as one
    /// second at least, because a strap may send its readings in bursts.
    func isReachable(from earlier: Self, settings: MetricsSettings) -> Bool {
      abs(bpm - earlier.bpm) <= settings.heartRateSlopeMax * max(1, (time - earlier.time).seconds)
    }
  }
  private struct Candidate: Hashable {
    let since: BusTime
    var latest: Reading
  }

  /// Receives one reading, with the active time at it. Zero is dropped: straps send it when they have no contact.
  ///
  /// - Parameter counts: whether the run is running, so that the reading counts for the maximum at once.
  mutating func fold(_ bpm: Double, at time: BusTime, active: BusDuration, counts: Bool, settings: MetricsSettings) {
    guard bpm > 0, bpm <= settings.heartRateBpmMax else { return }
    let reading = Reading(bpm: bpm, time: time)
    guard isTaken(reading, settings: settings) else { return }
    candidate = nil
    countedMax = maxBpm(active: active)
    latest = reading
    latestActive = active
    mean.add(bpm, active: active, hold: settings.heartRateHold)
    if counts { countedMax = max(countedMax ?? bpm, bpm) }
  }

  /// The highest accepted reading that was taken, or has held, while the run was running, up to an active time. Each
  /// reading in the mean is one of them, so the mean is never above it.
  func maxBpm(active: BusDuration) -> Double? {
    guard let latest, active > latestActive else { return countedMax }
    return max(countedMax ?? latest.bpm, latest.bpm)
  }

  /// The mean up to an active time; `nil` when there was no heart rate in any of it.
  func averageBpm(active: BusDuration, settings: MetricsSettings) -> Double? {
    totals(active: active, settings: settings).mean
  }
  /// The sums behind the mean up to an active time: beats per minute times seconds, and seconds.
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
