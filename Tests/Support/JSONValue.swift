import Foundation

/// Any JSON, for tests that read what a program wrote.
package enum JSONValue: Hashable, Sendable, Decodable {
  /// No value.
  case null
  /// A truth value.
  case bool(Bool)
  /// A number.
  case number(Double)
  /// Text.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object.
  case object([String: JSONValue])

  /// Reads JSON text; `nil` if it is not valid JSON.
  package init?(text: some StringProtocol) {
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { return nil }
    self = value
  }

  /// Reads any JSON.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // Likely types first, because each wrong guess throws an error.
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode([String: JSONValue].self) {
      self = .object(value)
    } else {
      self = .array(try container.decode([JSONValue].self))
    }
  }

  /// A field of an object: `nil` if the key is missing, `.null` if it has no value.
  package subscript(key: String) -> JSONValue? {
    if case .object(let fields) = self { fields[key] } else { nil }
  }
  /// The text, if it is one.
  package var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The number, if it is one.
  package var number: Double? { if case .number(let value) = self { value } else { nil } }
  /// The number, if it is a whole one.
  package var int: Int? { number.flatMap { Int(exactly: $0) } }
  /// The truth value, if it is one.
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The elements, if it is an array.
  package var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  /// The fields, if it is an object.
  package var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
}
