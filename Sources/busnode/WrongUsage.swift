import ArgumentParser
import RunBus
import RunScripts

/// Wrong arguments: what is wrong, and the usage of the command that they were for.
struct WrongUsage {
  var message: String
  /// The usage of the command, and where its help is.
  var usage: [String]

  /// Takes an error of ArgumentParser, of parsing or of a command that checks its arguments when it runs.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - command: The command that runs; `nil` when the arguments could not be parsed.
  ///   - arguments: The arguments of the process.
  init(_ error: any Error, of command: (any ParsableCommand.Type)?, _ arguments: [String]) {
    let lines = Busnode.fullMessage(for: error).split(separator: "\n").map(String.init)
    let help = lines.first { $0.hasPrefix("Help:") }?.firstMatch(of: /Help:  .*?  (.*)/).map { String($0.1) } ?? ""
    message = Sentence.bounded(UsageSentence.make(Busnode.message(for: error), help: help))
    if let command {
      usage = Self.usage(of: command)
    } else if let unknown = UnknownWord(ContextOption.dropped(from: arguments)) {
      message = unknown.message
      usage = Self.usage(of: unknown.command)
    } else {
      usage = Array(lines.drop { !$0.hasPrefix("Usage:") })
    }
  }

  /// The words that no command has, for which ArgumentParser shows the help of another command.
  init?(helpFor arguments: [String]) {
    let unknown =
      if arguments.first == "help" {
        UnknownWord(Array(arguments.dropFirst()), allowsLeaf: false)
      } else if arguments.contains(where: { ["--help", "-h"].contains($0) }) {
        UnknownWord(arguments)
      } else {
        nil as UnknownWord?
      }
    guard let unknown else { return nil }
    message = unknown.message
    usage = Self.usage(of: unknown.command)
  }

  private static func usage(of command: any ParsableCommand.Type) -> [String] {
    let path = CommandPath.all().first { $0.command == command }?.text ?? "busnode"
    return ["Usage: \(Busnode.usageString(for: command))", "  See '\(path) --help' for more information."]
  }
}

/// A command with the words that lead to it.
struct CommandPath {
  var words: [String]
  var command: any ParsableCommand.Type
  var text: String { words.joined(separator: " ") }

  /// All commands, the root first.
  static func all(from root: CommandPath = CommandPath(words: ["busnode"], command: Busnode.self)) -> [CommandPath] {
    [root]
      + root.command.configuration.subcommands.flatMap {
        all(from: CommandPath(words: root.words + [$0._commandName], command: $0))
      }
  }
}

/// A word where a command is expected, and which is none.
struct UnknownWord {
  let word: String
  /// The command that has no such subcommand.
  let path: CommandPath
  var command: any ParsableCommand.Type { path.command }

  /// - Parameters:
  ///   - arguments: The arguments of the process.
  ///   - allowsLeaf: Whether a word may follow a command without subcommands: it is an argument of that then.
  /// - Returns: `nil` when the words before the first option are commands.
  init?(_ arguments: [String], allowsLeaf: Bool = true) {
    var path = CommandPath(words: ["busnode"], command: Busnode.self)
    for word in arguments.prefix(while: { !$0.hasPrefix("-") }) {
      let subcommands = path.command.configuration.subcommands
      if subcommands.isEmpty, allowsLeaf { return nil }
      guard let next = subcommands.first(where: { $0._commandName == word }) else {
        if path.words.count == 1, word == "help" { return nil }
        (self.word, self.path) = (word, path)
        return
      }
      path = CommandPath(words: path.words + [word], command: next)
    }
    return nil
  }

  var message: String {
    let guesses = guesses
    let sentence =
      path.words.count == 1
      ? Tongue.say(.noCommand, ["word": word])
      : Tongue.say(.hasNoCommand, ["path": path.words.dropFirst().joined(separator: " "), "word": word])
    return guesses.isEmpty
      ? sentence : Tongue.say(.didYouMean, ["sentence": sentence, "guess": UsageSentence.list(guesses)])
  }

  /// Options that people take for commands.
  private static let options = [
    (name: "bests", text: "busnode records stats --bests"), (name: "splits", text: "busnode state --splits"),
  ]

  /// What was probably meant: a press, a command or option of this name somewhere else, or one of a similar name here.
  private var guesses: [String] {
    if word == "help" { return [(["busnode", "help"] + path.words.dropFirst()).joined(separator: " ")] }
    let isTop = path.words.count == 1
    let presses = CommandKind.allCases.map { (name: $0.rawValue, text: "busnode send \($0.rawValue)") }
    let recoveries = RecoveryAnswer.allCases.map { (name: $0.rawValue, text: "busnode recover \($0.rawValue)") }
    let all = CommandPath.all().dropFirst().map { (name: $0.words[$0.words.count - 1], text: $0.text) }
    let exact = (presses + recoveries + all + Self.options).filter { $0.name == word }
    // A word that many commands have says nothing.
    if !exact.isEmpty { return exact.count <= 3 ? exact.map(\.text) : [] }
    let here = path.command.configuration.subcommands.map {
      (name: $0._commandName, text: "\(path.text) \($0._commandName)")
    }
    let near = (here + Self.options + (isTop ? presses : [])).filter { Spelling.isClose(word, $0.name) }
    let least = near.map { Spelling.slips(from: word, to: $0.name) }.min()
    return near.filter { Spelling.slips(from: word, to: $0.name) == least }.prefix(3).map(\.text)
  }
}
