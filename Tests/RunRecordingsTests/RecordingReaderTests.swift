import RunBus
import RunRecordings
import Testing

@Suite("Reading recordings")
struct RecordingReaderTests {
  private func gpx(_ body: String) throws -> Recording {
    try Recording.read(
      Array(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1" xmlns:a="urn:a" xmlns:gpxdata="urn:b">
        <trk><name>Lunch &amp; run</name>\(body)</trk></gpx>
        """.utf8), name: "test.gpx")
  }
  private func point(_ second: Int, latitude: String = "50.0", extra: String = "") -> String {
    let time = "2026-03-01T10:\(pad(second / 60)):\(pad(second % 60))Z"
    return #"<trkpt lat="\#(latitude)" lon="8.0"><time>\#(time)</time>\#(extra)</trkpt>"#
  }
  private func tcx(_ laps: String) throws -> Recording {
    try Recording.read(
      Array(
        """
        <?xml version="1.0"?>
        <TrainingCenterDatabase xmlns="urn:t" xmlns:x="urn:x"><Activities><Activity Sport="Running">\(laps)</Activity>
        </Activities></TrainingCenterDatabase>
        """.utf8), name: "test.tcx")
  }
  private func trackpoints(_ seconds: [Int], blank: Set<Int> = []) -> String {
    seconds.map { second in
      let time = "2026-03-01T10:\(pad(second / 60)):\(pad(second % 60))Z"
      let rest =
        "<Position><LatitudeDegrees>50.0</LatitudeDegrees><LongitudeDegrees>8.0</LongitudeDegrees></Position>"
      return "<Trackpoint><Time>\(time)</Time>\(blank.contains(second) ? "" : rest)</Trackpoint>"
    }.joined()
  }
  private func pad(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
  private func seconds(_ stops: [TimerStop]) -> [[Double]] {
    stops.map { [$0.pausedAt.seconds, $0.resumedAt.seconds] }
  }

  @Test("A GPX point becomes its readings: heart rate and cadence under any prefix, strides as steps")
  func gpxPoint() throws {
    let recording = try gpx(
      "<trkseg>"
        + point(
          0,
          extra: """
            <ele>101.5</ele><extensions><a:TrackPointExtension><a:hr>140</a:hr><a:cad>85</a:cad></a:TrackPointExtension>
            </extensions>
            """)
        + point(1, extra: "<extensions><gpxdata:hr>141</gpxdata:hr></extensions>") + "</trkseg>")
    #expect(recording.name == "Lunch & run")
    #expect(recording.duration == .seconds(1))
    #expect(
      recording.samples == [
        RecordedSample(offset: .zero, value: .position(Position(latitude: 50, longitude: 8))),
        RecordedSample(offset: .zero, value: .altitude(meters: 101.5, .unstated)),
        RecordedSample(offset: .zero, value: .cadence(stepsPerMinute: 170)),
        RecordedSample(offset: .zero, value: .heartRate(bpm: 140)),
        RecordedSample(offset: .seconds(1), value: .position(Position(latitude: 50, longitude: 8))),
        RecordedSample(offset: .seconds(1), value: .heartRate(bpm: 141)),
      ])
    #expect(recording.warnings.isEmpty)
  }

  @Test("The watch plays the heart rate and the phone everything else")
  func roles() {
    let recording = SyntheticRun(seed: 3).recording()
    let watch = recording.samples(for: .watch)
    let phone = recording.samples(for: .phone)
    #expect(watch.allSatisfy { if case .heartRate = $0.value { true } else { false } })
    #expect(!watch.isEmpty && !phone.isEmpty)
    #expect(watch.count + phone.count == recording.samples.count)
    #expect(recording.samples(for: .widget).isEmpty)
  }

  @Test("A new GPX segment is a pause; an empty one is not")
  func segments() throws {
    let body =
      "<trkseg>" + (0...5).map { point($0) }.joined() + "</trkseg><trkseg/><trkseg></trkseg><trkseg>"
      + (9...12).map { point($0) }.joined() + "</trkseg><trkseg/>"
    #expect(seconds(try gpx(body).timerStops) == [[5, 9]])
    #expect(try gpx(body).duration == .seconds(12))
  }

  @Test("A gap of half a minute is a pause; the steps of a sparse recorder are not")
  func holes() throws {
    let hole = "<trkseg>" + ([0, 1, 2, 20, 38, 39, 69, 70, 99]).map { point($0) }.joined() + "</trkseg>"
    #expect(seconds(try gpx(hole).timerStops) == [[39, 69]])
    let sparse = "<trkseg>" + [0, 10, 20, 30, 129, 139, 239, 249].map { point($0) }.joined() + "</trkseg>"
    #expect(seconds(try gpx(sparse).timerStops) == [[139, 239]])
  }

  @Test("In TCX a track inside a lap follows a stop, a lap does not")
  func tracks() throws {
    let recording = try tcx(
      """
      <Lap><TotalTimeSeconds>6.5</TotalTimeSeconds><DistanceMeters>20</DistanceMeters>
      <AverageHeartRateBpm><Value>120</Value></AverageHeartRateBpm><MaximumHeartRateBpm><Value>130</Value></MaximumHeartRateBpm>
      <Track>\(trackpoints([0, 1, 2]))</Track><Track/><Track>\(trackpoints([10, 11]))</Track></Lap>
      <Lap><TotalTimeSeconds>3.5</TotalTimeSeconds><DistanceMeters>10.5</DistanceMeters>
      <AverageHeartRateBpm><Value>140</Value></AverageHeartRateBpm><MaximumHeartRateBpm><Value>150</Value></MaximumHeartRateBpm>
      <Track>\(trackpoints([20, 21]))</Track></Lap>
      """)
    #expect(seconds(recording.timerStops) == [[2, 10]])
    #expect(recording.lapMarks == [.seconds(20)])
    #expect(recording.presses.map(\.kind) == [.start, .pause, .resume, .lap, .stop])
    #expect(recording.presses.map(\.offset.seconds) == [0, 2, 10, 20, 21])
    let summary = try #require(recording.summary)
    #expect(summary.timerSeconds == 10)
    #expect(summary.distanceMeters == 30.5)
    #expect(summary.averageHeartRateBpm == 127)
    #expect(summary.maxHeartRateBpm == 150)
  }

  @Test("Two trackpoints with a time and nothing else mark a stop; a single one, or the last ones, do not")
  func blankTrackpoints() throws {
    func stops(_ times: [Int], blank: Set<Int>) throws -> [[Double]] {
      seconds(try tcx("<Lap><Track>\(trackpoints(times, blank: blank))</Track></Lap>").timerStops)
    }
    #expect(try stops([0, 1, 2, 12, 13], blank: [2, 12]) == [[2, 12]])
    #expect(try stops([0, 1, 2, 7, 12, 13], blank: [2, 7, 12]) == [[2, 12]])
    #expect(try stops([0, 1, 2, 12, 13], blank: [2]) == [])
    #expect(try stops([0, 1, 2, 12, 13], blank: [12, 13]) == [])
  }

  @Test("TCX cadence, distance and heart rate are read from the elements that devices write")
  func tcxPoint() throws {
    let recording = try tcx(
      """
      <Lap><Track><Trackpoint><Time>2026-03-01T10:00:00.500+02:00</Time><AltitudeMeters>7</AltitudeMeters>
      <DistanceMeters>12.5</DistanceMeters><HeartRateBpm><Value>99</Value></HeartRateBpm>
      <Extensions><x:TPX><x:Speed>2</x:Speed><x:RunCadence>84</x:RunCadence></x:TPX></Extensions></Trackpoint>
      <Trackpoint><Time>2026-03-01T08:00:01.75Z</Time><Cadence>80</Cadence></Trackpoint></Track></Lap>
      """)
    #expect(
      recording.samples == [
        RecordedSample(offset: .zero, value: .altitude(meters: 7, .unstated)),
        RecordedSample(offset: .zero, value: .cadence(stepsPerMinute: 168)),
        RecordedSample(offset: .zero, value: .pedometer(meters: 12.5)),
        RecordedSample(offset: .zero, value: .heartRate(bpm: 99)),
        RecordedSample(offset: .milliseconds(1250), value: .cadence(stepsPerMinute: 160)),
      ])
  }

  @Test("An unusable element is skipped with a note that says what it is and where")
  func notes() throws {
    let body =
      "<trkseg>" + (0...20).map { point($0) }.joined() + "\n" + point(21, latitude: "NaN") + point(22, latitude: "91")
      + point(23, extra: "<ele>inf</ele>") + "\n" + point(5) + #"<trkpt lat="1" lon="2"/>"# + "</trkseg>"
    let recording = try gpx(body)
    #expect(recording.samples.count == 22)
    #expect(recording.duration == .seconds(23))
    #expect(
      recording.warnings == [
        "1 trackpoint without a time skipped (first at line 5)",
        "1 position outside the globe skipped (first at line 4)",
        "2 readings that are no possible number skipped (first at line 4)",
        "1 trackpoint that goes back in time skipped (first at line 5)",
      ])
  }

  @Test("A further activity of the file is skipped with a note")
  func furtherActivity() throws {
    let lap = "<Lap><Track>\(trackpoints([0, 1, 2]))</Track></Lap>"
    let recording = try tcx(lap + "</Activity><Activity>" + lap)
    #expect(recording.duration == .seconds(2))
    #expect(recording.timerStops.isEmpty)
    #expect(recording.warnings == ["1 further activity in the file skipped (first at line 2)"])
  }
}
