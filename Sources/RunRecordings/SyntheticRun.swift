import Foundation
public import RunCore

/// A modelled runner, for those who have no recording at hand.
///
/// A path along the WGS84 ellipsoid over gentle hills; a speed that warms up, wanders, surges and slows uphill; a heart
/// rate that follows the effort with a lag; a cadence that follows the speed; a receiver whose error drifts and at
/// times grows past what counts; stops at which the runner stands, and one at which the timer is stopped too. The same
/// seed and duration give the same run on every platform: its generator is its own, and readings are rounded to what
/// sensors resolve.
public struct SyntheticRun: Hashable, Sendable {
  /// What everything random is drawn from.
  public let seed: UInt64
  /// How long it lasts, pauses included; whole seconds.
  public let duration: BusDuration

  /// Five minutes look like a run.
  public static let defaultDuration = BusDuration.seconds(300)
  /// A shorter one could not be paused, and a longer one than a day is nobody's.
  static let secondsRange: ClosedRange<Int64> = 10...86400

  /// A run; a duration outside 10 s … 24 h is taken as the nearest of these.
  public init(seed: UInt64, duration: BusDuration = SyntheticRun.defaultDuration) {
    self.seed = seed
    let seconds = duration.nanoseconds / 1_000_000_000
    self.duration = .seconds(min(max(seconds, Self.secondsRange.lowerBound), Self.secondsRange.upperBound))
  }

  /// The run as the phone and the watch would have recorded it, one trackpoint a second. Its summary holds the model's
  /// own distance and timer, without any receiver's error.
  public func recording() -> Recording {
    var generator = SeededGenerator(seed: seed)
    let seconds = Int(duration.nanoseconds / 1_000_000_000)
    let plan = Plan(seconds: seconds, using: &generator)
    var runner = Runner(using: &generator)
    var receiver = Receiver(using: &generator)

    var track = RecordedTrack()
    track.name = "Synthetic run \(seed)"
    var meters = 0.0
    for second in 0...seconds {
      if second > 0 {
        let step = runner.advance(wish: plan.speed(at: second, using: &generator), using: &generator)
        if plan.isTimed(before: second) { meters += step }
      }
      receiver.advance(using: &generator)
      guard !plan.isTimerStopped(at: second) else { continue }
      if plan.resumes.contains(second) { track.breaksBefore.insert(track.points.count) }
      var point = Trackpoint(time: Self.wallStart + Int64(second) * 1_000_000_000, line: 0)
      point.position = receiver.fix(north: runner.north, east: runner.east)
      point.altitudeMeters = ((runner.altitudeMeters + receiver.altitudeErrorMeters) * 10).rounded() / 10
      // As devices count: strides of one foot.
      point.cadence = runner.cadenceStepsPerMinute / 2
      point.heartRateBpm = runner.heartRateBpm.rounded()
      track.points.append(point)
    }
    // The builder's rules see a hole where the timer stood, as in any file.
    guard var recording = try? track.recording(named: "Synthetic run \(seed)") else {
      preconditionFailure("a modelled run of \(seconds) s is no recording")
    }
    var summary = RecordedSummary()
    summary.distanceMeters = meters
    summary.timerSeconds = Double((1...seconds).count { plan.isTimed(before: $0) })
    recording.summary = summary
    return recording
  }

  /// 2026-01-01T08:00:00Z; for display only, and the same for every run.
  private static let wallStart: Int64 = 1_767_254_400_000_000_000

  /// When the runner stands, when the timer is stopped, and how fast it is meant to go.
  private struct Plan {
    /// Standing with a running timer: at a crossing.
    private let stands: [Range<Int>]
    /// Standing with a stopped timer; the first and the last second still have a point.
    private let timerStops: [ClosedRange<Int>]
    private let surge: Range<Int>
    private let cruise: Double
    private let phase: Double
    let resumes: Set<Int>

    init(seconds: Int, using generator: inout SeededGenerator) {
      var stands: [Range<Int>] = []
      var timerStops: [ClosedRange<Int>] = []
      // One of each in every five minutes, in their own thirds, so that they never meet.
      for start in stride(from: 0, to: seconds, by: 300) where seconds - start >= 60 {
        let span = min(300, seconds - start)
        let stand = start + span * 3 / 10 + generator.integer(below: span / 20)
        stands.append(stand..<stand + 6 + generator.integer(below: 7))
        let stop = start + span * 13 / 20 + generator.integer(below: span / 20)
        if start.isMultiple(of: 600) { timerStops.append(stop...stop + 10 + generator.integer(below: 8)) }
      }
      self.stands = stands
      self.timerStops = timerStops
      let surgeStart = seconds * 45 / 100
      surge = surgeStart..<surgeStart + min(120, seconds / 10)
      cruise = 2.8 + 0.5 * generator.unit()
      phase = 2 * .pi * generator.unit()
      resumes = Set(timerStops.map(\.upperBound))
    }

    func isTimerStopped(at second: Int) -> Bool {
      timerStops.contains { $0.lowerBound < second && second < $0.upperBound }
    }
    /// The timer ran in the second that ends here.
    func isTimed(before second: Int) -> Bool {
      !timerStops.contains { $0.lowerBound < second && second <= $0.upperBound }
    }
    func speed(at second: Int, using generator: inout SeededGenerator) -> Double {
      if stands.contains(where: { $0.contains(second) }) { return 0 }
      if timerStops.contains(where: { $0.contains(second) }) { return 0 }
      let time = Double(second)
      let wander = 0.15 * sin(time / 23 + phase) + 0.1 * sin(time / 71 + 2 * phase)
      let warmUp = min(1, 0.8 + time / 300)
      return (cruise + wander) * warmUp + (surge.contains(second) ? 1 : 0) + 0.05 * generator.normal()
    }
  }
}

