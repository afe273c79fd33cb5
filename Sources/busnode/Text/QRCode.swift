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

  /// A text as a code with the best correction and the widest quiet zone for which the terminal is wide enough. The
  /// correction gives way before the quiet zone does.
  ///
  /// For a terminal each line sets its own colours, black on white, because a code in the terminal's colours cannot be
  /// read by every camera where these are light on dark. Print the lines with ``Output/raw(_:)``, which keeps the control
  /// sequences.
  ///
  /// - Parameters:
  ///   - text: What a camera will read.
  ///   - columns: The width of the terminal; `nil` for output that is no terminal: it has any width, and gets no
  ///     control sequences.
  /// - Returns: The lines; `nil` when the terminal is too narrow, or the text is too long for a code.
  static func lines(_ text: String, columns: Int?) -> [String]? {
    let codes = Correction.allCases.compactMap { QRCode(text, correction: $0) }
    for quiet in quietZones {
      for code in codes where columns.map({ code.width + 2 * quiet <= $0 }) ?? true {
        return code.lines(quiet: quiet, inColours: columns != nil)
      }
    }
    return nil
  }

  /// Draws two rows of modules a line.
  ///
  /// - Parameters:
  ///   - quiet: The width of the quiet zone.
  ///   - inColours: Whether the lines set their colours.
  func lines(quiet: Int, inColours: Bool) -> [String] {
    stride(from: -quiet, to: width + quiet, by: 2).map { row in
      let line = (-quiet..<width + quiet).map { column in
        switch (isDark(row: row, column: column), isDark(row: row + 1, column: column)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }.joined()
      return inColours ? Self.blackOnWhite + line + Self.usualColours : line
    }
  }

  /// Numbers of the colour cube: themes of terminals change the first 16 colours, and none of the cube.
  private static let blackOnWhite = "\u{1B}[38;5;16;48;5;231m"
  private static let usualColours = "\u{1B}[0m"
}
