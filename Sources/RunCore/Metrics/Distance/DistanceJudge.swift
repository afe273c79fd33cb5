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
    if steps < Self.stepsMin, straight > Self.leavingMetersMin, isLeftBehind { return (path, .positions) }
    return (calibrated, .pedometer)
  }

  /// Learns from a stretch.
  mutating func learn(path: Double, straight: Double, steps: Double) {
    if steps >= Self.stepsMin {
      hasCounted = true
      idleStretches = 0
    } else {
      idleStretches = straight > Self.leavingMetersMin ? min(idleStretches + 1, Self.idleStretchesMax) : 0
    }
    // More than a scale can be wrong by is no scale: one of the two was lost.
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

  /// A pedometer that does not notice that its runner has left is not worn: it has never counted a step, or has counted
  /// none for some stretches now, in which the positions got on. A receiver that drifts seldom does so for as long.
  private var isLeftBehind: Bool { !hasCounted || idleStretches >= Self.idleStretchesMax }
  private var hasCounted = false
  private var idleStretches: UInt8 = 0
  private static let idleStretchesMax: UInt8 = 2
  /// Further than receivers wander within a stretch.
  private static let leavingMetersMin = 20.0
  /// Fewer metres are none.
  private static let stepsMin = 1.0
  /// An uncalibrated foot pod is a few per cent off, a badly worn one a tenth.
  private static let ratiosLearnt = 0.85...1.15

  private static func bin(of ratio: Double) -> Int {
    let place = ((ratio - ratioMin) / binWidth).rounded()
    return place.isFinite ? Int(min(max(place, 0), Double(bins - 1))) : 0
  }
}
