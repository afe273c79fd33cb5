import Testing

@testable import busnode

@Suite("A QR code on a terminal")
struct QRCodeTests {
  /// One of each version that the reader below knows; with letters of both cases, which other modes do not preserve.
  private static let texts = ["r", "runbus:AbC-dEf", "runbus:?k=Zm9vYmFyQUJD", String(repeating: "aB3_", count: 25)]

  @Test("What is drawn reads back as the text, with either correction and either quiet zone", arguments: texts)
  func readsBack(text: String) throws {
    for correction in QRCode.Correction.allCases {
      guard let code = QRCode(text, correction: correction) else {
        Issue.record("\(text) has no code")
        continue
      }
      for quiet in [4, 2] {
        let reader = try #require(QRReader(lines: code.lines(quiet: quiet, on: .light), quiet: quiet))
        #expect(reader.width == code.width)
        // Beyond version 2 the codewords of medium correction are interleaved, which the reader does not undo.
        if correction == .low || reader.version <= 2 { #expect(reader.text == text) }
      }
    }
  }

  @Test("A code has the standard's quiet zone and the better correction, and less of both on a narrow terminal")
  func widths() throws {
    // Version 3 with low correction, version 4 with medium.
    let text = String(repeating: "aB3_", count: 12)
    let (low, medium) = (try #require(QRCode(text, correction: .low)), try #require(QRCode(text, correction: .medium)))
    #expect((low.width, medium.width) == (29, 33))
    func width(_ columns: Int?) -> Int? {
      let lines = QRCode.lines(text, columns: columns, on: .coloured)?.map {
        $0.replacing(/\u{1B}\[[0-9;]*m/, with: "").count
      }
      #expect(Set(lines ?? []).count <= 1)
      return lines?.first
    }
    #expect(width(nil) == 41)
    #expect(width(80) == 41)
    #expect(width(41) == 41)
    #expect(width(40) == 37)
    #expect(width(37) == 37)
    #expect(width(36) == 33)
    #expect(width(33) == 33)
    #expect(width(32) == nil)
    #expect(QRCode.lines(text, columns: 80, on: .coloured)?.count == 21)
  }

  @Test("A terminal gets black on white in each line, of its 16 colours and of all, and a file no control sequence")
  func colours() throws {
    let plain = try #require(QRCode.lines("runbus", columns: nil, on: .light))
    #expect(plain.allSatisfy { $0.allSatisfy { "█▀▄ ".contains($0) } })
    let coloured = try #require(QRCode.lines("runbus", columns: 80, on: .coloured))
    #expect(coloured == plain.map { "\u{1B}[30;47m\u{1B}[38;5;16;48;5;231m\($0)\u{1B}[0m" })
  }

  // Once broken: A QR code in the colours of the terminal with `TERM=dumb`, and with few colours, could not be read,
  // because there was one way to draw it on a terminal.
  @Test("A terminal without colours gets the code light on dark, which is how it shows text")
  func withoutColours() throws {
    let light = try #require(QRCode("runbus", correction: .low)).lines(quiet: 4, on: .light)
    let dark = try #require(QRCode("runbus", correction: .low)).lines(quiet: 4, on: .dark)
    let negative: [Character: Character] = ["█": " ", " ": "█", "▀": "▄", "▄": "▀"]
    #expect(dark.map { String($0.compactMap { negative[$0] }) } == light)
    #expect(QRReader(lines: light, quiet: 4)?.text == "runbus")
    #expect(QRCode.Paper(terminal: ["TERM": "xterm-256color"]) == .coloured)
    for environment in [["TERM": "xterm", "NO_COLOR": "1"], ["TERM": "dumb"], [:]] {
      #expect(QRCode.Paper(terminal: environment) == .dark)
    }
  }

  @Test("A text that is too long for a code has none, and an empty one neither")
  func tooLong() {
    #expect(QRCode.lines("", columns: nil, on: .light) == nil)
    #expect(QRCode.lines(String(repeating: "a", count: 2953), columns: nil, on: .light) != nil)
    #expect(QRCode.lines(String(repeating: "a", count: 2954), columns: nil, on: .light) == nil)
    #expect(QRCode.lines(String(repeating: "a", count: 2953), columns: 180, on: .coloured) == nil)
  }
}

/// Reads a drawn code of version 1 to 5 whose codewords are in one block (ISO/IEC 18004), without correcting errors.
private struct QRReader {
  let width: Int
  private let dark: [[Bool]]

  var version: Int { (width - 17) / 4 }

  /// - Parameter quiet: The width of the quiet zone; `nil` is returned when a module in it is dark.
  init?(lines: [String], quiet: Int) {
    var rows = lines.flatMap { line in
      [line.map { "█▀".contains($0) }, line.map { "█▄".contains($0) }]
    }
    // The number of rows is odd, and the last line has two.
    guard let last = rows.popLast(), !last.contains(true), rows.allSatisfy({ $0.count == rows.count }) else {
      return nil
    }
    let inside = quiet..<rows.count - quiet
    width = inside.count
    dark = inside.map { Array(rows[$0][inside]) }
    let count = rows.reduce(0) { $0 + $1.count { $0 } }
    guard count == dark.reduce(0, { $0 + $1.count { $0 } }) else { return nil }
  }

  /// The text; `nil` unless it is one segment in byte mode.
  var text: String? {
    let bits = codewordBits
    func number(_ range: Range<Int>) -> Int { range.reduce(0) { $0 << 1 | (bits[$1] ? 1 : 0) } }
    guard number(0..<4) == 0b0100 else { return nil }
    let bytes = (0..<number(4..<12)).map { UInt8(number(12 + 8 * $0..<20 + 8 * $0)) }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The data modules without their mask, in the order of the bits: upwards and downwards in columns of two, from the
  /// right.
  private var codewordBits: [Bool] {
    // The mask's number is in the format information beside the upper left finder.
    let mask = (2...4).reduce(0) { $0 << 1 | (dark[8][$1] ? 1 : 0) } ^ 0b101
    var bits: [Bool] = []
    var isUpwards = true
    for right in stride(from: width - 1, to: 0, by: -2) {
      // The column of the timing pattern belongs to no pair.
      let right = right <= 6 ? right - 1 : right
      for step in 0..<width {
        let row = isUpwards ? width - 1 - step : step
        for column in [right, right - 1] where !isFunction(row, column) {
          bits.append(dark[row][column] != Self.isMasked(mask, row, column))
        }
      }
      isUpwards.toggle()
    }
    return bits
  }

  private func isFunction(_ row: Int, _ column: Int) -> Bool {
    let isFinder = (row < 9 && (column < 9 || column >= width - 8)) || (row >= width - 8 && column < 9)
    let alignment = width - 9...width - 5
    let isAlignment = version > 1 && alignment.contains(row) && alignment.contains(column)
    return isFinder || row == 6 || column == 6 || isAlignment
  }

  private static func isMasked(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
    switch mask {
    case 0: (row + column) % 2 == 0
    case 1: row % 2 == 0
    case 2: column % 3 == 0
    case 3: (row + column) % 3 == 0
    case 4: (row / 2 + column / 3) % 2 == 0
    case 5: row * column % 2 + row * column % 3 == 0
    case 6: (row * column % 2 + row * column % 3) % 2 == 0
    default: ((row + column) % 2 + row * column % 3) % 2 == 0
    }
  }
}
