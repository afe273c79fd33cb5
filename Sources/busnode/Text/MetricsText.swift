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
      return name + String(repeating: " ", count: max(1, 16 - TextWidth.of(name))) + text
    }
    let pedometer = metrics.pedometerMeters.flatMap { $0 > 0 ? $0 : nil }
    let clocks = [
      row(Tongue.say(.labelElapsed), DurationText.clock(metrics.elapsed)),
      row(Tongue.say(.labelActive), DurationText.clock(metrics.active)),
      row("", metrics.isAutoPaused ? Tongue.say(.standsStill) : nil), row(Tongue.say(.labelGoal), goal),
    ]
    let way = [
      row(Tongue.say(.labelDistance), metrics.distanceMeters.map(units.distanceText), .distance),
      row("", pedometer.map { Tongue.say(.byPedometer, ["distance": units.distanceText($0)]) }),
      row(Tongue.say(.labelPace), metrics.currentPaceSecondsPerKilometer.map(units.paceText)),
      row(Tongue.say(.labelAveragePace), metrics.averagePaceSecondsPerKilometer.map(units.paceText)),
      row("", metrics.bestPaceSecondsPerKilometer.map { Tongue.say(.inBestMinute, ["pace": units.paceText($0)]) }),
      row("", metrics.worstPaceSecondsPerKilometer.map { Tongue.say(.inWorstMinute, ["pace": units.paceText($0)]) }),
    ]
    let body = [
      row(Tongue.say(.labelHeartRate), metrics.heartRateBpm.map { "\(Sentence.whole($0)) bpm" }, .heartRate),
      row("", metrics.averageHeartRateBpm.map { Tongue.say(.bpmOnAverage, ["rate": Sentence.whole($0)]) }),
      row("", metrics.maxHeartRateBpm.map { Tongue.say(.bpmAtMost, ["rate": Sentence.whole($0)]) }),
      row(
        Tongue.say(.labelCadence),
        metrics.cadenceStepsPerMinute.map { Tongue.say(.stepsNow, ["count": Sentence.whole($0)]) }, .cadence),
      row("", metrics.averageCadenceStepsPerMinute.map { Tongue.say(.stepsOnAverage, ["count": Sentence.whole($0)]) }),
    ]
    let rest = [
      row(Tongue.say(.labelAltitude), metrics.altitudeMeters.map(units.heightText), .elevation),
      row(Tongue.say(.labelClimbed), metrics.elevationGainMeters.map(units.heightText)),
      row(Tongue.say(.labelDescended), metrics.elevationLossMeters.map(units.heightText)),
      row(Tongue.say(.labelEnergy), metrics.energyJoules.map(Units.energyText)),
      row(Tongue.say(.labelLaps), metrics.lapCount > 0 ? "\(metrics.lapCount)" : nil),
    ]
    return (clocks + way + body + rest).compactMap { $0 }
  }
}
