/// How many columns of a terminal a text takes. Korean, Chinese and Japanese characters and emoji take two, combining
/// marks none.
enum TextWidth {
  static func of(_ text: some StringProtocol) -> Int {
    isPlain(text) ? text.utf8.count : text.reduce(0) { $0 + of($1) }
  }

  /// Whether a text has printable ASCII alone, as most of a screen has: the properties of its characters need not be
  /// looked up.
  private static func isPlain(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
  }

  /// The width of one character as a reader sees it: of its widest part.
  static func of(_ character: Character) -> Int {
    var widest = 0
    for scalar in character.unicodeScalars {
      // This selector asks for the coloured picture of a character that also has a plain form.
      if scalar.value == 0xFE0F { return 2 }
      widest = max(widest, of(scalar))
    }
    return widest
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    // Printable ASCII, the lines of boxes, and the blocks of sparklines.
    if (0x20..<0x7F).contains(scalar.value) || (0x2500...0x259F).contains(scalar.value) { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    if wide.contains(where: { $0.contains(scalar.value) }) { return 2 }
    // Halves of a Korean syllable join the first one.
    if (0x1160...0x11FF).contains(scalar.value) { return 0 }
    return scalar.properties.isEmojiPresentation ? 2 : 1
  }

  /// East Asian Wide and Fullwidth of Unicode Standard Annex 11, in blocks.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
    0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD,
  ]

  /// The longest beginning of a text that fits into so many columns.
  static func cut(_ text: String, to columns: Int) -> String {
    if isPlain(text) { return text.utf8.count <= columns ? text : String(text.prefix(max(0, columns))) }
    var width = 0
    var kept = ""
    for character in text {
      width += of(character)
      guard width <= columns else { break }
      kept.append(character)
    }
    return kept
  }

  /// A text cut or filled with blanks to so many columns.
  static func fitted(_ text: String, to columns: Int) -> String {
    let kept = cut(text, to: max(0, columns))
    return kept + String(repeating: " ", count: max(0, columns - of(kept)))
  }
}
