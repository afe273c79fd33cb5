import RunBus
import RunCore
@testable import RunRecordings
import Testing

/// Documents for which Foundation's parser needed minutes and gigabytes. They are just long enough to notice that;
/// the time limit is ten times what they need here.
@Suite("Recordings that were made to be slow", .timeLimit(.minutes(10)))
struct RecordingLimitTests {
  /// Reads trackpoints followed by `rest` inside their segment.
  private func read(_ rest: String) throws(RunBusError) -> Recording {
    let points = (0..<60).map { Documents.gpxPoint($0) }
    return try Documents.read(Documents.gpx(points: points + [rest]))
  }

  // Once broken: A GPX with 200 kB of `<!-----…-->` or of many `<!--` took 6.5 s, because libxml2 reports every `--` in
  // a comment, in time that grows with the comment.
  @Test("Comments cost no time: one of a million dashes, many, and many that never end")
  func comments() throws {
    let plain = try read("")
    for rest in ["<!-" + String(repeating: "-", count: 1_000_000) + ">", String(repeating: "<!---->", count: 200_000)] {
      #expect(try read(rest) == plain)
    }
    let open = try read(String(repeating: "<!--", count: 250_000))
    #expect(open.samples == plain.samples)
    #expect(open.warnings.count == 1)
  }

  // Once broken: Two million different names (21 MB) took 71 s, four million different prefixes (51 MB) more than 250
  // s.
  @Test("More different names than any format needs are refused in one sentence")
  func names() throws {
    let sentence = "f: cannot read this recording: its elements and attributes have more than 10000 different names"
    for name in ["<n%/>", "<p%:a/>", "<a n%=''/>", "<a xmlns:n%=''/>"] {
      let many = (0...10_000).map { name.replacing("%", with: String($0)) }.joined()
      #expect(#expect(throws: RunBusError.self) { try read(many) }?.message == sentence)
    }
  }

  // Once broken: Twelve million `<:a/>` took 24 s and 1.3 GB.
  @Test("A prefix that is not declared is noted once, however often it occurs")
  func prefixes() throws {
    #expect(
      try read(String(repeating: "<p:a/><:a/>", count: 50_000)).warnings
        == ["100000 undeclared XML prefixes ignored (first at line 64)"])
  }

  // Once broken: One-second laps in a TCX took 40 s and 1.9 GB, because each of the 64 checkpoints of the fold shares
  // the list of laps, so the next lap copies the whole list; the laps of a file had no bound.
  @Test("Laps beyond the ten thousandth are skipped with a note, but their trackpoints are read")
  func laps() throws {
    let laps = (0..<10_050).map { Documents.tcxLap([$0]).replacing("\n", with: "") }
    let recording = try Documents.read(Documents.tcx(laps))
    #expect(recording.lapMarks.count == 9_999)
    #expect(recording.duration == .seconds(10_049))
    #expect(recording.summary?.laps.count == 10_000)
    #expect(recording.summary?.distanceMeters == nil)
    #expect(recording.warnings == ["50 laps beyond the first 10000 skipped (first at line 10004)"])
    // One lap a second; those within a window of the start or the stop are not pressed.
    #expect(recording.presses.count { $0.kind == .lap } == 9_999)
  }

  @Test("A trackpoint takes 72 bytes while a file is read, and a reading 40")
  func bytes() {
    #expect(MemoryLayout<Trackpoint>.stride == 72 && MemoryLayout<RecordedSample>.stride == 40)
    var point = Trackpoint(time: 1, line: 7)
    #expect(point.isBlank && point.position == nil && point.line == 7)
    point.position = Position(latitude: 1, longitude: 2)
    #expect(point.position == Position(latitude: 1, longitude: 2) && point.readingCount == 1)
    point.position = Position(latitude: 1, longitude: 2, horizontalAccuracyMeters: -1)
    #expect(point.position?.horizontalAccuracyMeters == -1)
    (point.position, point.heartRateBpm) = (nil, 0)
    #expect(point.position == nil && point.heartRateBpm == 0 && !point.isBlank)
  }

  @Test("Laps of a day without trackpoints do not fill the memory: readings are made for some of them only")
  func emptyLaps() throws {
    let figures = "<TotalTimeSeconds>86000</TotalTimeSeconds><DistanceMeters>9</DistanceMeters>"
    let lap = Documents.tcxLap([], figures: figures).replacing("\n", with: "")
    // A day apart, so that each is a run of its own.
    let activities = (10...28).map { day in
      "<Activity Sport=\"Running\">" + lap.replacing("2026-03-01", with: "2026-03-\(day)") + "</Activity>"
    }
    let runs = try Recording.runs(of: Array(Documents.tcx(activities: activities).utf8), name: "f")
    #expect(runs.count == 11)
    #expect(runs.reduce(0) { $0 + $1.samples.count } <= 100_000)
  }

  @Test("More stops of the timer than a run can have are refused")
  func stops() throws {
    let segments = (0...10_001).map { Documents.gpxPoint($0 * 4) + Documents.gpxPoint($0 * 4 + 1) }
    let error = #expect(throws: RunBusError.self) {
      try Documents.read(Documents.gpx(points: [segments.joined(separator: "</trkseg><trkseg>")]))
    }
    #expect(error?.message == "f: cannot read this recording: its timer stops more than 10000 times")
  }

  @Test("Empty tracks and lines of invalid bytes are counted in a note instead of listed")
  func empty() throws {
    let recording = try read("</trkseg></trk>" + String(repeating: "<trk/>", count: 50_000) + "<trk><trkseg>")
    #expect(recording.positionCount == 60)
    #expect(recording.warnings.isEmpty)
    #expect(
      try read(String(repeating: "\u{1}\n", count: 50_000)).warnings
        == ["50000 lines with bytes that are no characters, which were replaced (first at line 64)"])
  }
}
