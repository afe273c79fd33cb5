import RunCore
import SwiftProtobuf

// The metrics of a run.
extension Codec {
  /// A value that is not finite is left out as unknown, so that the other values still arrive.
  static func known(_ value: Double?) -> Double? { value.flatMap { $0.isFinite ? $0 : nil } }

  static func known(_ isPresent: Bool, _ value: Double, _ name: String) throws(WireError) -> Double? {
    isPresent ? try finite(value, name) : nil
  }

  /// Checks a count or an index; its limit is Int32, because `Int` has 32 bits on a watch.
  static func count(_ value: UInt32, _ name: String) throws(WireError) -> Int {
    guard value <= UInt32(Int32.max) else { throw .malformed("\(name) is out of range") }
    return Int(value)
  }
  static func count(_ value: Int) -> UInt32 { UInt32(max(0, min(value, Int(Int32.max)))) }

  /// A moment in run time; it is never before the start of the run.
  static func moment(_ offset: BusDuration) -> Int64 { max(0, offset.nanoseconds) }

  static func message(_ metrics: RunMetrics) -> WireMetrics {
    var message = WireMetrics()
    message.elapsedNs = metrics.elapsed.nanoseconds
    message.activeNs = metrics.active.nanoseconds
    if let value = known(metrics.distanceMeters) { message.distanceMeters = value }
    if let value = known(metrics.pedometerMeters) { message.pedometerMeters = value }
    if let value = known(metrics.currentPaceSecondsPerKilometer) { message.currentPaceSecondsPerKilometer = value }
    if let value = known(metrics.averagePaceSecondsPerKilometer) { message.averagePaceSecondsPerKilometer = value }
    if let value = known(metrics.bestPaceSecondsPerKilometer) { message.bestPaceSecondsPerKilometer = value }
    if let value = known(metrics.worstPaceSecondsPerKilometer) { message.worstPaceSecondsPerKilometer = value }
    if let value = known(metrics.heartRateBpm) { message.heartRateBpm = value }
    if let value = known(metrics.averageHeartRateBpm) { message.averageHeartRateBpm = value }
    if let value = known(metrics.maxHeartRateBpm) { message.maxHeartRateBpm = value }
    if let value = known(metrics.cadenceStepsPerMinute) { message.cadenceStepsPerMinute = value }
    if let value = known(metrics.averageCadenceStepsPerMinute) { message.averageCadenceStepsPerMinute = value }
    if let value = known(metrics.altitudeMeters) { message.altitudeMeters = value }
    if let value = known(metrics.elevationGainMeters) { message.elevationGainMeters = value }
    if let value = known(metrics.elevationLossMeters) { message.elevationLossMeters = value }
    if let value = known(metrics.energyJoules) { message.energyJoules = value }
    if let value = known(metrics.positionAccuracyMeters) { message.positionAccuracyMeters = value }
    message.activity = word(metrics.activity)
    message.activityInferred = metrics.isActivityInferred
    message.autoPaused = metrics.isAutoPaused
    message.lapCount = count(metrics.lapCount)
    if metrics.moments != MetricMoments() { message.moments = self.message(metrics.moments) }
    return message
  }

  static func value(_ message: WireMetrics) throws(WireError) -> RunMetrics {
    var metrics = RunMetrics()
    metrics.elapsed = try span(message.elapsedNs, "elapsed time")
    metrics.active = try span(message.activeNs, "active time")
    metrics.distanceMeters = try known(message.hasDistanceMeters, message.distanceMeters, "distance")
    metrics.pedometerMeters = try known(message.hasPedometerMeters, message.pedometerMeters, "pedometer distance")
    metrics.currentPaceSecondsPerKilometer = try known(
      message.hasCurrentPaceSecondsPerKilometer, message.currentPaceSecondsPerKilometer, "current pace")
    metrics.averagePaceSecondsPerKilometer = try known(
      message.hasAveragePaceSecondsPerKilometer, message.averagePaceSecondsPerKilometer, "average pace")
    metrics.bestPaceSecondsPerKilometer = try known(
      message.hasBestPaceSecondsPerKilometer, message.bestPaceSecondsPerKilometer, "best pace")
    metrics.worstPaceSecondsPerKilometer = try known(
      message.hasWorstPaceSecondsPerKilometer, message.worstPaceSecondsPerKilometer, "worst pace")
    metrics.heartRateBpm = try known(message.hasHeartRateBpm, message.heartRateBpm, "heart rate")
    metrics.averageHeartRateBpm = try known(
      message.hasAverageHeartRateBpm, message.averageHeartRateBpm, "average heart rate")
    metrics.maxHeartRateBpm = try known(message.hasMaxHeartRateBpm, message.maxHeartRateBpm, "highest heart rate")
    metrics.cadenceStepsPerMinute = try known(
      message.hasCadenceStepsPerMinute, message.cadenceStepsPerMinute, "cadence")
    metrics.averageCadenceStepsPerMinute = try known(
      message.hasAverageCadenceStepsPerMinute, message.averageCadenceStepsPerMinute, "average cadence")
    metrics.altitudeMeters = try known(message.hasAltitudeMeters, message.altitudeMeters, "altitude")
    metrics.elevationGainMeters = try known(
      message.hasElevationGainMeters, message.elevationGainMeters, "elevation gain")
    metrics.elevationLossMeters = try known(
      message.hasElevationLossMeters, message.elevationLossMeters, "elevation loss")
    metrics.energyJoules = try known(message.hasEnergyJoules, message.energyJoules, "energy")
    metrics.positionAccuracyMeters = try known(
      message.hasPositionAccuracyMeters, message.positionAccuracyMeters, "position accuracy")
    metrics.activity = activity(message.activity)
    metrics.isActivityInferred = message.activityInferred
    metrics.isAutoPaused = message.autoPaused
    metrics.lapCount = try count(message.lapCount, "lap count")
    metrics.moments = try value(message.moments)
    return metrics
  }

  private static func message(_ moments: MetricMoments) -> WireMoments {
    var message = WireMoments()
    if let offset = moments.distance { message.distanceNs = moment(offset) }
    if let offset = moments.position { message.positionNs = moment(offset) }
    if let offset = moments.heartRate { message.heartRateNs = moment(offset) }
    if let offset = moments.cadence { message.cadenceNs = moment(offset) }
    if let offset = moments.elevation { message.elevationNs = moment(offset) }
    if let offset = moments.activity { message.activityNs = moment(offset) }
    return message
  }

  private static func value(_ message: WireMoments) throws(WireError) -> MetricMoments {
    func moment(_ isPresent: Bool, _ nanoseconds: Int64, _ name: String) throws(WireError) -> BusDuration? {
      isPresent ? try span(nanoseconds, name) : nil
    }
    return MetricMoments(
      distance: try moment(message.hasDistanceNs, message.distanceNs, "moment of the distance"),
      position: try moment(message.hasPositionNs, message.positionNs, "moment of the position"),
      heartRate: try moment(message.hasHeartRateNs, message.heartRateNs, "moment of the heart rate"),
      cadence: try moment(message.hasCadenceNs, message.cadenceNs, "moment of the cadence"),
      elevation: try moment(message.hasElevationNs, message.elevationNs, "moment of the elevation"),
      activity: try moment(message.hasActivityNs, message.activityNs, "moment of the activity"))
  }
}
