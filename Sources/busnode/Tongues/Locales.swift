import Foundation
import RunBus

/// What the locale of a terminal says about language, units and characters. POSIX has a variable for each, `LC_ALL` above
/// it and `LANG` below it.
struct Locales: Hashable, Sendable {
  private let environment: [String: String]
  /// Whether its characters are UTF-8. Elsewhere people see plain ones only.
  let hasUnicode: Bool

  init(_ environment: [String: String]) {
    self.environment = environment
    let upper = Self.locale("LC_CTYPE", environment).uppercased()
    hasUnicode = upper.contains("UTF-8") || upper.contains("UTF8")
  }

  /// Those of this process.
  static let ofThisProcess = Locales(ProcessInfo.processInfo.environment)

  /// The locale of a category: `ko_KR.UTF-8`; empty for none.
  private static func locale(_ category: String, _ environment: [String: String]) -> String {
    ["LC_ALL", category, "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
  }

  /// Korean where the messages are and the characters can show it.
  var native: Tongue {
    let name = Self.locale("LC_MESSAGES", environment).prefix { $0 != "." && $0 != "@" }
    return hasUnicode && (name == "ko" || name.hasPrefix("ko_")) ? .korean : .english
  }

  /// Miles where the locale's country has them. A locale without a country (`C`, `ko`) has kilometres.
  var units: RunUnits {
    let name = Self.locale("LC_MEASUREMENT", environment).prefix { $0 != "." && $0 != "@" }
    return name.contains("_") ? RunUnits(Locale(identifier: String(name))) : .metric
  }

  /// The language of a process.
  ///
  /// - Parameters:
  ///   - choice: What the option says, else the variable, else the settings.
  ///   - isJSON: Whether it writes JSON, whose messages are the same for all.
  ///   - isTerminal: Whether people read standard output. The locale says nothing about a pipe.
  func tongue(choice: Tongue?, isJSON: Bool, isTerminal: Bool) -> Tongue {
    isJSON ? .english : choice ?? (isTerminal ? native : .english)
  }

  /// A text of this program with plain characters for those that only Unicode has. Names that people gave stay.
  static func plain(_ text: String) -> String {
    text.utf8.allSatisfy { $0 < 0x80 }
      ? text : text.replacing("·", with: "-").replacing("…", with: "...").replacing("–", with: "-")
  }
}
