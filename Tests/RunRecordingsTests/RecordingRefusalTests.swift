import Foundation
import RunBus
import RunRecordings
import Testing

@Suite("Files that are no recordings")
struct RecordingRefusalTests {
  private static let head = #"<gpx><trk><trkseg><trkpt lat="1" lon="2"><time>2026-01-01T00:00:00Z</time></trkpt>"#

  // Once broken: JSON and CSV were "1:1: it is not XML", because the reader of XML was asked first.
  @Test(
    "A refused file gives one line that says what is wrong, and where",
    arguments: [
      ("", "f: cannot read this recording: it is empty"),
      ("hello", "f: cannot read this recording: it is neither GPX, TCX nor FIT: export the activity as one of these"),
      (
        #" {"runId": "a"}"#,
        "f: cannot read this recording: it is JSON, and not GPX, TCX or FIT: records import reads the JSON of an export"
      ),
      (head, "f:1:83: cannot read this recording: the XML ends in the middle: the file is incomplete"),
      ("<gpx>\n<trk></gpx>", "f:2:12: cannot read this recording: an XML end tag does not match its start tag"),
      ("<html></html>", "f:1:6: cannot read this recording: its root element is <html>, so it is neither GPX nor TCX"),
      (
        "<gpx></gpx>",
        "f: cannot read this recording: it holds no trackpoints, so there is no run in it; export the recorded activity"
      ),
      (
        head + "</trkseg></trk></gpx>",
        "f: cannot read this recording: it holds no two trackpoints at different times, so there is no run in it; "
          + "export the recorded activity"
      ),
      (
        head + #"<trkpt lat="1" lon="2"><time>2027-01-01T00:00:00Z</time></trkpt></trkseg></trk></gpx>"#,
        "f: cannot read this recording: it spans more than seven days: correct the wrong dates in it, or export it again"
      ),
      (
        #"<!DOCTYPE gpx [<!ENTITY a "b">]><gpx>&a;</gpx>"#,
        "f: cannot read this recording: it has a document type declaration, which neither GPX nor TCX has"
      ),
    ])
  func refusals(document: String, message: String) {
    let error = #expect(throws: RunBusError.self) { try Recording.read(Array(document.utf8), name: "f") }
    #expect(error?.code == .badInput)
    #expect(error?.message == message)
  }

  @Test("Deep nesting, other encodings and a file beyond the limit are refused")
  func bounds() throws {
    let deep = String(repeating: "<a>", count: 5000)
    #expect(throws: RunBusError.self) { try Recording.read(Array(("<gpx>" + deep).utf8), name: "f") }
    let utf16 = "<gpx></gpx>".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    #expect(throws: RunBusError.self) { try Recording.read(utf16, name: "f") }
    let long = [UInt8](repeating: 0x20, count: 64 << 20 + 1)
    #expect(throws: RunBusError.self) { try Recording.read(long, name: "f") }
  }

  @Test("A path that is not a file is refused: a missing one, a folder, a device")
  func paths() throws {
    for path in ["/nonexistent/run.gpx", NSTemporaryDirectory(), "/dev/null"] {
      let error = #expect(throws: RunBusError.self) { try Recording.read(contentsOf: path) }
      #expect(error?.code == .badInput)
      #expect(error?.message.hasPrefix(path) == true)
      #expect(error?.message.contains("\n") == false)
    }
  }

  // Once broken: `lat="0x10"` was a latitude, and `lat=" 50 "` and `lat="NaN"` were "outside the globe", because
  // numbers were what Swift reads as a `Double`.
  @Test("Numbers are decimal, with white space around them as XML allows")
  func numbers() throws {
    func recording(_ latitude: String) throws -> Recording {
      let points = (0..<12).map { Documents.gpxPoint($0) }
      let odd = "<trkpt lat=\"\(latitude)\" lon=\"8.5\"><time>\(Documents.time(12))</time><ele>100</ele></trkpt>"
      return try Recording.read(Array(Documents.gpx(points: points + [odd]).utf8), name: "f")
    }
    #expect(try recording(" 50.0001\t").warnings.isEmpty)
    for text in ["0x32", "NaN", "inf", "", "5 0"] {
      #expect(try recording(text).warnings.first?.contains("no possible number") == true, "\(text)")
    }
    #expect(try recording("91").warnings.first?.contains("outside the globe") == true)
  }

  // Once broken: Each run of a file that was skipped for the same reason had a line of its own: 99 for one cause,
  // because reasons were not gathered.
  @Test("Runs of a file that are skipped for one reason are told in one sentence")
  func skipped() throws {
    let empty = "<Activity Sport=\"Running\"><Lap><Track>\(Documents.tcxPoint(0))</Track></Lap></Activity>"
    let whole = "<Activity Sport=\"Running\">\(Documents.tcxLap(Array(0..<20)))</Activity>"
    let file = Documents.tcx(activities: [whole] + Array(repeating: empty, count: 5))
    let warnings = try #require(try Recording.runs(of: Array(file.utf8), name: "f").first).warnings
    #expect(warnings.count == 1 && warnings[0].hasPrefix("5 runs of the file skipped (first run 2): "))
  }

  // Once broken: Of two files with the same points and other pauses the second was "kept already", because the id of an
  // imported run followed from its readings only.
  @Test("The same points with other pauses are another run")
  func pauses() throws {
    func run(timer: Int) throws -> RunID {
      let statistics =
        "<extensions><ax:TrackStatsExtension><ax:TimerTime>\(timer)</ax:TimerTime></ax:TrackStatsExtension></extensions>"
      var points = (Array(0...200) + Array(290...490)).map { Documents.gpxPoint($0) }
      points[201] = "</trkseg><trkseg>" + points[201]
      let file = Documents.gpx(points: points, statistics: statistics)
      return try RecordImport.record(of: Array(file.utf8), name: "f").record.runID
    }
    #expect(try run(timer: 490) == run(timer: 490))
    #expect(try run(timer: 490) != run(timer: 400))
  }
}
