import Foundation
package import RunCore

/// A modelled run, for use without a recording.
///
///     let recording = SyntheticRun(seed: 1, duration: .seconds(600)).recording()
///
/// The runner moves along the WGS84 ellipsoid over gentle hills. The speed warms up, varies, surges and slows uphill;
/// the heart rate follows the effort with a lag; the cadence follows the speed. The error of the receiver drifts and at
/// times exceeds what is accepted. The runner stands still at times, at some of them with a stopped timer.
///
/// The same seed, duration and pace give the same run on every platform, because the model has its own random generator and
/// rounds readings to the resolution of sensors.
package struct SyntheticRun: Hashable, Sendable {
  /// The seed of the random generator.
  package let seed: UInt64
  /// The length with pauses, in whole seconds.
  package let duration: BusDuration
  /// The time for a kilometre on flat ground once the runner is warm; `nil` for one that the seed chooses.
  package let pace: BusDuration?

  /// The paces that a runner can have: from 2 to 20 minutes a kilometre.
  package static let paces = BusDuration.seconds(120)...BusDuration.seconds(1200)
  /// Five minutes.
  package static let defaultDuration = BusDuration.seconds(300)
  /// The lengths that a run can have: from ten seconds to a day.
  package static let durations = BusDuration.seconds(10)...BusDuration.seconds(86400)

  /// Makes a run from a seed.
  ///
  /// - Parameters:
  ///   - seed: Decides everything that is random.
  ///   - duration: The length, limited to 10 s … 24 h and rounded down to seconds.
  ///   - pace: The time for a kilometre, limited to ``paces``; stands, hills and surges come on top.
  package init(seed: UInt64, duration: BusDuration = SyntheticRun.defaultDuration, pace: BusDuration? = nil) {
    self.seed = seed
    self.pace = pace.map { min(max($0, Self.paces.lowerBound), Self.paces.upperBound) }
    let allowed = min(max(duration, Self.durations.lowerBound), Self.durations.upperBound)
    self.duration = .seconds(allowed.nanoseconds / 1_000_000_000)
  }

  /// The run as a phone and a watch would record it, with one trackpoint a second. The summary holds the model's exact
  /// distance and timer, without the receiver's error.
  package func recording() -> Recording {
    var generator = SeededGenerator(seed: seed)
    let seconds = Int(duration.nanoseconds / 1_000_000_000)
    let plan = Plan(seconds: seconds, pace: pace, using: &generator)
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
      // Most devices record strides of one foot.
      point.cadence = runner.cadenceStepsPerMinute / 2
      point.heartRateBpm = runner.heartRateBpm.rounded()
      track.points.append(point)
    }
    // `RecordedTrack` finds the timer stops in the same way as in a file.
    guard var recording = try? track.recording(named: "Synthetic run \(seed)") else {
      preconditionFailure("a modelled run of \(seconds) s is no recording")
    }
    var summary = RecordedSummary()
    summary.distanceMeters = meters
    summary.timerSeconds = Double((1...seconds).count { plan.isTimed(before: $0) })
    recording.summary = summary
    return recording
  }

  /// 2026-01-01T08:00:00Z, the start of every modelled run; for display only.
  private static let wallStart: Int64 = 1_767_254_400_000_000_000

  /// When the runner stands, when the timer is stopped, and the intended speed.
  private struct Plan {
    /// When the runner stands and the timer runs, as at a crossing.
    private let stands: [Range<Int>]
    /// When the runner stands and the timer is stopped; the first and the last second still have a point.
    private let timerStops: [ClosedRange<Int>]
    private let surge: Range<Int>
    private let cruise: Double
    private let phase: Double
    let resumes: Set<Int>

    init(seconds: Int, pace: BusDuration?, using generator: inout SeededGenerator) {
      var stands: [Range<Int>] = []
      var timerStops: [ClosedRange<Int>] = []
      // Every five minutes have one stand, and every ten minutes one timer stop, in different thirds so that they never
      // overlap.
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
      // Drawn with a given pace, too: the rest of the run is the same then.
      let usual = 2.8 + 0.5 * generator.unit()
      cruise = pace.map { 1000 / $0.seconds } ?? usual
      phase = 2 * .pi * generator.unit()
      resumes = Set(timerStops.map(\.upperBound))
    }

    func isTimerStopped(at second: Int) -> Bool {
      timerStops.contains { $0.lowerBound < second && second < $0.upperBound }
    }
    /// Whether the timer ran in the second that ends at `second`.
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

/// The model of the runner's movement and heart rate.
private struct Runner {
  /// Metres from the start.
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

  /// Hills of 12 m every 700 m, with smaller hills of 3 m every 190 m on them.
  private var height: Double {
    60 + 6 * sin(2 * .pi * travelled / 700 + hillPhase) + 1.5
      * sin(2 * .pi * travelled / 190 + wanderPhase)
  }

  /// Advances by one second.
  ///
  /// - Parameter wish: The intended speed in metres per second.
  /// - Returns: The metres moved.
  mutating func advance(wish: Double, using generator: inout SeededGenerator) -> Double {
    seconds += 1
    let before = altitudeMeters
    let previous = speed
    // A runner changes speed within two or three seconds.
    speed = max(0, speed + (wish - speed) * 0.45)
    if wish == 0, speed < 0.3 { speed = 0 }
    let step = (speed + previous) / 2
    travelled += step
    altitudeMeters = height
    let grade = step > 0.5 ? (altitudeMeters - before) / step : 0
    // Uphill costs speed, downhill gives back less.
    speed *= 1 - (grade > 0 ? 1.2 : 0.5) * grade * 0.45

    // The path is a loop of seven minutes with bends.
    heading += 2 * .pi / 420 + 0.03 * sin(seconds / 17 + wanderPhase)
    north += step * cos(heading)
    east += step * sin(heading)

    // Oxygen uptake grows with speed and grade. The heart rate follows within a minute, and falls more slowly.
    let effort = min(1.05, 0.18 + 0.2 * speed + 1.4 * max(0, grade))
    let target = 62 + 122 * effort + seconds / 600
    heartRateBpm += (target - heartRateBpm) / (target > heartRateBpm ? 28 : 45) + 0.35 * generator.normal()
    heartRateBpm = min(max(heartRateBpm, 55), 200)
    cadenceStepsPerMinute = speed < 0.4 ? 0 : 2 * (66 + 6.5 * speed + 0.5 * generator.normal()).rounded()
    return step
  }
}

/// The model of a satellite receiver. As with real receivers, its error drifts far more than it jitters.
private struct Receiver {
  private var errorNorth = 0.0
  private var errorEast = 0.0
  private(set) var altitudeErrorMeters = 0.0
  private var accuracyMeters: Double
  /// For how many more seconds reception is obstructed.
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

  /// A fix at an offset in metres from the start of all modelled runs, rounded to a centimetre as by receivers.
  func fix(north: Double, east: Double) -> Position {
    let origin = (latitude: 52.5, longitude: 13.4)
    let e2 = Geodesic.flattening * (2 - Geodesic.flattening)
    let sine = sin(origin.latitude * .pi / 180)
    let w = (1 - e2 * sine * sine).squareRoot()
    // Use the radii of curvature along the meridian and across it, which is exact enough within some kilometres.
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
  /// Uniform in 0 ..< 1.
  fileprivate mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
  /// Uniform in 0 ..< bound; 0 for a bound below 2.
  fileprivate mutating func integer(below bound: Int) -> Int { bound < 2 ? 0 : Int(unit() * Double(bound)) }
  /// About normal with mean 0 and variance 1: the sum of twelve uniform numbers. Functions such as `log` may differ in
  /// their last bit from platform to platform.
  fileprivate mutating func normal() -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += unit() }
    return sum
  }
}
