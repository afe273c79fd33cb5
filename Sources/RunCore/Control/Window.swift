/// The commands that settle together: one burst of presses. It lives on press times, not on arrival times.
public struct Window: Hashable, Sendable {
  /// How the windows of a bus are cut.
  public struct Rule: Hashable, Sendable {
    /// From the last press to the deadline; zero turns windows off: every press is judged alone.
    public let length: BusDuration
    /// A window ends at the latest this long after its first press, so that a chattering device cannot starve control.
    public var longest: BusDuration { max(.seconds(2), length) }

    /// A rule from the window's length.
    public init(length: BusDuration) { self.length = max(.zero, length) }
  }

  /// The earliest press admitted.
  public private(set) var first: BusTime
  /// The latest press admitted.
  public private(set) var last: BusTime
  /// The presses, in order of arrival.
  public private(set) var presses: [AcceptedCommand]
  private let rule: Rule

  /// A window opened by a press.
  init(openedBy press: AcceptedCommand, rule: Rule) {
    first = press.pressedAt
    last = press.pressedAt
    presses = [press]
    self.rule = rule
  }

  /// When it settles.
  public var deadline: BusTime { min(last + rule.length, first + rule.longest) }

  /// Whether a press belongs to it: one at or past the deadline opens the next.
  func admits(_ press: AcceptedCommand) -> Bool { press.pressedAt < deadline }

  /// Takes a press in.
  mutating func admit(_ press: AcceptedCommand) {
    first = min(first, press.pressedAt)
    last = max(last, press.pressedAt)
    presses.append(press)
  }
}
