import Foundation
import RunBus
import RunRecordings
import Testing

@Suite("Encodings and hostile files")
struct RecordingTextTests {
  private let document = Documents.gpx(0...20).replacing("Morning run", with: "Früh")

  @Test("A byte order mark, UTF-16, Latin encodings and all kinds of line ends are read")
  func encodings() throws {
    let expected = try Documents.read(document)
    #expect(expected.name == "Früh")
    let latin = document.replacing("UTF-8", with: "ISO-8859-1")
    let utf16 = document.replacing("UTF-8", with: "UTF-16")
    let others: [[UInt8]] = [
      [0xEF, 0xBB, 0xBF] + Array(document.utf8),
      Array(try #require(latin.data(using: .isoLatin1))),
      [0xFF, 0xFE] + utf16.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
      [0xFE, 0xFF] + utf16.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
      utf16.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
      Array(document.replacing("\n", with: "\r\n").utf8),
      Array(document.replacing("\n", with: "").utf8),
    ]
    for bytes in others { #expect(try Documents.read(bytes) == expected) }
    let unknown = Array(document.replacing("UTF-8", with: "EBCDIC-INT").utf8)
    #expect(try Documents.read(unknown) == expected)
  }

  @Test(
    "A file that is not text is refused by what it is",
    arguments: [
      ([0x1F, 0x8B, 8, 0], "it is compressed with gzip; unpack it first (gunzip)"),
      ([0x50, 0x4B, 3, 4], "it is a zip archive; unpack it first (unzip)"),
      ([0xFF, 0xFE, 0, 0], "it is UTF-32 text; save it as UTF-8"),
      (
        Array("<?xml encoding='big5'?><gpx>".utf8) + [0xA4, 0x40],
        "its encoding big5 is not known here; save it as UTF-8"
      ),
    ] as [([UInt8], String)])
  func otherKinds(bytes: [UInt8], reason: String) {
    let error = #expect(throws: RunBusError.self) { try Documents.read(bytes) }
    #expect(error?.message == "f: cannot read this recording: \(reason)")
  }

  @Test("A document type is refused in another encoding too")
  func documentType() {
    let text = "<!DOCTYPE gpx [<!ENTITY a \"b\">]>" + document
    let utf16: [UInt8] = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let error = #expect(throws: RunBusError.self) { try Documents.read(utf16) }
    #expect(error?.message.hasSuffix("it has a document type declaration, which neither GPX nor TCX has") == true)
  }

  @Test("A file beyond ten megabytes is read")
  func large() throws {
    let filler = String(repeating: " ", count: 120_000)
    let points = (0...99).map { Documents.gpxPoint($0) + filler }
    let recording = try Documents.read(Documents.gpx(points: points))
    #expect(recording.positionCount == 100)
    #expect(recording.warnings.isEmpty)
  }

  @Test("A tag of a hundred thousand attributes, deep nesting and endless text are refused or skipped")
  func hostile() throws {
    let attributes = (0..<100_000).map { "a\($0)=''" }.joined(separator: " ")
    let error = #expect(throws: RunBusError.self) { try Documents.read("<gpx \(attributes)></gpx>") }
    #expect(error?.message.hasSuffix("one of its tags is longer than 64 kB") == true)
    let deep = String(repeating: "<a>", count: 3000)
    let lines = (0...40).map { $0 == 20 ? Documents.gpxPoint($0, extra: deep) : Documents.gpxPoint($0) }
    #expect(try Documents.read(Documents.gpx(points: lines)).positionCount == 40)
    let long = document.replacing("Früh", with: String(repeating: "long ", count: 50_000))
    #expect(try Documents.read(long).positionCount == 21)
    #expect(throws: RunBusError.self) { try Documents.read(String(repeating: "<trkpt>", count: 20_000)) }
  }

  @Test(
    "Impossible numbers and times cost one reading each",
    arguments: ["NaN", "inf", "-inf", "1e999", "-1", "0x20", "1,5", "99999999999999999999"])
  func numbers(number: String) throws {
    let lines = (0...20).map {
      $0 == 7 ? Documents.gpxPoint($0, extra: "<ax:hr>\(number)</ax:hr>") : Documents.gpxPoint($0)
    }
    let recording = try Documents.read(Documents.gpx(points: lines))
    #expect(recording.positionCount == 21)
    #expect(recording.warnings.count <= 1)
    let times = (0...20).map {
      $0 == 7 ? Documents.gpxPoint($0).replacing(Documents.time(7), with: number) : Documents.gpxPoint($0)
    }
    #expect(try Documents.read(Documents.gpx(points: times)).positionCount == 20)
  }

  @Test("Impossible years are unreadable times", arguments: ["0000", "9999", "-001"])
  func years(year: String) throws {
    let error = #expect(throws: RunBusError.self) { try Documents.read(document.replacing("2026", with: year)) }
    #expect(
      error?.message
        == "f: cannot read this recording: none of its 21 trackpoints has a time that can be read; export it again")
  }
}
