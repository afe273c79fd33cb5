/// The name of an app's message: 1 to 64 bytes of UTF-8 without control characters.
///
/// A string literal is a name. A wrong literal ends the program at once and says why:
///
/// ```swift
/// let photo: MessageName = "photo"
/// ```
///
/// The wire and ``AppMessage/name`` carry the text.
public struct MessageName: Hashable, Comparable, Sendable, Codable, CustomStringConvertible, ExpressibleByStringLiteral
{
  /// The name as written.
  public let rawValue: String

  /// A checked name; `nil` when the text cannot be one.
  public init?(_ text: some StringProtocol) {
    let text = String(text)
    guard AppMessage.isName(text) else { return nil }
    rawValue = text
  }

  /// A name that is written in the program. A wrong one is a bug there: the program ends and says why.
  public init(stringLiteral literal: StaticString) {
    let text = literal.description
    guard AppMessage.isName(text) else { fatalError("\"\(text)\" is not a message's name: \(Self.rule)") }
    rawValue = text
  }

  /// What every name is, for errors and traps.
  package static let rule = "a name has 1 to \(AppMessage.nameMax) bytes and no control characters"

  /// The name as written.
  public var description: String { rawValue }
  /// Alphabetical.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// Reads and checks a name.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = Self(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a message's name: \(text)")
    }
    self = value
  }
  /// Writes the name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}
