/// A 128-bit identifier. `Kind` is what it identifies, so that ids of different kinds have different types.
public struct Identifier<Kind>: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  /// The upper 64 bits.
  public let high: UInt64
  /// The lower 64 bits.
  public let low: UInt64

  /// An identifier from its two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
  /// A random identifier. The pure cores never use the system's generator; they are given a seed.
  public init(using generator: inout some RandomNumberGenerator) {
    self.init(high: generator.next(), low: generator.next())
  }
  /// An identifier from its 16 bytes, most significant first; `nil` when there are not 16.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    func half(_ part: some Collection<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: half(bytes.prefix(8)), low: half(bytes.dropFirst(8)))
  }
  /// An identifier from 32 hexadecimal digits, as ``description`` writes them; `nil` for anything else.
  public init?(_ text: some StringProtocol) {
    guard text.utf8.count == 32, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
      let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.dropFirst(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  /// The 16 bytes, most significant first.
  public var bytes: [UInt8] {
    func half(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
    return half(high) + half(low)
  }
  /// 32 lowercase hexadecimal digits.
  public var description: String {
    func half(_ value: UInt64) -> String {
      let digits = String(value, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    return half(high) + half(low)
  }
  /// Orders by value. The order has no meaning; it breaks ties and makes output stable.
  public static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }

  /// Reads the textual form.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = Self(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a 128-bit identifier: \(text)")
    }
    self = value
  }
  /// Writes the textual form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// What a ``CommandID`` identifies.
public enum CommandTag: Sendable {}
/// What a ``RunID`` identifies.
public enum RunTag: Sendable {}
/// What a ``NodeID`` identifies.
package enum NodeTag: Sendable {}
/// What a ``StoreID`` identifies.
package enum StoreTag: Sendable {}
/// What a ``BusID`` identifies.
package enum BusIDTag: Sendable {}

/// Identifies a command; it stays the same when the command is sent again.
public typealias CommandID = Identifier<CommandTag>
/// Identifies a run; the node that sends the start creates it.
public typealias RunID = Identifier<RunTag>
/// Identifies a node across its restarts.
package typealias NodeID = Identifier<NodeTag>
/// Identifies a store. A store that has lost history gets a new one.
package typealias StoreID = Identifier<StoreTag>
/// Identifies the bus of a hub that pairs devices, across its addresses and keys.
package typealias BusID = Identifier<BusIDTag>

/// What a ``DeviceID`` names.
public enum DeviceTag: Sendable {}
/// What a ``BusName`` names.
public enum BusTag: Sendable {}

/// The name of a device or of a bus: `[a-z0-9][a-z0-9._-]{0,31}`, so that it fits a path and a log line. `Kind` gives
/// names of devices and names of buses different types.
///
/// A string literal is a name. A wrong literal ends the program at once and says why:
///
/// ```swift
/// let watch: DeviceID = "watch"
/// ```
public struct Name<Kind>: Hashable, Comparable, Sendable, Codable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The name as written.
  public let rawValue: String

  /// A checked name; `nil` when it does not match `[a-z0-9][a-z0-9._-]{0,31}`.
  public init?(_ text: some StringProtocol) {
    func isAlphanumeric(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    // Copied to a concrete type: checking the names of a long journal in generic code is slow.
    let text = String(text)
    guard (1...32).contains(text.utf8.count), let first = text.utf8.first, isAlphanumeric(first),
      text.utf8.allSatisfy({ isAlphanumeric($0) || $0 == 0x2E || $0 == 0x5F || $0 == 0x2D })
    else { return nil }
    rawValue = text
  }

  /// A name that is written in the program. A wrong one is a bug there: the program ends and says why.
  public init(stringLiteral literal: StaticString) {
    let text = literal.description
    // Not a literal here, so this is the initializer that checks.
    guard let name = Self(text) else { fatalError("\"\(text)\" is not a name: \(Self.rule)") }
    self = name
  }

  /// What every name is, for errors and traps.
  package static var rule: String {
    "a name has 1 to 32 characters of a-z, 0-9, '.', '_' and '-', the first of them a letter or a digit"
  }

  /// The name as written.
  public var description: String { rawValue }
  /// Alphabetical.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// Reads and checks a name.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = Self(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a name: \(text)")
    }
    self = value
  }
  /// Writes the name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}

/// The name of a device on its bus (`phone`, `watch`).
public typealias DeviceID = Name<DeviceTag>
/// The name of a bus.
public typealias BusName = Name<BusTag>
