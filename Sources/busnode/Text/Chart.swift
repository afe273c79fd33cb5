import RunBus

/// A line chart of one value over a run, drawn with characters.
struct Chart {
  /// What the line is drawn with.
  enum Style {
    /// Braille characters of two by four dots.
    case braille
    /// ASCII, one star in each column, for output that is not a terminal.
    case plain
  }

  /// The height of the drawing in lines.
  static let rows = 6
  /// The smallest width of the drawing; a narrower one shows nothing useful.
  static let columnsMin = 20

  /// The line above the drawing.
  var title: String
  /// The values at even steps; `nil` where there is none.
  var values: [Double?]
  /// Whether small values are drawn at the top, such as fast paces.
  var isInverted = false
  /// The text of a value beside the axis.
  var label: (Double) -> String
  /// The texts below the left and the right end.
  var ends: (String, String)
  /// How the sentence below the drawing names the extremes; without it there is none.
  var words: Words?

  /// How a sentence names the extremes of a chart: `fastest 4:12 /km at 13:40, slowest 7:10 /km at 3:20`.
  struct Words {
    /// What the smallest value is, and what the largest.
    var low: String
    var high: String
    /// Run time between two values.
    var interval: BusDuration
    /// A value with its unit.
    var text: (Double) -> String
  }

  /// The sentence about the extremes; `nil` without words, and when no value is known.
  var sentence: String? {
    let known = values.enumerated().compactMap { index, value in value.map { (index, $0) } }
    guard let words, let low = known.min(by: { $0.1 < $1.1 }), let high = known.max(by: { $0.1 < $1.1 }) else {
      return nil
    }
    func part(_ name: String, _ extreme: (index: Int, value: Double)) -> String {
      Tongue.say(
        .extremeAt,
        [
          "name": name, "value": words.text(extreme.value),
          "time": Sentence.clock(words.interval.seconds * Double(extreme.index)),
        ])
    }
    return "\(part(words.low, low)), \(part(words.high, high))"
  }

  /// The lines of the chart, `width` columns wide with labels; empty when fewer than two values are known.
  func lines(width: Int, style: Style) -> [String] {
    guard let (low, high) = bounds else { return [] }
    let labels = [label(isInverted ? low : high), label(isInverted ? high : low)]
    let margin = (labels.map(\.count).max() ?? 0) + 1
    let columns = max(Self.columnsMin, width - margin - 1)
    let across = style == .braille ? columns * 2 : columns
    let down = style == .braille ? Self.rows * 4 : Self.rows
    let heights = heights(across: across, down: down, low: low, high: high)
    let picture = style == .braille ? Self.braille(heights, columns) : Self.plain(heights, columns)
    let lines = picture.enumerated().map { row, text in
      let label = row == 0 ? labels[0] : row == Self.rows - 1 ? labels[1] : ""
      let line = String(repeating: " ", count: margin - 1 - label.count) + label + " |" + text
      return String(line.reversed().drop { $0 == " " || $0 == "\u{2800}" }.reversed())
    }
    let blank = String(repeating: " ", count: max(1, columns - ends.0.count - ends.1.count))
    let foot = sentence.map { [$0] } ?? []
    return [title] + lines + [String(repeating: " ", count: margin + 1) + ends.0 + blank + ends.1] + foot
  }

  /// The smallest and the largest value that are drawn. One value in fifty is cut off at either side: otherwise a few
  /// outliers, such as a walk across a street, would flatten the rest.
  private var bounds: (Double, Double)? {
    let known = values.compactMap { $0 }.sorted()
    guard known.count > 1 else { return nil }
    let cut = known.count / 50
    let (low, high) = (known[cut], known[known.count - 1 - cut])
    return high > low ? (low, high) : (low - 1, high + 1)
  }

  /// The height of the line in each column of dots, from 0 at the bottom to `down` - 1; `nil` where no value is known.
  private func heights(across: Int, down: Int, low: Double, high: Double) -> [Int?] {
    (0..<across).map { column in
      // A column shows the mean of its values. If there are more columns than values, a value fills several columns.
      let first = column * values.count / across
      let last = max(first, (column + 1) * values.count / across - 1)
      let known = values[first...last].compactMap { $0 }
      guard !known.isEmpty else { return nil }
      let mean = known.reduce(0, +) / Double(known.count)
      let share = (min(max(mean, low), high) - low) / (high - low)
      return Int(((isInverted ? 1 - share : share) * Double(down - 1)).rounded())
    }
  }

  private static func plain(_ heights: [Int?], _ columns: Int) -> [String] {
    (0..<rows).map { row in String(heights.map { $0 == rows - 1 - row ? "*" : " " }) }
  }

  /// Each character has two columns of four dots. Vertical dots connect each column to the one before.
  private static func braille(_ heights: [Int?], _ columns: Int) -> [String] {
    let dots: [[UInt32]] = [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]]
    var cells = [[UInt32]](repeating: [UInt32](repeating: 0, count: columns), count: rows)
    var last: Int?
    for (column, height) in heights.enumerated() {
      defer { last = height }
      guard let height else { continue }
      let from = last.map { $0 < height ? $0 + 1 : $0 > height ? $0 - 1 : $0 } ?? height
      for dot in min(from, height)...max(from, height) {
        cells[rows - 1 - dot / 4][column / 2] |= dots[column % 2][dot % 4]
      }
    }
    return cells.map { row in
      String(String.UnicodeScalarView(row.compactMap { Unicode.Scalar(0x2800 + $0) }))
    }
  }
}
