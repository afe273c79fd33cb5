import RunBus
import RunRecordings
import Testing

@Suite("Recordings of all kinds")
struct RecordingKindsTests {
  private func trackpoint(_ second: Int, _ content: String) -> String {
    "<Trackpoint><Time>\(Documents.time(second))</Time>\(content)</Trackpoint>"
  }
  private func tcx(_ points: [String], lap: String = "") throws -> Recording {
    try Documents.read(Documents.tcx(["<Lap>\(lap)<Track>\n" + points.joined(separator: "\n") + "\n</Track></Lap>"]))
  }

  @Test("A treadmill recording has a pedometer and no position, and a heart rate alone is a recording too")
  func treadmill() throws {
    let treadmill = try tcx((0...20).map { trackpoint($0, "<DistanceMeters>\($0 * 3)</DistanceMeters>") })
    #expect(treadmill.positionCount == 0)
    #expect(treadmill.pedometers == (0...20).map { Double($0 * 3) })
    let heart = try tcx((0...20).map { trackpoint($0, "<HeartRateBpm><Value>100</Value></HeartRateBpm>") })
    #expect(heart.samples.count == 21)
    #expect(heart.duration == .seconds(20))
    let bare = try tcx((0...20).map { trackpoint($0, "<HeartRateBpm>100</HeartRateBpm>") })
    #expect(bare.samples == heart.samples)
  }

  @Test(
    "Whether cadence counts strides or steps is decided by the whole file",
    arguments: [
      ([85, 0, 88, 40], [170, 0, 176, 80]), ([170, 0, 176, 90], [170, 0, 176, 90]),
      ([60, 104, 140, 58], [120, 208, 280, 116]), ([112, 0, 110], [112, 0, 110]),
    ] as [([Int], [Double])])
  func cadence(recorded: [Int], steps: [Double]) throws {
    let points = recorded.enumerated().map { second, value in
      trackpoint(second, "<Extensions><ns3:TPX><ns3:RunCadence>\(value)</ns3:RunCadence></ns3:TPX></Extensions>")
    }
    #expect(try tcx(points).cadences == steps)
    let gpx = recorded.enumerated().map { Documents.gpxPoint($0, extra: "<ax:cad>\($1)</ax:cad>") }
    #expect(try Documents.read(Documents.gpx(points: gpx)).cadences == steps)
  }

  @Test("A foot pod's cadence is preferred to that of a crank")
  func twoCadences() throws {
    let pod = "<Extensions><ns3:TPX><ns3:RunCadence>86</ns3:RunCadence></ns3:TPX></Extensions>"
    #expect(try tcx((0...2).map { trackpoint($0, "<Cadence>1</Cadence>" + pod) }).cadences == [172, 172, 172])
    #expect(try tcx((0...2).map { trackpoint($0, pod + "<Cadence>1</Cadence>") }).cadences == [172, 172, 172])
  }

  @Test("A GPX's distances are read as a pedometer if they are consistent, and skipped with a note otherwise")
  func gpxDistance() throws {
    func recording(_ meters: (Int) -> Int) throws -> Recording {
      let points = (0...30).map { Documents.gpxPoint($0, extra: "<ax:distance>\(meters($0))</ax:distance>") }
      return try Documents.read(Documents.gpx(points: points))
    }
    let total = try recording { $0 * 3 }
    #expect(total.pedometers.count == 31)
    #expect(total.warnings.isEmpty)
    let steps = try recording { 3 - $0 % 2 }
    #expect(steps.pedometers.isEmpty)
    #expect(steps.warnings == ["31 distances that do not add up skipped (first at line 4)"])
  }

