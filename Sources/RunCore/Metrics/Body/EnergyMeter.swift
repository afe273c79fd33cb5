import DequeModule

/// Energy spent, resting metabolism included, from an estimate of the runner's oxygen uptake.
///
/// Where the distance is known, the meter uses the ACSM's metabolic equations (ACSM's Guidelines for Exercise Testing
/// and Prescription, 10th edition, table 6.3), elsewhere the metabolic equivalents of the 2024 Adult Compendium of
/// Physical Activities. The grade in the equations is the rise of the smoothed altitude over the last
/// ``MetricsSettings/gradeDistanceMeters``. Downhill counts as level, because the equations hold for level and rising
/// ground only.
struct EnergyMeter: Hashable, Sendable {
  /// Joules per kilogram of the runner's weight; `nil` before the first stretch whose energy is known.
  private(set) var joulesPerKilogram: Double?

  /// The altitude at a distance along the present line.
  private struct Mark: Hashable {
    let meters: Double
    let altitudeMeters: Double
  }
  /// Ten marks per window, and one more at each end.
  private static let marksPerWindow = 10.0
  private static let marksMax = 12

  private var marks: Deque<Mark> = []
  private var meters = 0.0
  private var line: Int?
  /// The smoothed speed, metres per second.
  private var speed: Double?

  /// The energy; `nil` without the runner's weight.
  func joules(settings: MetricsSettings) -> Double? {
    guard let joulesPerKilogram, let weight = settings.weightKilograms, weight > 0 else { return nil }
    return joulesPerKilogram * weight
  }

  /// Adds the energy of one stretch of active time; stretches are received in order.
  ///
  /// - Parameters:
  ///   - meters: the distance covered in it; `nil` when unknown.
  ///   - line: the number of the line; the grade never spans two lines.
  ///   - altitudeMeters: the smoothed altitude at its end.
  mutating func fold(
    meters: Double?, seconds: Double, line: Int, altitudeMeters: Double?, activity: MotionActivity,
    cadenceStepsPerMinute: Double?, settings: MetricsSettings
  ) {
    guard seconds > 0, seconds.isFinite else { return }
    if self.line != line {
      forgetTheGround()
      self.line = line
    }
    guard let meters, meters >= 0, meters.isFinite else {
      forgetTheGround()
      spend(Self.equivalents(activity, cadenceStepsPerMinute, settings).map { $0 * Self.restingUptake }, for: seconds)
      return
    }
    let now = meters / seconds
    let smoothed = speed.map { $0 + (now - $0) * seconds / (settings.runningSpeedSmoothing.seconds + seconds) } ?? now
    speed = smoothed
    let grade = grade(after: meters, altitudeMeters: altitudeMeters, settings: settings)
    let gait = Gait(activity, speed: smoothed, settings: settings)
    spend(gait.uptake(metersPerMinute: now * 60, grade: grade), for: seconds)
  }

  /// Millilitres of oxygen per kilogram and minute at rest: one metabolic equivalent.
  private static let restingUptake = 3.5
  /// A litre of oxygen yields about 5 kcal of 4184 J.
  private static let joulesPerMilliliter = 5 * 4.184

  private mutating func spend(_ uptake: Double?, for seconds: Double) {
    guard let uptake else { return }
    joulesPerKilogram = (joulesPerKilogram ?? 0) + uptake * seconds / 60 * Self.joulesPerMilliliter
  }

  private mutating func forgetTheGround() {
    marks.removeAll(keepingCapacity: true)
    speed = nil
  }

  /// The grade under the runner; zero downhill and where it is unknown.
  private mutating func grade(after step: Double, altitudeMeters: Double?, settings: MetricsSettings) -> Double {
    meters += step
    guard let altitudeMeters else {
      marks.removeAll(keepingCapacity: true)
      return 0
    }
    let window = settings.gradeDistanceMeters
    let here = Mark(meters: meters, altitudeMeters: altitudeMeters)
    while marks.count >= 2, meters - marks[1].meters >= window || marks.count >= Self.marksMax { marks.removeFirst() }
    defer {
      if marks.last.map({ meters - $0.meters >= window / Self.marksPerWindow }) ?? true { marks.append(here) }
    }
    guard let back = marks.first, meters - back.meters >= settings.gradeDistanceMetersMin, meters > back.meters else {
      return 0
    }
    let grade = (altitudeMeters - back.altitudeMeters) / (meters - back.meters)
    return min(max(0, grade), settings.gradeMax)
  }

  /// Metabolic equivalents where the distance is unknown, from the 2024 Adult Compendium (Herrmann et al., J Sport
  /// Health Sci 13, 2024); `nil` when the activity is unknown.
  private static func equivalents(
    _ activity: MotionActivity, _ cadenceStepsPerMinute: Double?, _ settings: MetricsSettings
  ) -> Double? {
    switch activity {
    case .stationary: return standing
    case .walking: return walking
    case .running: return running
    case .unknown:
      guard let cadenceStepsPerMinute else { return nil }
      if settings.isRunning(cadenceStepsPerMinute: cadenceStepsPerMinute) { return running }
      return cadenceStepsPerMinute > 0 ? walking : standing
    }
  }
  /// Compendium code 07040: standing quietly.
  private static let standing = 1.3
  /// Compendium code 17190: walking, 2.8 to 3.4 mph, level, moderate pace.
  private static let walking = 3.8
  /// Compendium code 12150: running.
  private static let running = 8.0

  /// The cases that the equations distinguish.
  private enum Gait {
    case standing, walking, running

    init(_ activity: MotionActivity, speed: Double, settings: MetricsSettings) {
      switch activity {
      case .stationary: self = .standing
      case .walking: self = .walking
      case .running: self = .running
      case .unknown: self = settings.isRunning(speed: speed) ? .running : .walking
      }
    }

    /// Millilitres of oxygen per kilogram and minute; at least that of standing.
    func uptake(metersPerMinute: Double, grade: Double) -> Double {
      let least = EnergyMeter.standing * EnergyMeter.restingUptake
      return switch self {
      case .standing: least
      case .walking: max(least, EnergyMeter.restingUptake + 0.1 * metersPerMinute + 1.8 * metersPerMinute * grade)
      case .running: max(least, EnergyMeter.restingUptake + 0.2 * metersPerMinute + 0.9 * metersPerMinute * grade)
      }
    }
  }
}
