/// Chooses between positions and pedometer for a stretch that both have measured.
///
/// Noise makes a path through positions longer, and a drifting receiver makes it wrong for a while. A pedometer is
/// steady, but its scale is uncertain. So the judge calibrates the pedometer with the median ratio of positions to
/// pedometer over all stretches so far. Where positions agree with the calibrated pedometer within 1 %, positions
/// count; elsewhere the calibrated pedometer counts.
struct DistanceJudge: Hashable, Sendable {
  /// A histogram of the ratios of positions to pedometer, from `ratioMin` on, in bins of `binWidth`.
  private var counts = [UInt32](repeating: 0, count: DistanceJudge.bins)
  private var total: UInt32 = 0

  private static let ratioMin = 0.8
  private static let binWidth = 0.005
  private static let bins = 91
  /// The sensor's own calibration (ratio 1) counts as this many stretches, five minutes of running.
  private static let prior: UInt32 = 30

  init() {
    counts[Self.bin(of: 1)] = Self.prior
    total = Self.prior
  }

  /// The factor for the pedometer's metres: the median ratio.
  private(set) var scale = 1.0

  /// The length of a stretch, metres, and the source that counts for it.
  ///
  /// - Parameters:
  ///   - path: its length through positions, metres.
  ///   - straight: the straight line from its first fix to its last, metres.
  ///   - steps: its length by the pedometer, metres.
  func choose(path: Double, straight: Double, steps: Double, settings: MetricsSettings) -> (Double, DistanceSource) {
    let calibrated = steps * scale
    if abs(path - calibrated) <= settings.pedometerToleranceShare * calibrated { return (path, .positions) }
    if steps < Self.stepsMin, straight > Self.leavingMetersMin, isLeftBehind { return (path, .positions) }
    return (calibrated, .pedometer)
  }

  /// Adds a stretch to the calibration. The parameters are those of ``choose(path:straight:steps:settings:)``.
  mutating func learn(path: Double, straight: Double, steps: Double) {
    if steps >= Self.stepsMin {
      hasCounted = true
      idleStretches = 0
    } else {
      idleStretches = straight > Self.leavingMetersMin ? min(idleStretches + 1, Self.idleStretchesMax) : 0
    }
    // A ratio outside this range is not a matter of scale: one of the two sources failed.
    guard steps >= Self.stepsMin, Self.ratiosLearnt.contains(path / steps) else { return }
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

  /// Whether the pedometer is not worn: it has never counted a step, or counted none in the last stretches while
  /// positions moved on. A receiver seldom drifts for that long.
  private var isLeftBehind: Bool { !hasCounted || idleStretches >= Self.idleStretchesMax }
  private var hasCounted = false
  private var idleStretches: UInt8 = 0
  private static let idleStretchesMax: UInt8 = 2
  /// A receiver at rest drifts less than this within a stretch.
  private static let leavingMetersMin = 20.0
  /// Fewer metres by the pedometer count as none.
  private static let stepsMin = 1.0
  /// An uncalibrated foot pod is wrong by a few per cent, a badly worn one by 10 %.
  private static let ratiosLearnt = 0.85...1.15

  private static func bin(of ratio: Double) -> Int {
    let place = ((ratio - ratioMin) / binWidth).rounded()
    return place.isFinite ? Int(min(max(place, 0), Double(bins - 1))) : 0
  }
}
