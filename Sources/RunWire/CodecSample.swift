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
    switch sample.value {
    case .position(let position): message.value = .position(self.message(position))
    case .altitude(let meters, let source):
      var altitude = WireAltitude()
      altitude.meters = meters
      altitude.source = word(source)
      message.value = .altitude(altitude)
    case .heartRate(let bpm): message.value = .heartRateBpm(bpm)
    case .cadence(let stepsPerMinute): message.value = .cadenceStepsPerMinute(stepsPerMinute)
    case .pedometer(let meters): message.value = .pedometerMeters(meters)
    case .motion(let activity): message.value = .motion(word(activity))
    case nil: break
    }
    if let runID = sample.runID { message.runID = data(runID) }
    return message
  }

  private static func value(_ message: WireSample) throws(WireError) -> SampleTransmission {
    let reading: SampleValue?
    switch message.value {
    case .position(let position): reading = .position(value(position))
    case .altitude(let altitude):
      reading = .altitude(meters: altitude.meters, source(altitude.source))
    case .heartRateBpm(let bpm): reading = .heartRate(bpm: bpm)
    case .cadenceStepsPerMinute(let stepsPerMinute): reading = .cadence(stepsPerMinute: stepsPerMinute)
    case .pedometerMeters(let meters): reading = .pedometer(meters: meters)
    case .motion(let word): reading = .motion(activity(word))
    case nil: reading = nil
    }
    guard reading?.isCarried ?? true else { throw .malformed("sample value is out of range") }
    return SampleTransmission(
      sequence: try sequence(message.sequence), moment: try value(message.moment), value: reading,
      runID: message.hasRunID ? try identifier(message.runID, "run id") : nil)
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

  private static func source(_ word: WireAltitudeSource) -> AltitudeSource {
    switch word {
    case .gps: .gps
    case .barometer: .barometer
    case .unspecified, .UNRECOGNIZED: .unstated
    }
  }
}
