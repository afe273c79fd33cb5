import Synchronization

/// A language in which people read what the program says.
///
/// Programs read English: pipes, files and `--json` stay the same whatever the locale is. ``Locales`` has the rule.
enum Tongue: String, CaseIterable, Sendable {
  case english = "en"
  case korean = "ko"

  /// The language of this process. Until ``settle(_:)`` it is English, as in tests of the English text.
  static var current: Tongue { inTask ?? settled.withLock { $0 } }

  private static let settled = Mutex(Tongue.english)
  /// The language of a test, which runs beside others in one process.
  @TaskLocal static var inTask: Tongue?

  /// Settles the language, once, before anything is said.
  static func settle(_ tongue: Tongue) { settled.withLock { $0 = tongue } }

  /// The text of a phrase in this language, with its placeholders as they are.
  func text(of phrase: Phrase) -> String {
    switch self {
    case .english: phrase.english
    case .korean: phrase.korean
    }
  }

  /// A phrase in the language of this process.
  ///
  /// - Parameter parts: What stands for each placeholder.
  static func say(_ phrase: Phrase, _ parts: [String: Any] = [:]) -> String {
    let text = current.text(of: phrase)
    return parts.isEmpty ? text : filled(text, parts)
  }

  /// A text with its placeholders replaced. Braces in what replaces them are no placeholders.
  private static func filled(_ text: String, _ parts: [String: Any]) -> String {
    var filled = ""
    var rest = text[...]
    while let opening = rest.firstIndex(of: "{"), let closing = rest[opening...].firstIndex(of: "}") {
      let name = String(rest[rest.index(after: opening)..<closing])
      filled += rest[..<opening]
      filled += parts[name].map { "\($0)" } ?? "{\(name)}"
      rest = rest[rest.index(after: closing)...]
    }
    return filled + rest
  }

  /// The names of the placeholders of a text.
  static func placeholders(in text: String) -> Set<String> { Set(text.matches(of: /\{(\w+)\}/).map { String($0.1) }) }
}
