import RunBus
import RunCore
import RunScripts

/// What ArgumentParser says about wrong arguments, in the words of this program: what is wrong, and what is allowed.
enum UsageSentence {
  /// A sentence of ArgumentParser in the words of this program. A sentence that is not known here stays as it is.
  ///
  /// - Parameters:
  ///   - text: What ArgumentParser says.
  ///   - help: What its line about the argument says; empty when there is none.
  static func make(_ text: String, help: String) -> String {
    let allowed = help.isEmpty ? "" : ": \(lowered(help))"
    if let match = text.wholeMatch(of: /Unknown option '(.+?)'(?:\. Did you mean '(.+)'\?)?/) {
      let (option, guess) = (String(match.1), match.2.map(String.init))
      func name(_ option: String) -> String { String(option.drop { $0 == "-" }) }
      let isClose = guess.map { Spelling.isClose(name(option), name($0)) } == true
      return "there is no option \(option)" + (isClose ? ": did you mean \(guess ?? "")?" : "")
    }
    if let match = text.wholeMatch(of: /Unexpected argument '(.*)'/) { return "one argument is too many: '\(match.1)'" }
    if let match = text.wholeMatch(of: /(\d+) unexpected arguments: (.*)/) {
      return "\(match.1) arguments are too many: \(match.2)"
    }
    if let match = text.wholeMatch(of: /Missing expected argument '(.*)'/) { return "\(match.1) is missing\(allowed)" }
    if let match = text.wholeMatch(of: /Missing value for '(\S+)(.*)'/) {
      return "\(match.1) has no value\(rule(of: match.2) ?? allowed)"
    }
    if let match = text.wholeMatch(of: /The option '(.*?)' does not take any value, but '(.*)' was specified\./) {
      return "\(match.1) takes no value, and '\(match.2)' was given"
    }
    // The reason is that of this program, and says what is allowed.
    if let match = text.wholeMatch(of: /The value '.*' is invalid for '(\S+).*?': (.*)/) {
      return "\(match.1): \(match.2)"
    }
    if let match = text.wholeMatch(of: /The value '(.*)' is invalid for '(\S+).*?'\. Please provide one of([\s\S]*)/) {
      let words = match.3.matches(of: /'(.*?)'|- (\S+)/).map { String($0.1 ?? $0.2 ?? "") }
      return "'\(match.1)' is not what \(match.2) takes: give \(list(words))"
    }
    if let match = text.wholeMatch(of: /The value '(.*)' is invalid for '(\S+)(.*?)'/) {
      // The help of an option says what it names, and not what a name is.
      if match.3.wholeMatch(of: /\ <(name|device)>/) != nil, DeviceID(match.1) == nil {
        return "\(match.2): '\(match.1)' is no name: \(DeviceID.rule)"
      }
      return "'\(match.1)' is not what \(match.2) takes\(rule(of: match.3) ?? allowed)"
    }
    return lowered(text)
  }

  /// What values with these names are, which the help of their options does not say.
  private static let rules = [
    "time": "a time is 90, 12s, 500ms, 1m30s or 1:30, more than 0 and at most 100 days",
    "factor": "a factor is 0.001 to 10000", "port": "a port is 1 to 65535", "number": "a number is 1 or more",
    "revision": "a revision is a whole number, 0 or more (busnode state --field revision)",
    "seed": "a seed is a whole number, 0 or more", "ms": "0 to 60000 ms",
    "lat,lon": "a place is degrees north (-90 to 90) and east (-180 to 180), as 37.566,126.978",
  ]

  /// - Parameter name: What stands behind an option: ` <time>`.
  private static func rule(of name: Substring) -> String? {
    rules[name.trimmingPrefix(" <").description.replacing(">", with: "")].map { ": \($0)" }
  }

  /// `gpx, tcx or csv`.
  static func list(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
  }

  /// A sentence as it stands behind a colon: without a capital at its beginning and a point at its end.
  private static func lowered(_ text: String) -> String {
    let body = text.hasSuffix(".") ? text.dropLast() : text[...]
    let second = body.dropFirst().first
    // An abbreviation keeps its capitals.
    return second?.isUppercase == true ? String(body) : body.prefix(1).lowercased() + body.dropFirst()
  }
}
