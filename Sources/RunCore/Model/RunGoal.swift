/// What a runner wants of a run: a time goal, which the start of the run names.
///
/// A goal counts on the game clock: run time goes on in a pause. It never stops the run by itself.
///
/// ```swift
/// let goal = RunGoal(time: .seconds(30 * 60))
/// ```
public struct RunGoal: Hashable, Sendable {
  /// The longest time: a day. What a hub remembers of a run in order to judge its commands reaches a day back, and no
  /// longer run is planned by the minute.
  public static let timeMax = BusDuration.seconds(86_400)

  /// Four bytes: a goal is part of each snapshot, press and transition.
  private let milliseconds: UInt32

  /// A time goal.
  ///
  /// - Parameter time: A whole number of milliseconds, above zero and at most ``timeMax``; anything else gives `nil`.
  public init?(time: BusDuration) {
    let (milliseconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    guard rest == 0, time > .zero, time <= Self.timeMax else { return nil }
    self.milliseconds = UInt32(milliseconds)
  }

  /// The time that the run is to last, pauses included.
  public var time: BusDuration { .milliseconds(Int64(milliseconds)) }

  /// What remains of the goal; zero once it is reached, never less.
  ///
  /// - Parameter elapsed: Time since the start of the run, pauses included.
  public func remaining(after elapsed: BusDuration) -> BusDuration { max(.zero, time - elapsed) }
}

/// The time in nanoseconds.
extension RunGoal: Codable {
  /// Reads a goal.
  ///
  /// - Throws: `DecodingError`, also for a time that no goal has.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let goal = RunGoal(time: BusDuration(nanoseconds: try container.decode(Int64.self))) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no goal has this time")
    }
    self = goal
  }

  /// Writes the goal.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(time.nanoseconds)
  }
}
