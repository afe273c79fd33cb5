import CQREncode

/// A QR code, drawn with characters.
///
/// The text is encoded byte by byte, so that its case is preserved.
struct QRCode {
  /// How much of the code may be unreadable: about 7 or 15 percent.
  enum Correction: CaseIterable {
    case medium, low

    fileprivate var level: QRecLevel {
      switch self {
      case .medium: QR_ECLEVEL_M
      case .low: QR_ECLEVEL_L
      }
    }
  }

  /// The light modules around the code: what the standard asks for, and what cameras still accept.
  private static let quietZones = [4, 2]

  /// The modules of a side, without the quiet zone.
  let width: Int
  /// The modules row by row; a dark one is `true`.
  private let modules: [Bool]

  /// The smallest code of a text; `nil` for an empty text, and for one of more than 2,331 bytes (with low correction
  /// 2,953).
  init?(_ text: String, correction: Correction) {
    let bytes = Array(text.utf8)
    guard let code = QRcode_encodeData(CInt(bytes.count), bytes, 0, correction.level) else { return nil }
    defer { QRcode_free(code) }
    width = Int(code.pointee.width)
    // The lowest bit of a module is its colour; the others say what it is for.
    modules = (0..<width * width).map { code.pointee.data[$0] & 1 == 1 }
  }

  /// Whether a module is dark. All modules outside of the code are light.
  func isDark(row: Int, column: Int) -> Bool {
    (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column]
  }

  /// What a code is drawn on.
  enum Paper {
    /// A terminal that shows colours: each line sets black on white, because a code in the terminal's own colours
    /// cannot be read by every camera where these are light on dark.
    case coloured
    /// A terminal without colours: a character of blocks is light there, as on most terminals.
    case dark
    /// A file, which is read and printed dark on light.
    case light

    /// By the environment of a terminal: `NO_COLOR` is not set, and `TERM` knows control sequences.
    init(terminal environment: [String: String]) {
      let kind = environment["TERM"] ?? ""
      let hasColour = (environment["NO_COLOR"] ?? "").isEmpty && !kind.isEmpty && kind != "dumb"
      self = hasColour ? .coloured : .dark
    }
  }

  /// A text as a code with the best correction and the widest quiet zone for which there is room. The correction gives
  /// way before the quiet zone does. Print the lines with ``Output/tell(terminal:)``, which keeps control sequences.
  ///
  /// - Parameters:
  ///   - text: What a camera will read.
  ///   - columns: The width of the terminal; `nil` for a file, which has any width.
  ///   - paper: What the code is drawn on.
  /// - Returns: The lines; `nil` when the terminal is too narrow, or the text is too long for a code.
  static func lines(_ text: String, columns: Int?, on paper: Paper) -> [String]? {
    let codes = Correction.allCases.compactMap { QRCode(text, correction: $0) }
    for quiet in quietZones {
      for code in codes where columns.map({ code.width + 2 * quiet <= $0 }) ?? true {
        return code.lines(quiet: quiet, on: paper)
      }
    }
    return nil
  }

  /// Draws two rows of modules a line.
  ///
  /// - Parameters:
  ///   - quiet: The width of the quiet zone.
  ///   - paper: What the code is drawn on.
  func lines(quiet: Int, on paper: Paper) -> [String] {
    stride(from: -quiet, to: width + quiet, by: 2).map { row in
      let line = (-quiet..<width + quiet).map { column in
        let isInk = (isDark(row: row, column: column), isDark(row: row + 1, column: column))
        switch paper == .dark ? (!isInk.0, !isInk.1) : isInk {
        case (true, true): return "█"
        case (true, false): return "▀"
        case (false, true): return "▄"
        case (false, false): return " "
        }
      }.joined()
      return paper == .coloured ? Self.blackOnWhite + line + Self.usualColours : line
    }
  }

  /// First two of the 16 colours, for terminals that know no others. Then numbers of the colour cube: themes change the
  /// first 16 colours, and none of the cube.
  private static let blackOnWhite = "\u{1B}[30;47m\u{1B}[38;5;16;48;5;231m"
  private static let usualColours = "\u{1B}[0m"
}
