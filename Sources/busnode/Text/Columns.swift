/// Rows of words for people, each column as wide as its widest word.
enum Columns {
  /// To which side of its column a word stands: words to the left, numbers to the right.
  enum Alignment { case left, right }

  /// The rows as lines, a heading first.
  static func lines(_ heading: [String], _ rows: [[String]], alignment: Alignment = .left) -> [String] {
    let all = [heading] + rows.map { $0.map(shown) }
    let widths = heading.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      let words = zip(row, widths).map { word, width in
        let blank = String(repeating: " ", count: width - word.count)
        return switch alignment {
        case .left: word + blank
        case .right: blank + word
        }
      }
      let line = words.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// A word that a peer or an app chose does nothing to the terminal.
  private static func shown(_ word: String) -> String {
    String(String.UnicodeScalarView(word.unicodeScalars.map { isControl($0) ? "?" : $0 }))
  }
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
