import RunBus
package import RunCore

/// A number as RunBus computes it beside the recording device's own.
package struct ComparedValue: Hashable, Sendable {
  /// The number that RunBus computes; `nil` when it is not known.
  package let ours: Double?
  /// The number that the device wrote; `nil` when it wrote none.
  package let recorded: Double?

  /// Two numbers in the same unit.
  package init(ours: Double?, recorded: Double?) {
    self.ours = ours
    self.recorded = recorded
  }

  /// `ours` minus `recorded`; `nil` unless both are known.
  package var difference: Double? {
    guard let ours, let recorded else { return nil }
    return ours - recorded
  }
  /// The difference in percent of `recorded`; `nil` unless both are known and `recorded` is not zero.
  package var percent: Double? {
    guard let difference, let recorded, recorded != 0 else { return nil }
    return difference / recorded * 100
  }
}

/// A lap or split as RunBus computes it beside the device's lap of the same boundaries.
package struct ComparedLap: Hashable, Sendable {
  /// The number of the device's lap, from 1.
  package var number: Int
  /// Metres.
  package var distanceMeters: ComparedValue
  /// Active seconds, and the device's timer.
  package var activeSeconds: ComparedValue
  /// Mean heart rate, beats per minute.
  package var averageHeartRateBpm: ComparedValue
}

/// The numbers of a measured run beside those of the recording device.
package struct Comparison: Hashable, Sendable {
  /// Metres.
  package var distanceMeters: ComparedValue
  /// Active seconds, and the device's timer.
  package var activeSeconds: ComparedValue
  /// Mean heart rate, beats per minute.
  package var averageHeartRateBpm: ComparedValue
  /// Highest heart rate, beats per minute.
  package var maxHeartRateBpm: ComparedValue
  /// Mean cadence, steps of both feet per minute.
  package var averageCadenceStepsPerMinute: ComparedValue
  /// Metres climbed.
  package var elevationGainMeters: ComparedValue
  /// Metres descended.
  package var elevationLossMeters: ComparedValue
  /// Joules; the device computes with its own data about the runner.
  package var energyJoules: ComparedValue
  /// The device's laps beside those that RunBus computes between the same lap marks, where there are any. Empty when
  /// the device kept one lap or none.
  package var laps: [ComparedLap]
  /// The unit of `splits`; `nil` when there are none.
  package var splitUnit: SplitUnit?
  /// The device's laps beside the splits that RunBus computes, from the first lap on, as long as each lap is a
  /// kilometre or a mile long. Unlike `laps`, this also compares where RunBus finds the boundaries.
  package var splits: [ComparedLap]

  /// Compares a run with its recording's own numbers; `nil` when the recording has none.
  package init?(_ run: MeasuredRun) {
    guard let recorded = run.recorded else { return nil }
    let metrics = run.report.metrics
    distanceMeters = ComparedValue(ours: metrics.distanceMeters, recorded: recorded.distanceMeters)
    activeSeconds = ComparedValue(ours: metrics.active.seconds, recorded: recorded.timerSeconds)
    averageHeartRateBpm = ComparedValue(ours: metrics.averageHeartRateBpm, recorded: recorded.averageHeartRateBpm)
    maxHeartRateBpm = ComparedValue(ours: metrics.maxHeartRateBpm, recorded: recorded.maxHeartRateBpm)
    averageCadenceStepsPerMinute = ComparedValue(
      ours: metrics.averageCadenceStepsPerMinute, recorded: recorded.averageCadenceStepsPerMinute)
    elevationGainMeters = ComparedValue(ours: metrics.elevationGainMeters, recorded: recorded.elevationGainMeters)
    elevationLossMeters = ComparedValue(ours: metrics.elevationLossMeters, recorded: recorded.elevationLossMeters)
    energyJoules = ComparedValue(
      ours: metrics.energyJoules,
      recorded: recorded.energyKilocalories.map { $0 * RecordedSummary.joulesPerKilocalorie })

    laps = recorded.laps.count < 2 ? [] : Self.compare(recorded.laps, with: run.report.laps)
    splitUnit = Self.unit(of: recorded.laps)
    splits =
      splitUnit.map { unit in
        let lengths = recorded.laps.prefix { $0.isOne(unit) }
        return zip(lengths, run.report.splits(per: unit)).enumerated().map { index, pair in
          ComparedLap(number: index + 1, ours: pair.1.isComplete ? pair.1 : nil, recorded: pair.0)
        }
      } ?? []
  }

  /// Pairs each lap of the device with the lap of RunBus that begins and ends at the same marks.
  private static func compare(_ recorded: [RecordedLap], with ours: [Split]) -> [ComparedLap] {
    func lie(_ left: BusDuration, near right: BusDuration?) -> Bool {
      right.map { abs((left - $0).seconds) <= Recording.pressSpacing.seconds } ?? false
    }
    return recorded.enumerated().map { index, lap in
      let next = index + 1 < recorded.count ? recorded[index + 1].startedAt : nil
      let counterpart = ours.first { split in
        lie(split.startedAt, near: lap.startedAt)
          && (index + 1 == recorded.count ? split.number == ours.count : lie(split.endedAt, near: next))
      }
      return ComparedLap(number: index + 1, ours: counterpart, recorded: lap)
    }
  }

  private static func unit(of laps: [RecordedLap]) -> SplitUnit? {
    SplitUnit.allCases.first { unit in laps.first?.isOne(unit) ?? false }
  }
}

extension ComparedLap {
  fileprivate init(number: Int, ours: Split?, recorded: RecordedLap) {
    self.init(
      number: number,
      distanceMeters: ComparedValue(ours: ours?.distanceMeters, recorded: recorded.distanceMeters),
      activeSeconds: ComparedValue(ours: ours?.active.seconds, recorded: recorded.timerSeconds),
      averageHeartRateBpm: ComparedValue(ours: ours?.averageHeartRateBpm, recorded: recorded.averageHeartRateBpm))
  }
}

extension RecordedLap {
  /// Whether the lap is one unit long, within half a percent: devices round, and end a lap at the next full second.
  fileprivate func isOne(_ unit: SplitUnit) -> Bool {
    distanceMeters.map { abs($0 - unit.meters) <= 0.005 * unit.meters } ?? false
  }
}

extension RecordedSummary {
  /// The thermochemical calorie (ISO 80000-5), the one of food labels and watches.
  package static let joulesPerKilocalorie = RunFormat.joulesPerKilocalorie
}
