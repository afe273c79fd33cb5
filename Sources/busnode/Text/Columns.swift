import RunBus

/// Formats a table, each column as wide as its widest cell.
enum Columns {
  /// The heading and the rows as lines. The first `leftColumns` columns are aligned to the left, the others, which hold
  /// numbers, to the right; with `lastIsLeft` the last one is a text again.
  static func lines(
    _ heading: [String], _ rows: [[String]], leftColumns: Int = .max, lastIsLeft: Bool = false
  ) -> [String] {
    let all = [heading] + rows.map { $0.map { ForeignText.shown($0) } }
    let cells = all.map { row in row.map { (text: $0, width: TextWidth.of($0)) } }
    let widths = heading.indices.map { column in cells.map { $0[column].width }.max() ?? 0 }
    return cells.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let blank = String(repeating: " ", count: widths[column] - cell.width)
        let isLeft = column < leftColumns || lastIsLeft && column == heading.count - 1
        if column > 0 { line += "  " }
        line += isLeft ? cell.text + blank : blank + cell.text
      }
      while line.utf8.last == UInt8(ascii: " ") { line.unicodeScalars.removeLast() }
      return line
    }
  }
}
