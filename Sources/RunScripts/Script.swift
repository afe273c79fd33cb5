package import RunBus

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
    /// The node stands still. Only faults do that.
    case sleep
    /// It goes on.
    case wake
    /// The lines below wait until a condition on the phone's state holds: for so much bus time, and for
    /// ``Script/patience`` when it is not stated.
    case until(StateCondition, within: BusDuration?)
    /// The condition holds now, or the script has failed.
    case expect(StateCondition)
    /// A command of the shell; the lines below wait for its end.
    case shell(String)
  }
  /// The number of its line, from 1.
  package let line: Int
  /// Bus time since the moment when all nodes had a snapshot.
  package let time: BusDuration
  /// For whom it is; `nil` when it is for no node.
  package let node: SpawnedNode?
  package let action: Action
}

/// A script for `up`: what each node does at which bus time, and what must be so then.
package struct Script: Hashable, Sendable {
  /// The steps in order of time; steps with equal times in the order of their lines.
  package let steps: [ScriptStep]
  /// What it is called in errors.
  package let file: String

  /// A longer file is probably not a script but, for example, a log file.
  package static let linesMax = 10_000
  /// Room for ``linesMax`` lines of 400 bytes.
  package static let bytesMax = 4 << 20
  /// How long `until` waits where the script does not say it, and a command of the shell runs, in real time.
  package static let patience = BusDuration.seconds(30)
  /// The words with which a line may begin, which no device is called.
  package static let words: Set = ["at", "until", "expect", "shell"]

  /// Reads a script. CR LF at the end of lines and a byte order mark at the beginning are accepted, because editors on
  /// Windows write them.
  ///
  /// - Throws: ``TextError`` of the form `FILE:LINE: what is wrong`.
  package init(_ text: String, file: String, devices: UpDevices = .usual) throws(TextError) {
    self.file = file
    var steps: [ScriptStep] = []
    var time = BusDuration.zero
    let nodes = Set(devices.nodes)
    let lines = text.drop { $0 == "\u{FEFF}" }.writtenLines
    for (index, line) in lines.enumerated() {
      func fail(_ what: String) -> TextError { TextError("\(file):\(index + 1): \(what)") }
      guard index < Self.linesMax else { throw fail("a script has at most \(Self.linesMax) lines") }
      do throws(TextError) {
        guard let step = try Self.step(line, number: index + 1, after: time, nodes, devices) else { continue }
        time = step.time
        steps.append(step)
      } catch {
        throw fail(error.message)
      }
    }
    steps.sort { ($0.time, $0.line) < ($1.time, $1.line) }
    self.steps = steps
    try checkTheLiving()
  }

  /// Reads a line; `nil` for one that says nothing. Without a time of its own it has that of the line above.
  private static func step(
    _ line: Substring, number: Int, after earlier: BusDuration, _ nodes: Set<SpawnedNode>, _ devices: UpDevices
  ) throws(TextError) -> ScriptStep? {
    var words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
    guard let first = words.first else { return nil }
    var time = earlier
    if first == "at" {
      guard words.count >= 3 else {
        throw TextError("say at what time, which node, and what: at 12s watch pause")
      }
      guard let stated = DurationText.parse(words[1]) else {
        throw TextError("\"\(words[1])\" is not a time; write 12s, 1m30s, 90 or 1:30")
      }
      time = stated
      words.removeFirst(2)
    }
    func step(_ node: SpawnedNode?, _ action: ScriptStep.Action) -> ScriptStep {
      ScriptStep(line: number, time: time, node: node, action: action)
    }
    // A command of the shell is taken as it is written: it has comments of its own.
    if words[0] == "shell" {
      guard words.count > 1 else { throw TextError("say which command: shell busnode state") }
      return step(nil, .shell(String(line[words[1].startIndex...])))
    }
    switch words[0] {
    case "until":
      let (text, span) = try conditionAndSpan(words.dropFirst())
      return step(nil, .until(try StateCondition(text), within: span))
    case "expect": return step(nil, .expect(try StateCondition(words.dropFirst().joined(separator: " "))))
    default: break
    }
    guard first == "at" || words[0].hasSuffix(":") else {
      throw TextError("a line begins with \"at\", a node and a colon, until, expect or shell: at 12s watch pause")
    }
    let name = words[0].hasSuffix(":") ? words[0].dropLast() : words[0]
    guard words.count > 1 else { throw TextError("say which node, and what: at 12s watch pause") }
    let node = SpawnedNode(rawValue: String(name))
    guard nodes.contains(node) else { throw TextError("\"\(name)\" is not one of \(devices.names)") }
    return step(node, try action(Array(words.dropFirst())))
  }

  /// The condition of an `until`, and how long it waits.
  private static func conditionAndSpan(
    _ words: ArraySlice<Substring>
  ) throws(TextError) -> (text: String, span: BusDuration?) {
    guard let place = words.lastIndex(of: "within") else { return (words.joined(separator: " "), nil) }
    guard words.count == words.distance(from: words.startIndex, to: place) + 2, let word = words.last,
      let span = DurationText.parse(word), span > .zero
    else { throw TextError("write until CONDITION within TIME, as until phase == paused within 30s") }
    return (words[..<place].joined(separator: " "), span)
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
  private func checkTheLiving() throws(TextError) {
    var killedOn: [SpawnedNode: Int] = [:]
    for step in steps {
      guard let node = step.node else { continue }
      let killer = killedOn[node]
      switch step.action {
      case .restart: killedOn[node] = nil
      case .order, .kill, .sleep, .wake:
        if let killer {
          throw TextError("\(file):\(step.line): the \(node.rawValue) is dead then (killed on line \(killer))")
        }
        if step.action == .kill { killedOn[node] = step.line }
      case .until, .expect, .shell: break
      }
    }
  }
}
