/// Text that this program did not write (names of files, titles of runs, words of a peer), made fit for a terminal.
public enum ForeignText {
  /// The text as one line without effect on the terminal that shows it. Control characters, line breaks and characters
  /// that change the direction of writing become their numbers: `\u{202E}`.
  public static func shown(_ text: some StringProtocol) -> String {
    guard text.unicodeScalars.contains(where: { !isHarmless($0) }) else { return String(text) }
    return text.unicodeScalars.reduce(into: "") { shown, scalar in
      if isHarmless(scalar) {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
  }

  /// Whether a character takes up room in its line and has no other effect. Joiners count as such: emoji and several
  /// scripts are written with them.
  public static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    if (0x20..<0x7F).contains(scalar.value) || scalar == "\u{200C}" || scalar == "\u{200D}" { return true }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return false
    default: return true
    }
  }
}
