import RunCore

/// A lap, or a whole track, as the file's own figures say.
struct TrackLap: Equatable {
  var figures = RecordedLap()
  /// The index of its first trackpoint, where the file nests them.
  var firstPoint: Int?
  /// When it began, nanoseconds since 1970, where the file says that, too.
  var time: Int64?
  /// As recorded: strides or steps, which the whole file decides.
  var cadence: Double?
  var energyKilocalories: Double?
  var elevationGainMeters: Double?
  var elevationLossMeters: Double?

  /// A figure that can be one; `nil` otherwise.
  static func figure(_ text: String) -> Double? {
    Double(text).flatMap { $0.isFinite && $0 >= 0 && $0 < 1e9 ? $0 : nil }
  }
}

extension RecordedSummary {
  /// The device's figures over a whole run.
  ///
  /// A total needs the figure of every lap, because a part is no total; and a total of zero is what exporters write
  /// for a figure they do not have. Averages are weighed by timer time over the laps that have one.
  init(of laps: [TrackLap], stepsPerCadence: Double) {
    self.init()
    func total(_ figure: (TrackLap) -> Double?) -> Double? {
      var sum = 0.0
      for lap in laps {
        guard let value = figure(lap) else { return nil }
        sum += value
      }
      return sum > 0 ? sum : nil
    }
    func mean(_ figure: (TrackLap) -> Double?) -> Double? {
      var (sum, seconds) = (0.0, 0.0)
      for lap in laps {
        guard let value = figure(lap), value > 0 else { continue }
        // A file with one lap and no time still has an average.
        let weight = laps.count == 1 ? 1 : lap.figures.timerSeconds ?? 0
        sum += value * weight
        seconds += weight
      }
      return seconds > 0 ? sum / seconds : nil
    }
    timerSeconds = total { $0.figures.timerSeconds }
    distanceMeters = total { $0.figures.distanceMeters }
    energyKilocalories = total(\.energyKilocalories)
    elevationGainMeters = total(\.elevationGainMeters)
    elevationLossMeters = total(\.elevationLossMeters)
    averageHeartRateBpm = mean { $0.figures.averageHeartRateBpm }
    maxHeartRateBpm = laps.compactMap(\.figures.maxHeartRateBpm).max().flatMap { $0 > 0 ? $0 : nil }
    averageCadenceStepsPerMinute = mean(\.cadence).map { $0 * stepsPerCadence }
  }

  /// It says something.
  var holdsAnything: Bool {
    var totals = self
    totals.laps = []
    return totals != RecordedSummary() || laps.contains { $0.hasFigures }
  }
}

extension RecordedLap {
  /// It says more than when it began.
  fileprivate var hasFigures: Bool {
    var figures = self
    figures.startedAt = nil
    return figures != RecordedLap() && (timerSeconds ?? 1) + (distanceMeters ?? 1) > 0
  }
}
