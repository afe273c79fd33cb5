import RunBus

/// One of the three nodes that `up` spawns.
enum SpawnedNode: String, Hashable, Sendable, CaseIterable, Codable {
  case phone, watch, widget
}

/// One line of a script.
struct ScriptStep: Hashable, Sendable {
  /// What is done.
  enum Action: Hashable, Sendable {
    /// The node is told something.
    case order(NodeOrder)
    /// The node is killed as by `kill -9`.
    case kill
    /// A killed node is started again; a living one is ended first.
    case restart
  }
  /// The line it stands on, from 1.
  let line: Int
  /// Bus time from script zero.
  let time: BusDuration
  /// Who.
  let node: SpawnedNode
  /// What.
  let action: Action
}

/// A script for `up`: who does what at which moment of bus time.
struct Script: Hashable, Sendable {
  /// The steps in order of time; steps of one moment in the order in which they are written.
  let steps: [ScriptStep]

  /// A longer script is a mistake (a log file, perhaps), not a run.
  static let linesMax = 10_000
  /// Room for as many lines, and for more to say in each than there is.
  static let bytesMax = 4 << 20

  /// Reads a script; a bad line is named as `FILE:LINE: what is wrong`. Editors of Windows end lines with CR LF and put a
  /// byte order mark first: both are accepted.
  init(_ text: String, file: String) throws(TextError) {
    var steps: [ScriptStep] = []
    let lines = text.drop { $0 == "\u{FEFF}" }.writtenLines
    for (index, line) in lines.enumerated() {
      func fail(_ what: String) -> TextError { TextError("\(file):\(index + 1): \(what)") }
      guard index < Self.linesMax else { throw fail("a script has at most \(Self.linesMax) lines") }
      do throws(TextError) {
        if let step = try Self.step(line, number: index + 1) { steps.append(step) }
      } catch {
        throw fail(error.message)
      }
    }
    steps.sort { ($0.time, $0.line) < ($1.time, $1.line) }
    self.steps = steps
    try checkTheLiving(file: file)
  }

  private static func step(_ line: Substring, number: Int) throws(TextError) -> ScriptStep? {
    let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
    guard let first = words.first else { return nil }
    guard first == "at" else { throw TextError("a line begins with \"at\": at 12s watch pause") }
    guard words.count >= 4 else { throw TextError("at what time, which node, and what: at 12s watch pause") }
    guard let time = DurationText.parse(words[1]) else {
      throw TextError("\"\(words[1])\" is not a time; write 12s, 1m30s, 90 or 1:30")
    }
    guard let node = SpawnedNode(rawValue: String(words[2])) else {
      throw TextError("\"\(words[2])\" is not one of phone, watch, widget")
    }
    return ScriptStep(line: number, time: time, node: node, action: try action(Array(words.dropFirst(3))))
  }

  private static func action(_ words: [Substring]) throws(TextError) -> ScriptStep.Action {
    switch words {
    case ["kill"]: return .kill
    case ["restart"]: return .restart
    default:
      guard let word = words.first.map(String.init), isKnown(word) else {
        throw TextError(
          "\"\(words[0])\" is not one of start, pause, resume, stop, lap, offline, online, kill, restart")
      }
      return .order(try NodeOrder.parse(words))
    }
  }

  private static func isKnown(_ word: String) -> Bool {
    CommandKind(rawValue: word) != nil || ["offline", "online", "kill", "restart"].contains(word)
  }

  /// Nobody presses a button of a killed device.
  private func checkTheLiving(file: String) throws(TextError) {
    var killedOn: [SpawnedNode: Int] = [:]
    for step in steps {
      let killer = killedOn[step.node]
      switch step.action {
      case .restart: killedOn[step.node] = nil
      case .order, .kill:
        if let killer {
          throw TextError("\(file):\(step.line): the \(step.node.rawValue) is dead then (killed on line \(killer))")
        }
        if step.action == .kill { killedOn[step.node] = step.line }
      }
    }
  }
}
