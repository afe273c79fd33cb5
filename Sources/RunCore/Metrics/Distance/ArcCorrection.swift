import RealModule

/// What is lost by drawing straight lines between sparse fixes: a runner's bend is longer than its chords.
///
/// A chord of length c of a circle that turns by φ along it belongs to an arc of c · (φ/2) / sin(φ/2) ≈ c · (1 + φ²/24).
/// The turn at a fix is shared by the two steps that meet there, so that each fix adds half of both. Only steps of some
/// seconds are lengthened: at one fix a second turns are noise, and the noise has lengthened the path already. A sharp
/// turn is a corner, which nobody cuts.
struct ArcCorrection: Hashable, Sendable {
  private var before: Step?

  private struct Step: Hashable {
    let meters: Double
    /// Radians from north.
    let heading: Double
  }

  /// A new path begins.
  mutating func restart() { before = nil }

  /// What a step adds, metres.
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
