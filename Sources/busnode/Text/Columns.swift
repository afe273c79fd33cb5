/// Rows of words for people, each column as wide as its widest word.
enum Columns {
  /// The rows as lines, a heading first. The words of the first `leftColumns` stand to the left, those behind them,
  /// numbers, to the right.
  static func lines(_ heading: [String], _ rows: [[String]], leftColumns: Int = .max) -> [String] {
    let all = [heading] + rows.map { $0.map(shown) }
    let widths = heading.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      let words = zip(row, widths).enumerated().map { column, cell in
        let blank = String(repeating: " ", count: cell.1 - cell.0.count)
        return column < leftColumns ? cell.0 + blank : blank + cell.0
      }
      let line = words.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// A word that a peer or an app chose does nothing to the terminal.
  static func shown(_ word: String) -> String {
    String(String.UnicodeScalarView(word.unicodeScalars.map { isControl($0) ? "?" : $0 }))
  }
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
