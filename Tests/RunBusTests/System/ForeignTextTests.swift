import RunBus
import Testing

@Suite("Foreign text on a terminal")
struct ForeignTextTests {
  @Test("Control characters, line breaks and changes of direction become numbers; letters, marks and emoji stay")
  func shown() {
    #expect(ForeignText.shown("a\u{1B}[2Jb\n\r\t\u{7F}\u{9B}") == "a\\u{1B}[2Jb\\u{A}\\u{D}\\u{9}\\u{7F}\\u{9B}")
    #expect(
      ForeignText.shown("\u{202E}\u{2066}\u{2028}\u{2029}\u{200F}\u{FEFF}\u{E0041}")
        == "\\u{202E}\\u{2066}\\u{2028}\\u{2029}\\u{200F}\\u{FEFF}\\u{E0041}")
    // Private characters look different on each terminal, and nobody knows what one will be that is not assigned.
    #expect(ForeignText.shown("a\u{E000}\u{F8FF}\u{10FFFD}") == "a\\u{E000}\\u{F8FF}\\u{10FFFD}")
    #expect(ForeignText.shown("\u{0378}\u{FFFF}\u{E0080}") == "\\u{378}\\u{FFFF}\\u{E0080}")
    for text in ["Río <&> \\u{41}", "⌚️🏃🏽‍♀️", "می‌روم", "e\u{301}", ""] { #expect(ForeignText.shown(text) == text) }
    // Escaping twice changes nothing more.
    #expect(ForeignText.shown(ForeignText.shown("\u{1B}")) == "\\u{1B}")
  }
}
