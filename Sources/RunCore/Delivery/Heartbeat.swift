/// How often peers ask for a sign of life, in real time. Hub and peers use the same numbers.
enum Heartbeat {
  /// How often a peer asks whether the hub is there.
  static func interval(isRunOn: Bool) -> BusDuration { isRunOn ? .seconds(2) : .seconds(10) }
  /// After three missed beats the other side counts as silent.
  static func silence(isRunOn: Bool) -> BusDuration { isRunOn ? .seconds(6) : .seconds(30) }
}
