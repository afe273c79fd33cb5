import ArgumentParser

/// The options `--context` and `--language`, which every command takes, before its name or behind it.
struct ContextOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("Take settings from this context (default: $RUNBUS_CONTEXT, else none).", valueName: "name"),
    completion: .custom { _, _, _ in Settings.contextNames() })
  var context: String?

  // It is read before the arguments are parsed, so that what is wrong with them is said in it.
  @Option(help: "The language of texts (default: $RUNBUS_LANGUAGE, else en, on a terminal that of the locale).")
  var language: Tongue?

  /// The context that arguments name, the last one if there are several, as the parser takes it.
  static func given(in arguments: [String]) -> String? { value(of: "--context", in: arguments) }

  /// The language that arguments name, the last one if there are several; `nil` for one that there is not.
  static func language(in arguments: [String]) -> Tongue? {
    value(of: "--language", in: arguments).flatMap { Tongue(rawValue: $0) }
  }

  private static func value(of option: String, in arguments: [String]) -> String? {
    var value: String?
    var rest = arguments[...]
    while let word = rest.popFirst(), word != "--" {
      if word == option {
        value = rest.first ?? value
      } else if word.hasPrefix(option + "=") {
        value = String(word.dropFirst(option.count + 1))
      }
    }
    return value
  }

  /// The arguments from the name of the command on.
  static func dropped(from arguments: [String]) -> [String] {
    var rest = arguments[...]
    while let word = rest.first,
      let option = ["--context", "--language"].first(where: { word == $0 || word.hasPrefix($0 + "=") })
    {
      rest = rest.dropFirst(word == option ? 2 : 1)
    }
    return Array(rest)
  }
}

extension Tongue: ExpressibleByArgument {}

extension Tongue {
  /// The language of this process: by the option, the variable, the settings, else on a terminal by the locale.
  static func chosen(by arguments: [String], settings: Settings?) -> Tongue {
    Locales.ofThisProcess.tongue(
      choice: ContextOption.language(in: arguments) ?? settings?.language, isJSON: Output.isJSON,
      isTerminal: Output.isTerminal)
  }
}
