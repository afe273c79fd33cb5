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
      let sentence = Tongue.say(.noOption, ["option": option])
      return isClose ? Tongue.say(.didYouMean, ["sentence": sentence, "guess": guess ?? ""]) : sentence
    }
    if let match = text.wholeMatch(of: /Unexpected argument '(.*)'/) {
      return Tongue.say(.oneTooMany, ["word": match.1])
    }
    if let match = text.wholeMatch(of: /(\d+) unexpected arguments: (.*)/) {
      return Tongue.say(.severalTooMany, ["count": match.1, "words": match.2])
    }
    if let match = text.wholeMatch(of: /Missing expected argument '(.*)'/) {
      return Tongue.say(.isMissing, ["name": match.1, "rule": allowed])
    }
    if let match = text.wholeMatch(of: /Missing value for '(\S+)(.*)'/) {
      return Tongue.say(.hasNoValue, ["option": match.1, "rule": rule(of: match.2) ?? allowed])
    }
    if let match = text.wholeMatch(of: /The option '(.*?)' does not take any value, but '(.*)' was specified\./) {
      return Tongue.say(.takesNoValue, ["option": match.1, "value": match.2])
    }
    // The reason is that of this program, and says what is allowed.
    if let match = text.wholeMatch(of: /The value '.*' is invalid for '(\S+).*?': (.*)/) {
      return "\(match.1): \(match.2)"
    }
    if let match = text.wholeMatch(of: /The value '(.*)' is invalid for '(\S+).*?'\. Please provide one of([\s\S]*)/) {
      let words = match.3.matches(of: /'(.*?)'|- (\S+)/).map { String($0.1 ?? $0.2 ?? "") }
      return Tongue.say(.takesOneOf, ["value": match.1, "option": match.2, "list": list(words)])
    }
    if let match = text.wholeMatch(of: /The value '(.*)' is invalid for '(\S+)(.*?)'/) {
      // The help of an option says what it names, and not what a name is.
      if match.3.wholeMatch(of: /\ <(name|device)>/) != nil, DeviceID(match.1) == nil {
        return Tongue.say(.noName, ["option": match.2, "value": match.1, "rule": DeviceID.rule])
      }
      return Tongue.say(.takesNot, ["value": match.1, "option": match.2, "rule": rule(of: match.3) ?? allowed])
    }
    return lowered(text)
  }

  /// What values with these names are, which the help of their options does not say.
  private static var rules: [String: String] {
    [
      "time": Tongue.say(.ruleTime),
      "factor": Tongue.say(.ruleFactor), "port": Tongue.say(.rulePort), "number": Tongue.say(.ruleNumber),
      "revision": Tongue.say(.ruleRevision),
      "seed": Tongue.say(.ruleSeed), "ms": Tongue.say(.ruleMilliseconds),
      "lat,lon": Tongue.say(.rulePlace),
    ]
  }

  /// - Parameter name: What stands behind an option: ` <time>`.
  private static func rule(of name: Substring) -> String? {
    rules[name.trimmingPrefix(" <").description.replacing(">", with: "")].map { ": \($0)" }
  }

  /// `gpx, tcx or csv`.
  ///
  /// - Parameter phrase: How the last word is joined to the others.
  static func list(_ words: [String], by phrase: Phrase = .listOr) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return Tongue.say(phrase, ["words": words.dropLast().joined(separator: ", "), "last": last])
  }

  /// A sentence as it stands behind a colon: without a capital at its beginning and a point at its end.
  private static func lowered(_ text: String) -> String {
    let body = text.hasSuffix(".") ? text.dropLast() : text[...]
    let second = body.dropFirst().first
    // An abbreviation keeps its capitals.
    return second?.isUppercase == true ? String(body) : body.prefix(1).lowercased() + body.dropFirst()
  }
}
