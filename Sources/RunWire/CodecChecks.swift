#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RunCore

// The rules of the schema for ids, texts and numbers, each defined once.
extension Codec {
  /// The largest counter. It is far below the range of the integers, so that adding to it never overflows in a node or
  /// a store.
  static let counterMax: UInt64 = 1 << 62
  /// The longest source or role.
  static let wordBytesMax = 64
  /// The longest sentence for people, such as the reason of a refusal.
  static let messageBytesMax = 1024
  /// The longest endpoint; sockets accept no path or address of this length.
  static let endpointBytesMax = 256

  static func data<Kind>(_ id: Identifier<Kind>) -> Data {
    withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { Data($0) }
  }

  static func identifier<Kind>(_ data: Data, _ name: String) throws(WireError) -> Identifier<Kind> {
    guard data.count == 16 else { throw .malformed("\(name) is \(data.count) bytes long, not 16") }
    let (high, low) = data.withUnsafeBytes { bytes in
      (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    return Identifier(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
  }

  static func device(_ text: String) throws(WireError) -> DeviceID {
    guard let name = DeviceID(text) else { throw .malformed("device id is not a name") }
    return name
  }

  /// Checks a text of another node, which may be shown on a terminal: bounded, without control characters.
  static func text(_ text: String, _ name: String, bytesMax: Int) throws(WireError) -> String {
    guard text.utf8.count <= bytesMax else { throw .malformed("\(name) is longer than \(bytesMax) bytes") }
    guard !text.unicodeScalars.contains(where: \.isControl) else {
      throw .malformed("\(name) has control characters in it")
    }
    return text
  }

  static func word(_ word: String, _ name: String) throws(WireError) -> String {
    guard !word.isEmpty else { throw .malformed("\(name) is missing") }
    return try text(word, name, bytesMax: wordBytesMax)
  }

  /// Checks a message's name or a key by the same rule as the app that sends it.
  static func name(_ text: String, _ name: String) throws(WireError) -> String {
    guard AppMessage.isName(text) else {
      throw .malformed("\(name) is not 1 to \(AppMessage.nameMax) bytes without control characters")
    }
    return text
  }

  static func source(_ text: String) throws(WireError) -> ControlSource {
    ControlSource(rawValue: try word(text, "source"))
  }

  static func role(_ text: String) throws(WireError) -> NodeRole {
    NodeRole(rawValue: try word(text, "role"))
  }

  /// Shortens a text of this node to fit, at a character boundary, and replaces control characters by spaces.
  static func fitting(_ text: String, bytesMax: Int) -> String {
    var scalars = String.UnicodeScalarView()
    var bytes = 0
    for scalar in text.unicodeScalars {
      let kept = scalar.isControl ? " " : scalar
      bytes += UTF8.width(kept)
      guard bytes <= bytesMax else { break }
      scalars.append(kept)
    }
    return String(scalars)
  }

  static func counter(_ value: UInt64, _ name: String) throws(WireError) -> UInt64 {
    guard value <= counterMax else { throw .malformed("\(name) is out of range") }
    return value
  }

  /// Checks a sequence of a stream: sequences start at 1.
  static func sequence(_ value: UInt64) throws(WireError) -> UInt64 {
    guard value >= 1 else { throw .malformed("sequence is missing") }
    return try counter(value, "sequence")
  }

  /// Checks a span, which is never negative.
  static func span(_ nanoseconds: Int64, _ name: String) throws(WireError) -> BusDuration {
    guard nanoseconds >= 0 else { throw .malformed("\(name) is negative") }
    return BusDuration(nanoseconds: nanoseconds)
  }

  /// Checks the time of a goal.
  static func goal(_ nanoseconds: Int64) throws(WireError) -> RunGoal {
    guard let goal = RunGoal(time: BusDuration(nanoseconds: nanoseconds)) else {
      throw .malformed("goal is not whole milliseconds, above zero and at most a day")
    }
    return goal
  }

  /// Checks a moment that was stored.
  static func storedMoment(_ nanoseconds: Int64) throws(WireError) -> BusTime {
    BusTime(nanoseconds: try storedSpan(nanoseconds).nanoseconds)
  }

  /// Checks a span that was stored.
  static func storedSpan(_ nanoseconds: Int64) throws(WireError) -> BusDuration {
    guard StoredNumber.times.contains(nanoseconds) else { throw .malformed("time is out of range") }
    return BusDuration(nanoseconds: nanoseconds)
  }

  /// Checks a revision that was stored, to which the node adds.
  static func storedRevision(_ value: UInt64) throws(WireError) -> UInt64 {
    guard value <= UInt64(StoredNumber.own.upperBound) else { throw .malformed("revision is out of range") }
    return value
  }

  static func finite(_ value: Double, _ name: String) throws(WireError) -> Double {
    guard value.isFinite else { throw .malformed("\(name) is not a number") }
    return value
  }
}
