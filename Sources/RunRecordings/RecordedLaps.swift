import RunCore

/// The file's own numbers for a lap or a whole track.
struct TrackLap: Equatable {
  var figures = RecordedLap()
  /// The index of its first trackpoint, if the format nests points in it.
  var firstPoint: Int?
  /// Its start in nanoseconds since 1970, if the file gives one.
  var time: Int64?
  /// As recorded, in strides of one foot or steps of both per minute; ``RecordedTrack/countSteps()`` decides.
  var cadence: Double?
  var energyKilocalories: Double?
  var elevationGainMeters: Double?
  var elevationLossMeters: Double?
  /// Whether the file repeated the whole track in this lap, so that its place follows from its time alone.
  var repeatsTrack = false
  /// The name and the description of a track.
  var name: String?
  var note: String?

  /// A number from 0 to below 1e9; `nil` for any other text.
  static func figure(_ text: String) -> Double? {
    PointFields.decimal(text).flatMap { $0 >= 0 && $0 < 1e9 ? $0 : nil }
  }
}

extension RecordedSummary {
  /// Adds up the device's numbers over all laps of a run.
  ///
  /// A total is `nil` unless every lap has the number, and also when it is zero, because exporters write zero for
  /// unknown numbers. Averages are weighted by timer time over the laps that have the number.
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
        // A single lap needs no weight, so it may lack a timer time.
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

  /// Whether there is any number besides the starts of laps.
  var holdsAnything: Bool {
    var totals = self
    totals.laps = []
    return totals != RecordedSummary() || laps.contains { $0.hasFigures }
  }
}

extension RecordedLap {
  /// Whether the lap has any number besides its start.
  fileprivate var hasFigures: Bool {
    var figures = self
    figures.startedAt = nil
    return figures != RecordedLap() && (timerSeconds ?? 1) + (distanceMeters ?? 1) > 0
  }
}
