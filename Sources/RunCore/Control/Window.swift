/// A burst of presses that are judged together. It is bounded by press times, not by arrival times.
package struct Window: Hashable, Sendable {
  /// The lengths of the windows of a bus.
  package struct Rule: Hashable, Sendable {
    /// Bus time from the last press to the deadline. Zero turns windows off: every press is judged alone.
    package let length: BusDuration
    /// The longest time from the first press to the deadline, so that a device that chatters cannot delay all verdicts.
    package var longest: BusDuration { max(.seconds(2), length) }

    /// A rule from the window's length; a negative one counts as zero.
    package init(length: BusDuration) { self.length = max(.zero, length) }
  }

  /// The earliest press time in the window.
  package private(set) var first: BusTime
  /// The latest press time in the window.
  package private(set) var last: BusTime
  /// The presses, in order of arrival.
  package private(set) var presses: [AcceptedCommand]
  private let rule: Rule

  /// A window that a press opens.
  init(openedBy press: AcceptedCommand, rule: Rule) {
    first = press.pressedAt
    last = press.pressedAt
    presses = [press]
    self.rule = rule
  }

  /// When the window settles.
  package var deadline: BusTime { min(last + rule.length, first + rule.longest) }

  /// Whether a press belongs to the window. One at or after the deadline belongs to the next.
  func admits(_ press: AcceptedCommand) -> Bool { press.pressedAt < deadline }

  mutating func admit(_ press: AcceptedCommand) {
    first = min(first, press.pressedAt)
    last = max(last, press.pressedAt)
    presses.append(press)
  }
}
