package import RunBus

/// One of the three nodes that `up` spawns.
package enum SpawnedNode: String, Hashable, Sendable, CaseIterable, Codable {
  case phone, watch, widget
}

/// One line of a script.
package struct ScriptStep: Hashable, Sendable {
  /// What is done.
  package enum Action: Hashable, Sendable {
    /// The node receives an order on its standard input.
    case order(NodeOrder)
    /// The node is killed with SIGKILL.
    case kill
    /// The node is started again; if it still runs, it is ended first.
    case restart
  }
  /// The number of its line, from 1.
  package let line: Int
  /// Bus time since the moment when all nodes had a snapshot.
  package let time: BusDuration
  package let node: SpawnedNode
  package let action: Action
}

/// A script for `up`: what each node does at which bus time.
package struct Script: Hashable, Sendable {
  /// The steps in order of time; steps with equal times in the order of their lines.
  package let steps: [ScriptStep]

  /// A longer file is probably not a script but, for example, a log file.
  package static let linesMax = 10_000
  /// Room for ``linesMax`` lines of 400 bytes.
  package static let bytesMax = 4 << 20

  /// Reads a script. CR LF at the end of lines and a byte order mark at the beginning are accepted, because editors on
  /// Windows write them.
  ///
  /// - Throws: ``TextError`` of the form `FILE:LINE: what is wrong`.
  package init(_ text: String, file: String) throws(TextError) {
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
    guard words.count >= 4 else { throw TextError("say at what time, which node, and what: at 12s watch pause") }
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

  /// Refuses a script that gives an order to a node that it has killed and not restarted.
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
