import RunCore
import SwiftProtobuf

// The report of a run: its metrics, splits, laps and stretches.
extension Codec {
  /// The lists share the frame. Each is cut behind its first lines, kilometres before miles, laps and stretches.
  static func message(_ report: RunReport, bytesMax: Int) -> WireRunReport {
    var message = WireRunReport()
    message.metrics = self.message(report.metrics)
    var bytesLeft = bytesMax - size(of: message)
    message.kilometers = lines(report.kilometers, within: &bytesLeft, self.message)
    message.miles = lines(report.miles, within: &bytesLeft, self.message)
    message.laps = lines(report.laps, within: &bytesLeft, self.message)
    message.stretches = lines(report.stretches, within: &bytesLeft, self.message)
    return message
  }

  static func value(_ message: WireRunReport) throws(WireError) -> RunReport {
    guard message.hasMetrics else { throw .malformed("report without its metrics") }
    return RunReport(
      metrics: try value(message.metrics), kilometers: try reports(message.kilometers, value),
      miles: try reports(message.miles, value), laps: try reports(message.laps, value),
      stretches: try reports(message.stretches, value))
  }

  private static func message(_ split: Split) -> WireSplit {
    var message = WireSplit()
    message.number = count(split.number)
    if let value = known(split.distanceMeters) { message.distanceMeters = value }
    message.activeNs = moment(split.active)
    message.startedAtNs = moment(split.startedAt)
    message.endedAtNs = moment(split.endedAt)
    if let value = known(split.averageHeartRateBpm) { message.averageHeartRateBpm = value }
    if let value = known(split.elevationGainMeters) { message.elevationGainMeters = value }
    if let value = known(split.elevationLossMeters) { message.elevationLossMeters = value }
    message.complete = split.isComplete
    return message
  }

  private static func value(_ message: WireSplit) throws(WireError) -> Split {
    Split(
      number: try count(message.number, "split number"),
      distanceMeters: try known(message.hasDistanceMeters, message.distanceMeters, "split distance"),
      active: try span(message.activeNs, "active time"), startedAt: try span(message.startedAtNs, "split start"),
      endedAt: try span(message.endedAtNs, "split end"),
      averageHeartRateBpm: try known(
        message.hasAverageHeartRateBpm, message.averageHeartRateBpm, "average heart rate"),
      elevationGainMeters: try known(message.hasElevationGainMeters, message.elevationGainMeters, "elevation gain"),
      elevationLossMeters: try known(message.hasElevationLossMeters, message.elevationLossMeters, "elevation loss"),
      isComplete: message.complete)
  }

  private static func message(_ stretch: DistanceStretch) -> WireDistanceStretch {
    var message = WireDistanceStretch()
    message.source = word(stretch.source)
    message.startedAtNs = moment(stretch.startedAt)
    message.endedAtNs = moment(stretch.endedAt)
    message.meters = known(stretch.meters) ?? 0
    return message
  }

  private static func value(_ message: WireDistanceStretch) throws(WireError) -> DistanceStretch {
    DistanceStretch(
      source: source(message.source), startedAt: try span(message.startedAtNs, "stretch start"),
      endedAt: try span(message.endedAtNs, "stretch end"), meters: try finite(message.meters, "stretch length"))
  }

  static func word(_ source: DistanceSource) -> WireDistanceSource {
    switch source {
    case .positions: .positions
    case .pedometer: .pedometer
    case .unknown: .unspecified
    }
  }

  static func source(_ word: WireDistanceSource) -> DistanceSource {
    switch word {
    case .positions: .positions
    case .pedometer: .pedometer
    case .unspecified, .UNRECOGNIZED: .unknown
    }
  }
}
