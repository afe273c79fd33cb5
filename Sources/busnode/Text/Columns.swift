import RunBus

/// Formats a table, each column as wide as its widest cell.
enum Columns {
  /// The heading and the rows as lines. The first `leftColumns` columns are aligned to the left, the others, which hold
  /// numbers, to the right; with `lastIsLeft` the last one is a text again.
  static func lines(
    _ heading: [String], _ rows: [[String]], leftColumns: Int = .max, lastIsLeft: Bool = false
  ) -> [String] {
    let all = [heading] + rows.map { $0.map { ForeignText.shown($0) } }
    let widths = heading.indices.map { column in all.map { TextWidth.of($0[column]) }.max() ?? 0 }
    return all.map { row in
      let words = zip(row, widths).enumerated().map { column, cell in
        let blank = String(repeating: " ", count: cell.1 - TextWidth.of(cell.0))
        let isLeft = column < leftColumns || lastIsLeft && column == heading.count - 1
        return isLeft ? cell.0 + blank : blank + cell.0
      }
      let line = words.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }
}
