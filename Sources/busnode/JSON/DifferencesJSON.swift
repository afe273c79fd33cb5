import RunBus
import RunRecordings
import RunScripts

/// A number as RunBus computes it beside the recording device's own.
struct DifferenceJSON: Codable, Hashable, Sendable {
  @Explicit var ours: Double?
  @Explicit var recorded: Double?
  /// `ours` minus `recorded`, in the unit of the key.
  @Explicit var difference: Double?
  /// The difference in percent of `recorded`.
  @Explicit var percent: Double?

  init(_ value: ComparedValue) {
    _ours = Explicit(wrappedValue: value.ours)
    _recorded = Explicit(wrappedValue: value.recorded)
    _difference = Explicit(wrappedValue: value.difference)
    _percent = Explicit(wrappedValue: value.percent)
  }
}

/// The key `differences` of `measure --compare --json`.
struct DifferencesJSON: Codable, Hashable, Sendable {
  struct Lap: Codable, Hashable, Sendable {
    var number: Int
    var distanceMeters: DifferenceJSON
    var activeSeconds: DifferenceJSON
    var averageHeartRateBpm: DifferenceJSON
  }

  var distanceMeters: DifferenceJSON
  var activeSeconds: DifferenceJSON
  var averageHeartRateBpm: DifferenceJSON
  var maxHeartRateBpm: DifferenceJSON
  var averageCadenceStepsPerMinute: DifferenceJSON
  var elevationGainMeters: DifferenceJSON
  var elevationLossMeters: DifferenceJSON
  var energyJoules: DifferenceJSON
  /// The device's laps beside those that RunBus computes between the same marks.
  var laps: [Lap]
  /// `kilometer` or `mile` when the device kept laps of that length.
  @Explicit var splitUnit: SplitUnit?
  /// The device's laps beside the splits that RunBus computes.
  var splits: [Lap]

  init(_ comparison: Comparison) {
    distanceMeters = DifferenceJSON(comparison.distanceMeters)
    activeSeconds = DifferenceJSON(comparison.activeSeconds)
    averageHeartRateBpm = DifferenceJSON(comparison.averageHeartRateBpm)
    maxHeartRateBpm = DifferenceJSON(comparison.maxHeartRateBpm)
    averageCadenceStepsPerMinute = DifferenceJSON(comparison.averageCadenceStepsPerMinute)
    elevationGainMeters = DifferenceJSON(comparison.elevationGainMeters)
    elevationLossMeters = DifferenceJSON(comparison.elevationLossMeters)
    energyJoules = DifferenceJSON(comparison.energyJoules)
    laps = comparison.laps.map { Lap($0) }
    _splitUnit = Explicit(wrappedValue: comparison.splitUnit)
    splits = comparison.splits.map { Lap($0) }
  }
}

extension DifferencesJSON.Lap {
  init(_ lap: ComparedLap) {
    self.init(
      number: lap.number, distanceMeters: DifferenceJSON(lap.distanceMeters),
      activeSeconds: DifferenceJSON(lap.activeSeconds), averageHeartRateBpm: DifferenceJSON(lap.averageHeartRateBpm))
  }
}
