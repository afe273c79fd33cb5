public import Foundation
public import RunCore

/// A reading of a sensor with the date that its source gives it, as HealthKit and Core Location do.
public struct DatedReading: Hashable, Sendable {
  /// What was measured.
  public let value: SampleValue
  /// When, by the wall clock of this machine.
  public let date: Date

  /// A reading from its parts.
  public init(_ value: SampleValue, at date: Date) {
    self.value = value
    self.date = date
  }
}

extension Node {
  /// Adds a reading that its source has stamped with a date.
  ///
  /// ```swift
  /// for location in locations {
  ///   let position = Position(
  ///     latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
  ///     horizontalAccuracyMeters: location.horizontalAccuracy)
  ///   try await phone.add(.position(position), at: location.timestamp)
  /// }
  /// ```
  ///
  /// The node converts the date to its monotonic clock on arrival, with the wall clock of that moment. When the wall
  /// clock was set between the reading and its arrival, the reading is placed wrongly by that step, so hand readings
  /// over soon. A date in the future counts as now.
  ///
  /// The hub takes readings of the run that is on, however old they are, and readings of a run that is over for 24
  /// hours of bus time after its stop. It drops later ones, and those of a time without a run.
  ///
  /// - Parameters:
  ///   - value: What was measured.
  ///   - date: When, by the wall clock of this machine.
  /// - Throws: ``RunBusError/Code/badInput`` for a value that no sensor gives and for a date that is more than a
  ///   hundred years away; otherwise as ``add(_:)-(Sample)``.
  public func add(_ value: SampleValue, at date: Date) async throws {
    try await add([DatedReading(value, at: date)])
  }

  /// Adds readings that their source has stamped with dates: all of them, or none when one is refused. See
  /// ``add(_:at:)``.
  ///
  /// ```swift
  /// let rates = samples.map { DatedReading(.heartRate(bpm: $0.quantity.doubleValue(for: perMinute)), at: $0.startDate) }
  /// try await watch.add(rates)
  /// ```
  ///
  /// - Parameter readings: The readings, in any order; a date needs no reading at all between two others.
  /// - Throws: As ``add(_:at:)``.
  public func add(_ readings: [DatedReading]) async throws {
    let clocks = ClockPair.now(on: internals.node.loop)
    var samples: [Sample] = []
    samples.reserveCapacity(readings.count)
    for reading in readings {
      guard let moment = clocks.moment(ofReadingAt: reading.date.timeIntervalSinceReferenceDate) else {
        // The description of a date that is no number ends the program, so the line has the number.
        throw RunBusError(
          .badInput,
          "\(reading.date.timeIntervalSince1970) s after 1970 is no date of a reading: none of \(readings.count) was taken in"
        )
      }
      samples.append(Sample(moment: .at(moment), value: reading.value))
    }
    try await add(samples)
  }
}
