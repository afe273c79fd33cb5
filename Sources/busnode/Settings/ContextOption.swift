import ArgumentParser

/// The option `--context`, which every command takes, before its name or behind it.
struct ContextOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("Take settings from this context (default: $RUNBUS_CONTEXT, else none).", valueName: "name"),
    completion: .custom { _, _, _ in Settings.contextNames() })
  var context: String?

  /// The context that arguments name, the last one if there are several, as the parser takes it.
  static func given(in arguments: [String]) -> String? {
    var context: String?
    var rest = arguments[...]
    while let word = rest.popFirst(), word != "--" {
      if word == "--context" {
        context = rest.first ?? context
      } else if word.hasPrefix("--context=") {
        context = String(word.dropFirst("--context=".count))
      }
    }
    return context
  }

  /// The arguments from the name of the command on.
  static func dropped(from arguments: [String]) -> [String] {
    var rest = arguments[...]
    while let word = rest.first, word == "--context" || word.hasPrefix("--context=") {
      rest = rest.dropFirst(word == "--context" ? 2 : 1)
    }
    return Array(rest)
  }
}
