import RunCore

/// Values for the tests of the parts around a room.
enum Parts {
  static let digest = LogHash([UInt8](repeating: 0, count: 32))!
  static func member(_ number: Int) -> MemberID {
    MemberID((0..<32).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) : 7 })!
  }
  static func room(_ number: UInt64) -> RoomID { RoomID(high: number, low: 0) }
  static func run(_ number: UInt64) -> RunID { RunID(high: number, low: 1) }
  static func card(_ nickname: String, level: Int = 1, gender: RoomCard.Gender? = nil) -> RoomCard {
    RoomCard(nickname: Nickname(nickname)!, level: level, gender: gender)
  }
  /// A moment of the log, in seconds after a moment that is late enough for times before it.
  static func at(_ second: Int64) -> LogTime { LogTime.zero + .seconds(1_000_000 + second) }
  static func month(_ month: Int, _ year: Int = 2026) -> CalendarMonth { CalendarMonth(year: year, month: month)! }
}
