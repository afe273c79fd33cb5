/// Finds where a text is no JSON (RFC 8259), which Foundation's readers do not tell.
struct JSONSyntax {
  /// Where it is none.
  struct Fault: Error, Hashable {
    /// From 1.
    var line: Int
    /// From 1, in characters.
    var column: Int
    /// What should be there.
    var expected: String
  }

  /// Deeper nesting is refused; a file of settings has three levels.
  private static let depthMax = 32

  private let bytes: [UInt8]
  private var place = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The first fault; `nil` for JSON.
  static func fault(in bytes: [UInt8]) -> Fault? {
    var scan = JSONSyntax(bytes)
    do throws(Fault) {
      try scan.value(depth: 0)
      scan.skipBlanks()
      guard scan.place == bytes.count else { throw scan.fault(Tongue.say(.jsonEnd)) }
      return nil
    } catch {
      return error
    }
  }

  private func fault(_ expected: String) -> Fault {
    // At the end of the file, the last character that is there is what a person looks at.
    var end = min(place, bytes.count)
    if end == bytes.count { while end > 0, Self.isBlank(bytes[end - 1]) { end -= 1 } }
    let before = bytes[..<end]
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    // Further bytes of a character are no column of their own.
    let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
    let what =
      place >= bytes.count
      ? Tongue.say(.jsonTooEarly, ["what": expected]) : Tongue.say(.jsonExpected, ["what": expected])
    return Fault(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: column, expected: what)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  private mutating func skipBlanks() { while place < bytes.count, Self.isBlank(bytes[place]) { place += 1 } }

  /// The next byte, which stays; `nil` at the end.
  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  /// Skips a byte, if it is this one.
  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  private mutating func value(depth: Int) throws(Fault) {
    skipBlanks()
    guard depth < Self.depthMax else { throw fault(Tongue.say(.jsonNesting)) }
    switch next {
    case UInt8(ascii: "{"): try object(depth)
    case UInt8(ascii: "["): try list(depth)
    case UInt8(ascii: "\""): try text()
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): try number()
    default:
      for word in ["true", "false", "null"] where bytes[place...].starts(with: word.utf8) {
        place += word.utf8.count
        return
      }
      throw fault(Tongue.say(.jsonValue))
    }
  }

  private mutating func object(_ depth: Int) throws(Fault) {
    _ = skip("{")
    skipBlanks()
    if skip("}") { return }
    repeat {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw fault(Tongue.say(.jsonKey)) }
      try text()
      skipBlanks()
      guard skip(":") else { throw fault(Tongue.say(.jsonColon)) }
      try value(depth: depth + 1)
      skipBlanks()
    } while skip(",")
    guard skip("}") else { throw fault(Tongue.say(.jsonCommaOrBrace)) }
  }

  private mutating func list(_ depth: Int) throws(Fault) {
    _ = skip("[")
    skipBlanks()
    if skip("]") { return }
    repeat {
      try value(depth: depth + 1)
      skipBlanks()
    } while skip(",")
    guard skip("]") else { throw fault(Tongue.say(.jsonCommaOrBracket)) }
  }

  private mutating func text() throws(Fault) {
    _ = skip("\"")
    while let byte = next, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw fault(Tongue.say(.jsonQuote)) }
      // What is escaped is checked by the reader; here only a quotation mark matters.
      place += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    guard skip("\"") else { throw fault(Tongue.say(.jsonQuote)) }
  }

  private mutating func number() throws(Fault) {
    let start = place
    while let byte = next, "+-.0123456789Ee".utf8.contains(byte) { place += 1 }
    guard Double(String(decoding: bytes[start..<place], as: UTF8.self)) == nil else { return }
    place = start
    throw fault(Tongue.say(.jsonNumber))
  }
}
