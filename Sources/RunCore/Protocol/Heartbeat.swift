/// How often peers ping the hub, in real time.
///
/// Each ping states within what time the next one comes. Hub and peer measure silence by that interval.
public enum Heartbeat {
  /// The interval while a run is running, and at first in a pause.
  static let quick = BusDuration.seconds(2)
  /// The interval in a long pause and without a run.
  static let slow = BusDuration.seconds(10)
  /// The intervals that a ping may state. A shorter one would load the hub; with a longer one, an unreachable device
  /// would be shown as reachable for more than three minutes.
  public static let intervals = BusDuration.seconds(1)...BusDuration.seconds(60)

  /// The interval that holds in a session before its first ping.
  static func first(isRunOn: Bool) -> BusDuration { isRunOn ? quick : slow }

  /// The silence after which the other side counts as unreachable: three intervals.
  static func silence(_ interval: BusDuration) -> BusDuration { interval + interval + interval }
}
