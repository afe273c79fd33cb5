import RunBus

/// A name in the order in which people look for it: runs of digits count as numbers, so that `w2` stands before `w10`.
struct NaturalName: Comparable, Sendable {
  let text: String
  /// The name in pieces, each of digits or of anything else.
  private let pieces: [Piece]

  private struct Piece: Comparable, Sendable {
    /// The value of digits without their leading zeros, which has any length; empty for anything else.
    var digits = ""
    var text = ""

    /// Numbers stand before words, as digits stand before letters. A longer number is a larger one.
    static func < (left: Piece, right: Piece) -> Bool {
      if left.digits.isEmpty != right.digits.isEmpty { return right.digits.isEmpty }
      return (left.digits.utf8.count, left.digits, left.text) < (right.digits.utf8.count, right.digits, right.text)
    }
  }

  init(_ text: String) {
    self.text = text
    var pieces: [Piece] = []
    var rest = text[...]
    while let first = rest.first {
      let isNumber = first.isASCIIDigit
      let run = rest.prefix { $0.isASCIIDigit == isNumber }
      rest = rest.dropFirst(run.count)
      guard isNumber else {
        pieces.append(Piece(text: String(run)))
        continue
      }
      let digits = run.drop { $0 == "0" }
      pieces.append(Piece(digits: digits.isEmpty ? "0" : String(digits)))
    }
    self.pieces = pieces
  }

  init(_ device: DeviceID) { self.init(device.rawValue) }

  /// Names that differ in leading zeros only are ordered by their characters, so that the order is total.
  static func < (left: NaturalName, right: NaturalName) -> Bool {
    left.pieces == right.pieces ? left.text < right.text : left.pieces.lexicographicallyPrecedes(right.pieces)
  }

  static func == (left: NaturalName, right: NaturalName) -> Bool { left.text == right.text }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
