import RunBus

/// Small pictures of characters: large digits, the last minutes of a value, a route.
enum Pictures {
  /// Digits of three by five dots; a colon is one dot wide.
  private static let digits: [Character: [String]] = [
    "0": ["###", "# #", "# #", "# #", "###"], "1": ["  #", "  #", "  #", "  #", "  #"],
    "2": ["###", "  #", "###", "#  ", "###"], "3": ["###", "  #", "###", "  #", "###"],
    "4": ["# #", "# #", "###", "  #", "  #"], "5": ["###", "#  ", "###", "  #", "###"],
    "6": ["###", "#  ", "###", "# #", "###"], "7": ["###", "  #", "  #", "  #", "  #"],
    "8": ["###", "# #", "###", "# #", "###"], "9": ["###", "# #", "###", "  #", "###"],
    ":": [" ", "#", " ", "#", " "], "-": ["   ", "   ", "###", "   ", "   "],
  ]

  /// How many rows large digits take.
  static func digitRows(hasUnicode: Bool) -> Int { hasUnicode ? 3 : 5 }

  /// A clock in large digits: three rows of half blocks, or five of ASCII.
  static func large(_ text: String, hasUnicode: Bool) -> [String] {
    var dots = [String](repeating: "", count: 6)
    for character in text {
      guard let digit = digits[character] else { continue }
      for row in 0..<6 { dots[row] += (row < 5 ? digit[row] : String(repeating: " ", count: digit[0].count)) + " " }
    }
    guard hasUnicode else { return Array(dots.prefix(5)) }
    return stride(from: 0, to: 6, by: 2).map { row in
      String(
        zip(dots[row], dots[row + 1]).map { upper, lower in
          switch (upper == "#", lower == "#") {
          case (true, true): "█"
          case (true, false): "▀"
          case (false, true): "▄"
          case (false, false): " "
          }
        })
    }
  }

  /// What the lowest and the highest bar of a sparkline mean; `nil` when there are not enough values for one. One value in
  /// twenty is cut off at either side: a stop would flatten the rest.
  static func range(of values: some Sequence<Double?>) -> ClosedRange<Double>? {
    let known = values.compactMap { $0 }.sorted()
    guard known.count > 1 else { return nil }
    let cut = known.count / 20
    return known[cut]...known[known.count - 1 - cut]
  }

  /// The last values as a row of bars, the newest on the right. `isInverted` draws small values high, such as fast paces.
  static func sparkline(_ values: [Double?], columns: Int, isInverted: Bool = false, hasUnicode: Bool) -> String {
    let bars = Array(hasUnicode ? "▁▂▃▄▅▆▇█" : "_.-=+*#@")
    let shown = values.suffix(columns)
    guard let range = range(of: shown) else { return "" }
    let (low, high) = (range.lowerBound, range.upperBound)
    return String(
      shown.map { value in
        guard let value else { return " " }
        let share = high > low ? min(1, max(0, (value - low) / (high - low))) : 0.5
        return bars[Int(((isInverted ? 1 - share : share) * Double(bars.count - 1)).rounded())]
      })
  }

  /// A route north up, as large as it fits: braille dots, or ASCII with one mark a cell. The runner is `@`.
  static func route(_ points: [RoutePoint], columns: Int, rows: Int, hasUnicode: Bool) -> [String] {
    let counted = points.filter { $0.verdict.counts }
    guard counted.count > 1, columns > 1, rows > 1, let first = counted.first else { return [] }
    let latitude = first.position.latitude * .pi / 180
    let scale = max(0.05, 1 - latitude * latitude / 2 + latitude * latitude * latitude * latitude / 24)
    let places = counted.map { (x: $0.position.longitude * scale, y: -$0.position.latitude) }
    let (left, right) = (places.map(\.x).min() ?? 0, places.map(\.x).max() ?? 0)
    let (top, bottom) = (places.map(\.y).min() ?? 0, places.map(\.y).max() ?? 0)
    // A cell is twice as high as wide: two by four dots make dots square.
    let (across, down) = hasUnicode ? (columns * 2, rows * 4) : (columns, rows)
    let (dotWidth, dotHeight) = hasUnicode ? (1.0, 1.0) : (1.0, 2.0)
    let size = max(
      (right - left) / (Double(across - 1) * dotWidth), (bottom - top) / (Double(down - 1) * dotHeight), 1e-9)
    func dot(_ place: (x: Double, y: Double)) -> (x: Int, y: Int) {
      let x = (place.x - left) / size / dotWidth + (Double(across - 1) - (right - left) / size / dotWidth) / 2
      let y = (place.y - top) / size / dotHeight + (Double(down - 1) - (bottom - top) / size / dotHeight) / 2
      return (min(across - 1, max(0, Int(x.rounded()))), min(down - 1, max(0, Int(y.rounded()))))
    }
    var marked = [Bool](repeating: false, count: across * down)
    var last = dot(places[0])
    for (index, place) in places.enumerated() {
      let next = dot(place)
      let from = counted[index].verdict == .anchored ? next : last
      let steps = max(abs(next.x - from.x), abs(next.y - from.y), 1)
      for step in 0...steps {
        let (x, y) = (from.x + (next.x - from.x) * step / steps, from.y + (next.y - from.y) * step / steps)
        marked[y * across + x] = true
      }
      last = next
    }
    let bits: [[UInt32]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
    return (0..<rows).map { row in
      String(
        (0..<columns).map { column in
          if hasUnicode, last.x / 2 == column, last.y / 4 == row { return "@" }
          guard hasUnicode else {
            if last == (column, row) { return "@" }
            return marked[row * across + column] ? "*" : " "
          }
          var cell: UInt32 = 0
          for (y, line) in bits.enumerated() {
            for (x, bit) in line.enumerated() where marked[(row * 4 + y) * across + column * 2 + x] { cell |= bit }
          }
          return cell == 0 ? " " : Unicode.Scalar(0x2800 + cell).map(Character.init) ?? " "
        })
    }
  }
}
