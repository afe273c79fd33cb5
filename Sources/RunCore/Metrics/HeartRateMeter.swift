/// Heart rate now, its mean over active time and its maximum.
///
/// The mean is weighted by time, as watches weigh it: with smart recording points lie 1 to 18 s apart, and their plain
/// mean would favour what happened in lively stretches. A value stands until the next one, at most for the hold time.
struct HeartRateMeter: Hashable, Sendable {
  /// The latest value.
  var latestBpm: Double? { standing?.bpm }
  /// The highest value while the run ran.
  private(set) var maxBpm: Double?

  private var standing: Standing?
  /// Beats per minute times seconds, over `weighed`.
  private var sum = 0.0
  private var weighed = BusDuration.zero

  private struct Standing: Hashable {
    let bpm: Double
    /// The active time of the run when it was taken.
    let active: BusDuration
  }

  /// Takes one value at a reading of active time. Zero, which straps send without contact, is no heart rate.
  mutating func fold(_ bpm: Double, active: BusDuration, counts: Bool, settings: MetricsSettings) {
    guard bpm > 0, bpm <= 300 else { return }
    (sum, weighed) = total(active: active, settings: settings)
    standing = Standing(bpm: bpm, active: active)
    if counts { maxBpm = max(maxBpm ?? bpm, bpm) }
  }

  /// The mean up to a reading of active time; `nil` when no value has stood for any.
  func averageBpm(active: BusDuration, settings: MetricsSettings) -> Double? {
    let (sum, weighed) = total(active: active, settings: settings)
    return weighed > .zero ? sum / weighed.seconds : nil
  }

  private func total(active: BusDuration, settings: MetricsSettings) -> (sum: Double, weighed: BusDuration) {
    guard let standing else { return (sum, weighed) }
    let held = min(max(.zero, active - standing.active), settings.heartRateHold)
    return (sum + standing.bpm * held.seconds, weighed + held)
  }
}