  @Test("A dilution of precision is no accuracy in metres")
  func dilution() throws {
    let points = (0...3).map {
      Documents.gpxPoint($0, extra: "<ax:hAcc>50</ax:hAcc>").replacing("<ext", with: "<hdop>30</hdop><ext")
    }
    for sample in try Documents.read(Documents.gpx(points: points)).samples {
      if case .position(let position) = sample.value { #expect(position.horizontalAccuracyMeters == nil) }
    }
  }

  @Test("Tracks that follow closely are one run with stops between; a later track is another run")
  func tracks() throws {
    func track(_ seconds: ClosedRange<Int>) -> String {
      "<trk><trkseg>\n" + seconds.map { Documents.gpxPoint($0) }.joined(separator: "\n") + "\n</trkseg></trk>"
    }
    let document = "<gpx xmlns:ax=\"urn:ax\">" + track(0...20) + track(60...80) + track(5000...5020) + "</gpx>"
    let recording = try Documents.read(document)
    #expect(recording.duration == .seconds(80))
    #expect(recording.timerStops == [TimerStop(pausedAt: .seconds(20), resumedAt: .seconds(60))])
    #expect(recording.warnings == ["the file holds 2 runs, and this is the first: --run 2 reads the second"])
  }

  // Once broken: A ride was measured as a run without a word, and of two runs the second was read, because `Sport` was
  // compared with its case.
  @Test("Of several activities the running ones are read; without one, all; the others are noted")
  func activities() throws {
    func activity(_ sport: String, _ seconds: ClosedRange<Int>) -> String {
      "<Activity Sport=\"\(sport)\">\n" + Documents.tcxLap(Array(seconds)) + "</Activity>"
    }
    func read(_ activities: String...) throws -> (seconds: [Double], warnings: Int) {
      let runs = try Recording.runs(of: Array(Documents.tcx(activities: activities).utf8), name: "f")
      return (
        runs.map(\.duration.seconds), runs[0].warnings.filter { $0.contains("further activity") }.count
      )
    }
    #expect(try read(activity("Biking", 0...50), activity("Running", 100...130)) == ([30], 1))
    #expect(try read(activity("running", 0...50), activity("RUNNING", 100...130)) == ([50, 30], 0))
    #expect(try read(activity("Biking", 0...50), activity("Other", 100...130)) == ([50, 30], 0))
    #expect(try read(activity("Biking", 0...50), "<Activity Sport=\"Running\"></Activity>") == ([50], 0))
  }

  @Test("The device's timer tells which gaps were pauses: the longest that fit into its stopped time")
  func holesAndTimer() throws {
    let seconds = Array(0...50) + Array(90...140) + Array(200...250)
    func stops(timer: Double?) throws -> [[Double]] {
      try tcx(
        seconds.map { trackpoint($0, "<HeartRateBpm><Value>120</Value></HeartRateBpm>") },
        lap: timer.map { "<TotalTimeSeconds>\($0)</TotalTimeSeconds>" } ?? ""
      ).timerStops.map { [$0.pausedAt.seconds, $0.resumedAt.seconds] }
    }
    #expect(try stops(timer: nil) == [[50, 90], [140, 200]])
    #expect(try stops(timer: 150) == [[50, 90], [140, 200]])
    #expect(try stops(timer: 190) == [[140, 200]])
    #expect(try stops(timer: 210) == [[50, 90]])
    #expect(try stops(timer: 250) == [])
  }

  @Test(
    "A gap with movement is lost reception; a gap without movement is a pause")
  func holesAndGround() throws {
    func stops(shift: Int) throws -> [TimerStop] {
      let after = (60...110).map { second in
        // Where the runner was `shift` seconds earlier, with the time after the gap.
        Documents.gpxPoint(second - shift).replacing(Documents.time(second - shift), with: Documents.time(second))
      }
      return try Documents.read(Documents.gpx(points: (0...20).map { Documents.gpxPoint($0) } + after)).timerStops
    }
    let pause = [TimerStop(pausedAt: .seconds(20), resumedAt: .seconds(60))]
    #expect(try stops(shift: 0) == [])
    #expect(try stops(shift: 15) == [])
    #expect(try stops(shift: 25) == pause)
    #expect(try stops(shift: 39) == pause)
  }

  @Test("As few trackpoints out of order as possible are skipped; a repeated time is allowed")
  func order() throws {
    let order = Array(0...20) + Array(15...16) + Array(21...40) + [40, 40]
    let recording = try Documents.read(Documents.gpx(order))
    #expect(recording.positionCount == 43)
    #expect(recording.warnings == ["2 trackpoints that go back in time skipped (first at line 25)"])
    #expect(throws: RunBusError.self) { try Documents.read(Documents.gpx((0...40).reversed())) }
  }
}
