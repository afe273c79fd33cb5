package import RunBus

/// Goals of runs as people write them.
package enum GoalText {
  /// What a goal may be, for the message about one that is none.
  package static let bounds = "a goal is more than 0 and at most 24 hours, to the millisecond: 30m, 1h30m, 45:00"

  /// A goal from a span of time; `nil` for anything else.
  package static func parse(_ text: some StringProtocol) -> RunGoal? {
    DurationText.parse(text).flatMap { RunGoal(time: $0) }
  }
}
