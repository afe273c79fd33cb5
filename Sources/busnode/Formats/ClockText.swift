import RunBus
import RunScripts

extension DurationText {
  /// `3:05`, or `1:02:03` from an hour on; whole seconds, rounded down as a stopwatch shows them.
  static func clock(_ span: BusDuration) -> String { Units.metric.format.duration(span) }
}
