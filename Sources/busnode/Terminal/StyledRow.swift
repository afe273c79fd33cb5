/// How a piece of text looks. Nothing is said by a colour alone.
enum Style: Hashable, Sendable {
  case plain, dim, bold, good, waiting, bad, accent, inverse

  /// The codes of the style for `CSI … m`; colours are those that a terminal's user has chosen.
  func codes(hasColor: Bool) -> String {
    switch self {
    case .plain: ""
    case .dim: "2"
    case .bold: "1"
    case .good: hasColor ? "1;32" : "1"
    case .waiting: hasColor ? "1;33" : "1"
    case .bad: hasColor ? "1;31" : "1"
    case .accent: hasColor ? "36" : ""
    case .inverse: "7"
    }
  }
}

/// A row of a screen: pieces of text with their styles.
struct StyledRow: Hashable, Sendable {
  struct Piece: Hashable, Sendable {
    var text: String
    var style: Style
  }

  private(set) var pieces: [Piece] = []

  init() {}
  init(_ text: String, _ style: Style = .plain) { pieces = [Piece(text: text, style: style)] }

  /// The columns that it takes.
  var width: Int { pieces.reduce(0) { $0 + TextWidth.of($1.text) } }
  /// The text without styles.
  var text: String { pieces.map(\.text).joined() }

  mutating func add(_ text: String, _ style: Style = .plain) {
    guard !text.isEmpty else { return }
    pieces.append(Piece(text: text, style: style))
  }

  /// This row cut or filled to so many columns, followed by another one.
  func beside(_ other: StyledRow, at columns: Int) -> StyledRow {
    var row = cut(to: columns)
    row.add(String(repeating: " ", count: max(0, columns - row.width)))
    for piece in other.pieces { row.add(piece.text, piece.style) }
    return row
  }

  /// The beginning of the row that fits into so many columns.
  func cut(to columns: Int) -> StyledRow {
    var row = StyledRow()
    var left = columns
    for piece in pieces {
      let text = TextWidth.cut(piece.text, to: left)
      row.add(text, piece.style)
      left -= TextWidth.of(text)
      if text.count < piece.text.count { break }
    }
    return row
  }

  /// The row as it is when it fits into so many columns; else its beginning with an ellipsis, so that it is not taken
  /// for the whole.
  func shortened(to columns: Int, hasUnicode: Bool) -> StyledRow {
    guard width > columns, let style = pieces.last?.style else { return self }
    let mark = hasUnicode ? "…" : "~"
    var row = cut(to: columns - 1)
    row.add(mark, style)
    return row
  }

  /// The bytes that draw it. Blanks at the end are left out: the rest of the line is cleared.
  func drawn(hasColor: Bool) -> String {
    var text = ""
    for piece in pieces {
      let codes = piece.style.codes(hasColor: hasColor)
      text += codes.isEmpty ? piece.text : "\u{1B}[\(codes)m\(piece.text)\u{1B}[0m"
    }
    return text
  }
}
