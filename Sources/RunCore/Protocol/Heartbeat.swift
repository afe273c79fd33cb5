/// How often peers ping the hub, in real time.
///
/// Each ping states within what time the next one comes. Hub and peer measure silence by that interval.
package enum Heartbeat {
  /// The interval while a run is running, and at first in a pause.
  static let quick = BusDuration.seconds(2)
  /// The interval in a long pause and without a run.
  static let slow = BusDuration.seconds(10)
  /// The intervals that a ping may state.
  package static let intervals = ConnectionLimits.heartbeatIntervals

  /// The interval that holds in a session before its first ping.
  static func first(isRunOn: Bool) -> BusDuration { isRunOn ? quick : slow }

  /// The silence after which the other side counts as unreachable: three intervals.
  static func silence(_ interval: BusDuration) -> BusDuration { interval + interval + interval }
}
