/// What a runner shows to the others in a room. Everything on it is what the runner says.
package struct RoomCard: Hashable, Sendable {
  /// A runner's gender, if stated.
  package enum Gender: String, Hashable, Sendable, CaseIterable {
    case female, male, other
  }
  /// Wins and losses, as the runner counts them.
  package struct Claim: Hashable, Sendable {
    /// Results in which the runner was first.
    package var won: Int
    /// Results in which another was first.
    package var lost: Int
    /// A claim from its parts.
    package init(won: Int, lost: Int) { (self.won, self.lost) = (won, lost) }
  }
  /// The levels that there are.
  package static let levels = 1...10

  /// The name that others see.
  package var nickname: Nickname
  /// How strong the runner is, in ``levels``.
  package var level: Int
  /// The runner's gender; `nil` if not stated.
  package var gender: Gender?
  /// The circle of the runner, for rooms of one circle; at most 64 bytes.
  package var circle: String?
  /// What the runner says of earlier results; `nil` for none.
  package var claim: Claim?

  /// A card from its parts.
  package init(
    nickname: Nickname, level: Int = 1, gender: Gender? = nil, circle: String? = nil, claim: Claim? = nil
  ) {
    self.nickname = nickname
    self.level = level
    self.gender = gender
    self.circle = circle
    self.claim = claim
  }
}

/// The name that others see of a runner: 2 to 24 letters and digits of any script.
package struct Nickname: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The name as written.
  package let text: String
  /// What a nickname may be, for a sentence.
  package static let rule = "2 to 24 letters and digits of any script"

  /// A checked nickname; `nil` when it is not one.
  ///
  /// A scalar of the name is a letter or a digit, or a mark on one before it. Two nicknames with the same letters are
  /// equal however they are encoded, as Swift's strings are.
  package init?(_ text: String) {
    let scalars = text.unicodeScalars
    guard (2...24).contains(scalars.count), let first = scalars.first, !Self.isMark(first),
      scalars.allSatisfy({ Self.isLetterOrDigit($0) || Self.isMark($0) })
    else { return nil }
    self.text = text
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark: !scalar.properties.isDefaultIgnorableCodePoint
    default: false
    }
  }
  private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber:
      // Hangul has letters that fill a place and show nothing.
      !scalar.properties.isDefaultIgnorableCodePoint
    default: false
    }
  }

  /// The name as written.
  package var description: String { text }
  /// Orders as strings are ordered.
  package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}
