import RunCore
import SwiftProtobuf

// The numbers of a run over time.
extension Codec {
  static func message(_ series: RunSeries) -> WireRunSeries {
    var message = WireRunSeries()
    message.runID = data(series.runID)
    message.samples = series.samples.prefix(RunSeries.samplesMax).map { sample in
      var message = WireSeriesSample()
      message.offsetNs = moment(sample.offset)
      let values = sample.values
      if let value = known(values.distanceMeters) { message.distanceMeters = value }
      if let value = known(values.paceSecondsPerKilometer) { message.paceSecondsPerKilometer = value }
      if let value = known(values.altitudeMeters) { message.altitudeMeters = value }
      if let value = known(values.heartRateBpm) { message.heartRateBpm = value }
      if let value = known(values.cadenceStepsPerMinute) { message.cadenceStepsPerMinute = value }
      return message
    }
    message.pauses = series.pauses.suffix(RunSeries.pausesMax).map { pause in
      var message = WireRunStretch()
      message.startedAtNs = moment(pause.lowerBound)
      message.endedAtNs = moment(pause.upperBound)
      return message
    }
    return message
  }

  static func value(_ message: WireRunSeries) throws(WireError) -> RunSeries {
    guard message.samples.count <= RunSeries.samplesMax, message.pauses.count <= RunSeries.pausesMax else {
      throw .malformed("more samples or pauses than a series has")
    }
    var series = RunSeries(runID: try identifier(message.runID, "run id"))
    for sample in message.samples {
      series.samples.append(
        RunSeries.Sample(
          offset: try span(sample.offsetNs, "moment of a sample"),
          values: RecordSeries.Sample(
            distanceMeters: try known(sample.hasDistanceMeters, sample.distanceMeters, "distance"),
            paceSecondsPerKilometer: try known(
              sample.hasPaceSecondsPerKilometer, sample.paceSecondsPerKilometer, "pace"),
            altitudeMeters: try known(sample.hasAltitudeMeters, sample.altitudeMeters, "altitude"),
            heartRateBpm: try known(sample.hasHeartRateBpm, sample.heartRateBpm, "heart rate"),
            cadenceStepsPerMinute: try known(
              sample.hasCadenceStepsPerMinute, sample.cadenceStepsPerMinute, "cadence"))))
    }
    for pause in message.pauses {
      let (begin, end) = (try span(pause.startedAtNs, "start of a pause"), try span(pause.endedAtNs, "end of a pause"))
      guard begin <= end else { throw .malformed("a pause that ends before it begins") }
      series.pauses.append(begin..<end)
    }
    return series
  }
}
