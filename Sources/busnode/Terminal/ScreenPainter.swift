/// Draws rows on a terminal and writes only those that differ from what it shows.
struct ScreenPainter: Sendable {
  private let hasColor: Bool
  private var shown: [StyledRow]?
  private var size: Screen?

  init(hasColor: Bool) { self.hasColor = hasColor }

  /// Forgets what the terminal shows, because somebody else has drawn on it.
  mutating func forget() { shown = nil }

  /// The bytes that make the terminal show these rows; empty when it does already. Rows beyond the screen and columns
  /// beyond its width are left out.
  ///
  /// The terminal shows the change at once if it knows synchronized output (mode 2026); others ignore that.
  mutating func paint(_ rows: [StyledRow], on screen: Screen) -> String {
    let rows = (0..<screen.rows).map { ($0 < rows.count ? rows[$0] : StyledRow()).cut(to: screen.columns) }
    let before = size == screen ? shown : nil
    (shown, size) = (rows, screen)
    var text = ""
    for (index, row) in rows.enumerated() where before?[index] != row {
      text += "\u{1B}[\(index + 1);1H\(row.drawn(hasColor: hasColor))\u{1B}[K"
    }
    guard !text.isEmpty else { return "" }
    return "\u{1B}[?2026h" + (before == nil ? "\u{1B}[2J" : "") + text + "\u{1B}[?2026l"
  }
}
