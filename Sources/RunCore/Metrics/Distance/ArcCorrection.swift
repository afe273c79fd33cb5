import RealModule

/// Adds the length that straight lines between sparse fixes miss in a bend.
///
/// On a circle, a chord of length c over which the direction turns by φ has an arc of c · (φ/2) / sin(φ/2) ≈ c · (1 +
/// φ²/24). The two steps that meet at a fix share the turn there, so each fix adds the correction for half of both.
/// Only steps of some seconds are lengthened: at one fix a second turns are noise, and that noise has already
/// lengthened the path. A sharp turn is a corner and adds nothing.
struct ArcCorrection: Hashable, Sendable {
  private var before: Step?

  private struct Step: Hashable {
    let meters: Double
    /// Radians from north.
    let heading: Double
  }

  /// Begins a new path: the next step has no turn at its first fix.
  mutating func restart() { before = nil }

  /// The metres to add for the turn between the last step and this one.
  mutating func metersAdded(
    from start: FixFilter.Fix, to position: Position, at time: BusTime, meters: Double, settings: MetricsSettings
  ) -> Double {
    let duration = time - start.time
    guard duration >= settings.arcStepMin, meters >= settings.arcStepMetersMin else {
      before = nil
      return 0
    }
    let north = position.latitude - start.position.latitude
    let middle = (position.latitude + start.position.latitude) / 2 * .pi / 180
    let east = (position.longitude - start.position.longitude).remainder(dividingBy: 360) * Double.cos(middle)
    let step = Step(meters: meters, heading: Double.atan2(y: east, x: north))
    defer { before = step }
    guard let before else { return 0 }
    let turn = abs((step.heading - before.heading).remainder(dividingBy: 2 * .pi))
    guard turn <= settings.arcTurnMax else { return 0 }
    return (before.meters + step.meters) / 2 * turn * turn / 24
  }
}
