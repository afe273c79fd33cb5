import Foundation
import RunCore

/// The content of a file as UTF-8, without a byte order mark and without control characters, which XML does not allow.
/// Lines and columns are the same as in the file.
struct RecordingText {
  /// The text.
  private(set) var bytes: [UInt8]
  /// How many lines had bytes that are not valid characters and were replaced by U+FFFD.
  private(set) var damagedLineCount = 0
  /// The number of the first such line, from 1.
  private(set) var damagedLine = 0

  /// Decodes a file.
  ///
  /// - Throws: The reason when the file is not text, or is in an encoding that is not supported.
  init(_ data: [UInt8]) throws(RecordingFlaw) {
    try Self.refuseOtherKinds(data)
    let start = Array(data.prefix(4))
    let declared = Self.declaredEncoding(data)
    if start.starts(with: [0xFF, 0xFE, 0, 0]) || start == [0, 0, 0xFE, 0xFF] || start == [0, 0, 0, 0x3C] {
      throw RecordingFlaw("it is UTF-32 text; save it as UTF-8")
    } else if start.starts(with: [0xFF, 0xFE]) || (start.count == 4 && start[0] == 0x3C && start[1] == 0) {
      bytes = Self.utf8(fromUTF16: data, isBigEndian: false)
    } else if start.starts(with: [0xFE, 0xFF]) || (start.count == 4 && start[0] == 0 && start[1] == 0x3C) {
      bytes = Self.utf8(fromUTF16: data, isBigEndian: true)
    } else if let encoding = Self.encodings[declared], let text = String(bytes: data, encoding: encoding) {
      bytes = Array(text.utf8)
    } else {
      // UTF-8, or a file that declares an unknown encoding but is valid UTF-8.
      guard Self.isUTF8OrNear(declared) || String(validating: data, as: UTF8.self) != nil else {
        throw RecordingFlaw("its encoding \(declared.prefix(40)) is not known here; save it as UTF-8")
      }
      bytes = data
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    replaceWhatIsNoCharacter()
  }

  /// Recognizes other kinds of files that people try to read, by their first bytes.
  private static func refuseOtherKinds(_ data: [UInt8]) throws(RecordingFlaw) {
    let start = Array(data.prefix(12))
    if start.starts(with: [0x1F, 0x8B]) {
      throw RecordingFlaw("it is compressed with gzip; unpack it first (gunzip)")
    }
    if start.starts(with: Array("PK".utf8) + [3, 4]) {
      throw RecordingFlaw("it is a zip archive; unpack it first (unzip)")
    }
    if String(decoding: data.prefix(4096), as: UTF8.self).contains("HealthData") {
      throw RecordingFlaw(
        "it is Apple Health's list of all data, without positions; read the GPX files in workout-routes beside it")
    }
  }

  /// The supported encodings besides UTF-8 and UTF-16, by the name in the XML declaration.
  private static let encodings: [String: String.Encoding] = [
    "iso-8859-1": .isoLatin1, "latin1": .isoLatin1, "iso-8859-2": .isoLatin2,
    "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251, "windows-1252": .windowsCP1252,
  ]
  /// Whether a declared encoding is read as UTF-8. Files that were converted from UTF-16 often still declare it.
  private static func isUTF8OrNear(_ declared: String) -> Bool {
    ["", "utf-8", "utf8", "us-ascii", "ascii", "utf-16"].contains(declared)
  }

  /// The encoding in the XML declaration, in lower case; empty when there is none.
  private static func declaredEncoding(_ data: [UInt8]) -> String {
    let head = String(decoding: data.prefix(512), as: UTF8.self)
    guard let start = head.range(of: "<?xml"), let end = head.range(of: "?>", range: start.upperBound..<head.endIndex),
      let name = head.range(of: "encoding", range: start.upperBound..<end.lowerBound)
    else { return "" }
    let quotes: Set<Character> = ["\"", "'"]
    return head[name.upperBound..<end.lowerBound].drop { !quotes.contains($0) }.dropFirst()
      .prefix { !quotes.contains($0) }.lowercased()
  }

  private static func utf8(fromUTF16 data: [UInt8], isBigEndian: Bool) -> [UInt8] {
    var units: [UInt16] = []
    units.reserveCapacity(data.count / 2)
    var first: UInt8?
    for byte in data {
      guard let before = first else {
        first = byte
        continue
      }
      units.append(isBigEndian ? UInt16(before) << 8 | UInt16(byte) : UInt16(byte) << 8 | UInt16(before))
      first = nil
    }
    // A single byte at the end is half a character: damage.
    if first != nil { units.append(0xFFFD) }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  /// Replaces bytes that are not UTF-8 and control characters by U+FFFD. A number with it is skipped, and a tag with it
  /// matches no element.
  private mutating func replaceWhatIsNoCharacter() {
    let isControl: (UInt8) -> Bool = { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    guard String(validating: bytes, as: UTF8.self) == nil || bytes.contains(where: isControl) else { return }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var start = 0
    var number = 1
    while start <= bytes.count {
      let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
      let line = bytes[start..<end]
      if String(validating: line, as: UTF8.self) != nil, !line.contains(where: isControl) {
        result += line
      } else {
        if damagedLineCount == 0 { damagedLine = number }
        damagedLineCount += 1
        for byte in String(decoding: line, as: UTF8.self).utf8 {
          if isControl(byte) { result += "\u{FFFD}".utf8 } else { result.append(byte) }
        }
      }
      if end < bytes.count { result.append(0x0A) }
      start = end + 1
      number += 1
    }
    bytes = result
  }
}
