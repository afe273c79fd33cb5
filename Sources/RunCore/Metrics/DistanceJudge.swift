/// Chooses between positions and pedometer for a stretch that both have measured.
///
/// Noise makes a path through positions longer, and a drifting receiver makes it wrong for a while; a pedometer is even,
/// but its scale is a guess. So positions tell the pedometer's scale, as the median of what they said over all
/// stretches so far, and the pedometer tells where positions can be trusted: where the two agree within a per cent, they
/// count; where not, the calibrated pedometer does.
struct DistanceJudge: Hashable, Sendable {
  /// How many stretches so far had which ratio of positions to pedometer, from `ratioMin` in steps of half a per cent.
  private var counts = [UInt32](repeating: 0, count: DistanceJudge.bins)
  private var total: UInt32 = 0

  private static let ratioMin = 0.8
  private static let binWidth = 0.005
  private static let bins = 91
  /// The sensor's own calibration counts as so many stretches: five minutes of them.
  private static let prior: UInt32 = 30

  init() {
    counts[Self.bin(of: 1)] = Self.prior
    total = Self.prior
  }

  /// What the pedometer's metres are multiplied with: the median.
  private(set) var scale = 1.0

  /// Decides a stretch.
  ///
  /// - Parameters:
  ///   - path: its length through positions, metres.
  ///   - straight: from its first fix to its last, metres.
  ///   - steps: its length by the pedometer, metres.
  func choose(path: Double, straight: Double, steps: Double, settings: MetricsSettings) -> (Double, DistanceSource) {
    let calibrated = steps * scale
    if abs(path - calibrated) <= settings.pedometerToleranceShare * calibrated { return (path, .positions) }
    // A pedometer that does not notice that its runner has left is not worn.
    if straight > 2 * calibrated, straight > Self.leavingMetersMin { return (path, .positions) }
    return (calibrated, .pedometer)
  }
  /// Further than receivers wander within a stretch.
  private static let leavingMetersMin = 20.0

  /// Learns from a stretch.
  mutating func learn(path: Double, steps: Double) {
    guard steps >= 1 else { return }
    counts[Self.bin(of: path / steps)] += 1
    total += 1
    var seen: UInt32 = 0
    for (index, count) in counts.enumerated() {
      seen += count
      if seen * 2 >= total {
        scale = Self.ratioMin + Double(index) * Self.binWidth
        break
      }
    }
  }

  private static func bin(of ratio: Double) -> Int {
    let place = ((ratio - ratioMin) / binWidth).rounded()
    return place.isFinite ? Int(min(max(place, 0), Double(bins - 1))) : 0
  }
}
