/// Makes text that this program did not write (file names, titles of runs, a peer's words) safe to show on a terminal.
package enum ForeignText {
  /// The text as one line that does not affect the terminal. Control characters, line breaks, characters that change
  /// the direction of writing, private ones and ones that are not assigned are replaced by their numbers, such as
  /// `\u{202E}`.
  package static func shown(_ text: some StringProtocol) -> String {
    guard text.unicodeScalars.contains(where: { !isHarmless($0) }) else { return String(text) }
    return text.unicodeScalars.reduce(into: "") { shown, scalar in
      if isHarmless(scalar) {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
  }

  /// Whether a character has no effect beyond its position in a line. Joiners count as harmless, because emoji and
  /// several scripts need them.
  package static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    if (0x20..<0x7F).contains(scalar.value) || scalar == "\u{200C}" || scalar == "\u{200D}" { return true }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
    default: return true
    }
  }
}