/// A body that moves, climbs, breathes.
private struct Runner {
  /// Metres from where it began.
  private(set) var north = 0.0
  private(set) var east = 0.0
  private(set) var altitudeMeters = 0.0
  private(set) var cadenceStepsPerMinute = 0.0
  private(set) var heartRateBpm: Double

  private var speed = 0.0
  private var heading: Double
  private var travelled = 0.0
  private var seconds = 0.0
  private let hillPhase: Double
  private let wanderPhase: Double

  init(using generator: inout SeededGenerator) {
    heading = 2 * .pi * generator.unit()
    hillPhase = 2 * .pi * generator.unit()
    wanderPhase = 2 * .pi * generator.unit()
    heartRateBpm = 78 + 10 * generator.unit()
    altitudeMeters = height
  }

  /// Hills of 12 m every 700 m, with smaller ones on them.
  private var height: Double {
    60 + 6 * sin(2 * .pi * travelled / 700 + hillPhase) + 1.5
      * sin(2 * .pi * travelled / 190 + wanderPhase)
  }

  /// Lives one second; returns the metres moved in it.
  mutating func advance(wish: Double, using generator: inout SeededGenerator) -> Double {
    seconds += 1
    let before = altitudeMeters
    let previous = speed
    // Legs change speed within two or three seconds.
    speed = max(0, speed + (wish - speed) * 0.45)
    if wish == 0, speed < 0.3 { speed = 0 }
    let step = (speed + previous) / 2
    travelled += step
    altitudeMeters = height
    let grade = step > 0.5 ? (altitudeMeters - before) / step : 0
    // Uphill costs speed, downhill gives back less.
    speed *= 1 - (grade > 0 ? 1.2 : 0.5) * grade * 0.45

    // A loop of some minutes with bends in it.
    heading += 2 * .pi / 420 + 0.03 * sin(seconds / 17 + wanderPhase)
    north += step * cos(heading)
    east += step * sin(heading)

    // Oxygen grows with speed, and with grade; the heart follows within a minute, and comes down more slowly.
    let effort = min(1.05, 0.18 + 0.2 * speed + 1.4 * max(0, grade))
    let target = 62 + 122 * effort + seconds / 600
    heartRateBpm += (target - heartRateBpm) / (target > heartRateBpm ? 28 : 45) + 0.35 * generator.normal()
    heartRateBpm = min(max(heartRateBpm, 55), 200)
    cadenceStepsPerMinute = speed < 0.4 ? 0 : 2 * (66 + 6.5 * speed + 0.5 * generator.normal()).rounded()
    return step
  }
}

/// A satellite receiver: its error drifts, as real ones do, far more than it jitters.
private struct Receiver {
  private var errorNorth = 0.0
  private var errorEast = 0.0
  private(set) var altitudeErrorMeters = 0.0
  private var accuracyMeters: Double
  /// Seconds for which something stands in the way.
  private var shadowed = 0

  init(using generator: inout SeededGenerator) { accuracyMeters = 4 + 3 * generator.unit() }

  mutating func advance(using generator: inout SeededGenerator) {
    if shadowed > 0 {
      shadowed -= 1
    } else if generator.integer(below: 300) == 0 {
      shadowed = 3 + generator.integer(below: 4)
    }
    let drift = shadowed > 0 ? 1.2 : 0.3
    errorNorth = 0.98 * errorNorth + drift * generator.normal()
    errorEast = 0.98 * errorEast + drift * generator.normal()
    altitudeErrorMeters = 0.985 * altitudeErrorMeters + 0.15 * generator.normal()
    let usual = shadowed > 0 ? 24.0 : 5.0
    accuracyMeters = max(
      3, accuracyMeters + (usual - accuracyMeters) * (shadowed > 0 ? 0.6 : 0.35) + 0.3 * generator.normal())
  }

  /// A fix near the origin of all synthetic runs, rounded to the centimetre that receivers write.
  func fix(north: Double, east: Double) -> Position {
    let origin = (latitude: 52.5, longitude: 13.4)
    let e2 = Geodesic.flattening * (2 - Geodesic.flattening)
    let sine = sin(origin.latitude * .pi / 180)
    let w = (1 - e2 * sine * sine).squareRoot()
    // The radii of curvature along the meridian and across it: exact enough within some kilometres.
    let alongMeridian = Geodesic.equatorialRadiusMeters * (1 - e2) / (w * w * w)
    let latitude = origin.latitude + (north + errorNorth) / alongMeridian * 180 / .pi
    let across = Geodesic.equatorialRadiusMeters / w * cos(latitude * .pi / 180)
    let longitude = origin.longitude + (east + errorEast) / across * 180 / .pi
    return Position(
      latitude: (latitude * 1e7).rounded() / 1e7, longitude: (longitude * 1e7).rounded() / 1e7,
      horizontalAccuracyMeters: (accuracyMeters * 10).rounded() / 10)
  }
}

extension SeededGenerator {
  /// From 0 up to, not including, 1.
  fileprivate mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
  /// From 0 up to, not including, a bound; 0 for a bound below 2.
  fileprivate mutating func integer(below bound: Int) -> Int { bound < 2 ? 0 : Int(unit() * Double(bound)) }
  /// About normal, mean 0 and variance 1: twelve uniforms, without a function whose last bit platforms disagree on.
  fileprivate mutating func normal() -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += unit() }
    return sum
  }
}
