import RunCore
import SwiftProtobuf

// Sensor readings.
extension Codec {
  static func message(_ samples: [SampleTransmission]) -> WireSamples {
    var message = WireSamples()
    message.samples = samples.map(self.message)
    return message
  }

  static func value(_ message: WireSamples) throws(WireError) -> [SampleTransmission] {
    guard !message.samples.isEmpty else { throw .malformed("samples without a sample") }
    guard message.samples.count <= samplesMax else { throw .malformed("more than \(samplesMax) samples in a frame") }
    var samples: [SampleTransmission] = []
    samples.reserveCapacity(message.samples.count)
    for sample in message.samples { samples.append(try value(sample)) }
    return samples
  }

  private static func message(_ sample: SampleTransmission) -> WireSample {
    var message = WireSample()
    message.sequence = sample.sequence
    message.moment = sample.moment.map(self.message)
    message.value = sample.value.map(self.message)
    if let runID = sample.runID { message.runID = data(runID) }
    add(sample.unknown, to: &message)
    return message
  }

  static func message(_ value: SampleValue) -> WireSample.OneOf_Value {
    switch value {
    case .position(let position): .position(message(position))
    case .altitude(let meters, let source): .altitude(message(altitude: meters, source))
    case .heartRate(let bpm): .heartRateBpm(bpm)
    case .cadence(let stepsPerMinute): .cadenceStepsPerMinute(stepsPerMinute)
    case .pedometer(let meters): .pedometerMeters(meters)
    case .motion(let activity): .motion(word(activity))
    }
  }

  static func message(altitude meters: Double, _ source: AltitudeSource) -> WireAltitude {
    var altitude = WireAltitude()
    altitude.meters = meters
    altitude.source = word(source)
    return altitude
  }

  private static func value(_ message: WireSample) throws(WireError) -> SampleTransmission {
    let reading = message.value.map(value)
    guard reading?.isCarried ?? true else { throw .malformed("sample value is out of range") }
    return SampleTransmission(
      sequence: try sequence(message.sequence), moment: try value(message.moment), value: reading,
      runID: message.hasRunID ? try identifier(message.runID, "run id") : nil)
  }

  static func value(_ value: WireSample.OneOf_Value) -> SampleValue {
    switch value {
    case .position(let position): .position(self.value(position))
    case .altitude(let altitude): .altitude(meters: altitude.meters, source(altitude.source))
    case .heartRateBpm(let bpm): .heartRate(bpm: bpm)
    case .cadenceStepsPerMinute(let stepsPerMinute): .cadence(stepsPerMinute: stepsPerMinute)
    case .pedometerMeters(let meters): .pedometer(meters: meters)
    case .motion(let word): .motion(activity(word))
    }
  }

  private static func message(_ moment: SampleMoment) -> WireSample.OneOf_Moment {
    switch moment {
    case .at(let time): .ageNs(max(0, (.zero - time).nanoseconds))
    case .runOffset(let offset): .runOffsetNs(offset.nanoseconds)
    }
  }

  private static func value(_ moment: WireSample.OneOf_Moment?) throws(WireError) -> SampleMoment? {
    switch moment {
    case .ageNs(let age): .age(try span(age, "sample age"))
    case .runOffsetNs(let offset): .runOffset(BusDuration(nanoseconds: offset))
    case nil: nil
    }
  }

  static func message(_ position: Position) -> WirePosition {
    var message = WirePosition()
    message.latitudeDegrees = position.latitude
    message.longitudeDegrees = position.longitude
    if let accuracy = position.horizontalAccuracyMeters { message.horizontalAccuracyMeters = accuracy }
    return message
  }

  static func value(_ message: WirePosition) -> Position {
    Position(
      latitude: message.latitudeDegrees, longitude: message.longitudeDegrees,
      horizontalAccuracyMeters: message.hasHorizontalAccuracyMeters ? message.horizontalAccuracyMeters : nil)
  }

  private static func word(_ source: AltitudeSource) -> WireAltitudeSource {
    switch source {
    case .gps: .gps
    case .barometer: .barometer
    case .unstated: .unspecified
    }
  }

  static func source(_ word: WireAltitudeSource) -> AltitudeSource {
    switch word {
    case .gps: .gps
    case .barometer: .barometer
    case .unspecified, .UNRECOGNIZED: .unstated
    }
  }
}
