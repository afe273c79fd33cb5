import RunBus
import RunScripts

/// The metrics of a run as text, one line each, without those that are not known.
enum MetricsText {
  /// - Parameters:
  ///   - goal: The goal of the run and what remains of it, in words.
  ///   - isRunning: Whether stale values are followed by their age. In a pause and after the stop all are old.
  static func table(
    _ metrics: RunMetrics, goal: String? = nil, in units: Units, isRunning: Bool
  ) -> [String] {
    func row(_ name: String, _ value: String?, _ metric: Metric? = nil) -> String? {
      guard var text = value else { return nil }
      if isRunning, let metric { text = Sentence.aged(text, metric, of: metrics) }
      return name + String(repeating: " ", count: max(1, 16 - name.count)) + text
    }
    let pedometer = metrics.pedometerMeters.flatMap { $0 > 0 ? $0 : nil }
    let clocks = [
      row("elapsed", DurationText.clock(metrics.elapsed)), row("active", DurationText.clock(metrics.active)),
      row("", metrics.isAutoPaused ? "auto-paused: the runner stands still" : nil), row("goal", goal),
    ]
    let way = [
      row("distance", metrics.distanceMeters.map(units.distanceText), .distance),
      row("", pedometer.map { "\(units.distanceText($0)) of it by pedometer" }),
      row("pace", metrics.currentPaceSecondsPerKilometer.map(units.paceText)),
      row("average pace", metrics.averagePaceSecondsPerKilometer.map(units.paceText)),
      row("", metrics.bestPaceSecondsPerKilometer.map { "\(units.paceText($0)) in the best minute" }),
      row("", metrics.worstPaceSecondsPerKilometer.map { "\(units.paceText($0)) in the slowest minute" }),
    ]
    let body = [
      row("heart rate", metrics.heartRateBpm.map { "\(Sentence.whole($0)) bpm" }, .heartRate),
      row("", metrics.averageHeartRateBpm.map { "\(Sentence.whole($0)) bpm on average" }),
      row("", metrics.maxHeartRateBpm.map { "\(Sentence.whole($0)) bpm at most" }),
      row("cadence", metrics.cadenceStepsPerMinute.map { "\(Sentence.whole($0)) steps/min" }, .cadence),
      row("", metrics.averageCadenceStepsPerMinute.map { "\(Sentence.whole($0)) steps/min on average" }),
    ]
    let rest = [
      row("altitude", metrics.altitudeMeters.map(units.heightText), .elevation),
      row("climbed", metrics.elevationGainMeters.map(units.heightText)),
      row("descended", metrics.elevationLossMeters.map(units.heightText)),
      row("energy", metrics.energyJoules.map(Units.energyText)),
      row("laps", metrics.lapCount > 0 ? "\(metrics.lapCount)" : nil),
    ]
    return (clocks + way + body + rest).compactMap { $0 }
  }
}
