package import RunBus

/// One order to a node, a line on its standard input.
package enum NodeOrder: Hashable, Sendable {
  /// A button is pressed: now, or as a recorded press when the run has come to this offset.
  case press(CommandKind, at: BusDuration?)
  /// Start is pressed for a run with a goal.
  case start(RunGoal)
  /// The node disconnects, for this much bus time or until it is told to come back.
  case offline(BusDuration?)
  /// The node connects again.
  case online
  /// The runner is there: degrees north and east, as a good fix says.
  case place(latitude: Double, longitude: Double)
  /// The hub receives the decision about a run that was on when it died.
  case recover(RecoveryAnswer)

  /// Reads one order from its words.
  package static func parse(_ words: [Substring]) throws(TextError) -> NodeOrder {
    guard let first = words.first else { throw TextError("an order is missing") }
    switch (String(first), words.count) {
    case ("offline", 1): return .offline(nil)
    case ("offline", 2):
      guard let span = DurationText.parse(words[1]), span > .zero else {
        throw TextError("\"\(words[1])\" is not a time; write offline 30s")
      }
      return .offline(span)
    case ("online", 1): return .online
    case ("at", 2):
      let parts = words[1].split(separator: ",").map { Double($0) }
      guard parts.count == 2, let latitude = parts[0], let longitude = parts[1], (-90...90).contains(latitude),
        (-180...180).contains(longitude)
      else { throw TextError("\"\(words[1])\" is no place; write at 37.566,126.978") }
      return .place(latitude: latitude, longitude: longitude)
    case ("recover", _):
      guard words.count == 2, let answer = RecoveryAnswer(rawValue: String(words[1])) else {
        throw TextError("write recover resume, recover finish or recover discard")
      }
      return .recover(answer)
    case ("start", _) where words[1...].first == "goal":
      guard words.count == 3, let goal = GoalText.parse(words[2]) else {
        throw TextError("write start goal 30m; \(GoalText.bounds)")
      }
      return .start(goal)
    case (let name, 1):
      return .press(try kind(name), at: nil)
    case (let name, 2) where words[1].hasPrefix("@"):
      guard let offset = DurationText.parse(words[1].dropFirst()) else {
        throw TextError("\"\(words[1])\" is not a moment of the run; write \(name) @123.4")
      }
      let kind = try kind(name)
      guard kind != .start else { throw TextError("run time begins with the start, so a start has no offset") }
      return .press(kind, at: offset)
    default: throw TextError("\"\(words[1])\" does not belong after \"\(first)\"")
    }
  }

  /// Reads one line; `nil` for a blank one.
  package static func parse(line: some StringProtocol) throws(TextError) -> NodeOrder? {
    let words = line.split(whereSeparator: \.isWhitespace).map { Substring($0) }
    return words.isEmpty ? nil : try parse(words)
  }

  /// The order as a line that ``parse(line:)`` reads back.
  package var line: String {
    switch self {
    case .press(let kind, let offset):
      offset.map { "\(kind.rawValue) @\(DurationText.exactSeconds($0))" } ?? kind.rawValue
    case .start(let goal): "start goal \(DurationText.exactSeconds(goal.time))"
    case .offline(let span): span.map { "offline \(DurationText.exactSeconds($0))s" } ?? "offline"
    case .online: "online"
    case .place(let latitude, let longitude): "at \(latitude),\(longitude)"
    case .recover(let answer): "recover \(answer.rawValue)"
    }
  }

  private static func kind(_ name: String) throws(TextError) -> CommandKind {
    guard let kind = CommandKind(rawValue: name) else {
      throw TextError("\"\(name)\" is not one of start, pause, resume, stop, lap, offline, online, recover")
    }
    return kind
  }
}
