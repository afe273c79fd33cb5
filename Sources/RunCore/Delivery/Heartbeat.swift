/// How often peers ping the hub, in real time. Hub and peers use the same numbers.
enum Heartbeat {
  /// The time between two pings of a peer.
  static func interval(isRunOn: Bool) -> BusDuration { isRunOn ? .seconds(2) : .seconds(10) }
  /// The silence after which the other side counts as unreachable: three pings.
  static func silence(isRunOn: Bool) -> BusDuration { isRunOn ? .seconds(6) : .seconds(30) }
}
