import RunBus
import RunCore
import RunRecordings
import Testing

/// Shapes of files that devices and services write, made here one by one.
@Suite("Shapes of recordings")
struct RecordingShapeTests {
  private func rounded(_ value: Double?) -> Double { (value ?? -1).rounded() }
  private func tcxPoint(_ second: Int, _ content: String) -> String {
    "<Trackpoint><Time>\(Documents.time(second))</Time>\(content)</Trackpoint>"
  }
  private func tcxPosition(_ meters: Double) -> String {
    let latitude = 50 + meters / 111_229
    return "<Position><LatitudeDegrees>\(latitude)</LatitudeDegrees><LongitudeDegrees>8</LongitudeDegrees></Position>"
  }
  private func lap(_ start: Int, seconds: Int, meters: Int, _ points: [String]) -> String {
    "<Lap StartTime=\"\(Documents.time(start))\"><TotalTimeSeconds>\(seconds)</TotalTimeSeconds>"
      + "<DistanceMeters>\(meters)</DistanceMeters><Track>\n" + points.joined(separator: "\n") + "\n</Track></Lap>"
  }

  // Positions

  @Test("A position that is held for some seconds measures the same way in GPX and TCX", arguments: [3, 4, 6, 10])
  func held(hold: Int) throws {
    let seconds = Array(0...600)
    let gpx = seconds.map { second in
      Documents.gpxPoint(second / hold * hold).replacing(
        Documents.time(second / hold * hold), with: Documents.time(second))
    }
    let way = Double(600 / hold * hold) * 2.7e-5 * 111_229
    let run = MeasuredRun(try Documents.read(Documents.gpx(points: gpx)))
    #expect(abs((run.report.metrics.distanceMeters ?? 0) - way) < 1)
    #expect(run.notices.isEmpty)
    let tcx = seconds.map { second in
      let meters = 3.4 * Double(second / hold * hold)
      return tcxPoint(second, tcxPosition(meters) + "<DistanceMeters>\(meters)</DistanceMeters>")
    }
    let other = try Documents.read(Documents.tcx([lap(0, seconds: 600, meters: 2040, tcx)]))
    #expect(abs((measure(other).distanceMeters ?? 0) - 3.4 * Double(600 / hold * hold)) < 1)
  }

  // Once broken: A first minute with an accuracy of 1,400 m added 170 m: `hAcc` was never read, because apps disagree
  // about it; Apple Health's is in metres.
  @Test("An accuracy of Apple Health counts as that of a live fix, and a bad first minute is told")
  func appleHealth() throws {
    func document(creator: String) -> String {
      let points = (0...300).map {
        Documents.gpxPoint($0, extra: "<ax:hAcc>\($0 <= 60 ? 1414 - $0 * 20 : 4)</ax:hAcc>")
      }
      return Documents.gpx(points: points).replacing("<gpx ", with: "<gpx creator=\"\(creator)\" ")
    }
    let apple = MeasuredRun(try Documents.read(document(creator: "Apple Health Export")))
    #expect(abs((apple.report.metrics.distanceMeters ?? 0) - 239 * 2.7e-5 * 111_229) < 1)
    #expect(
      apple.notices == ["the first 61 s have no usable position: 61 are not accurate within 15 m"])
    let other = MeasuredRun(try Documents.read(document(creator: "StravaGPX")))
    #expect(abs((other.report.metrics.distanceMeters ?? 0) - 300 * 2.7e-5 * 111_229) < 1)
    // Of a damaged file the creator is still known.
    let damaged = document(creator: "Apple Health Export").replacing("</trkseg></trk></gpx>", with: "")
    #expect(
      rounded(measure(try Documents.read(damaged)).distanceMeters) == rounded(apple.report.metrics.distanceMeters))
  }

  @Test("More than a tenth of refused positions is told, with the causes")
  func refusals() throws {
    let points = (0...100).map { second in
      Documents.gpxPoint(second % 5 == 4 ? second + 1000 : second)
        .replacing(Documents.time(second + 1000), with: Documents.time(second))
    }
    let notices = MeasuredRun(try Documents.read(Documents.gpx(points: points))).notices
    #expect(notices == ["20 of 101 positions do not count: 20 are too far from the last for a runner"])
    let few = points.enumerated().map { $0 < 90 ? Documents.gpxPoint($0) : $1 }
    #expect(MeasuredRun(try Documents.read(Documents.gpx(points: few))).notices.isEmpty)
  }

  // Order

  // Once broken: A file whose points were written in batches was refused, or lost the late readings, because every
  // point that went back in time was a wrong time.
  @Test("Points that are written in batches are put in order, and nothing is lost")
  func batches() throws {
    // Each batch of three begins with its last point and has one position.
    let order = (0..<100).flatMap { [3 * $0 + 2, 3 * $0, 3 * $0 + 1] }
    let points = order.map { second in
      Documents.gpxPoint(second / 3 * 3, extra: "<ax:hr>\(140 + second % 7)</ax:hr>")
        .replacing(Documents.time(second / 3 * 3), with: Documents.time(second))
    }
    let recording = try Documents.read(Documents.gpx(points: points))
    #expect(recording.warnings == ["200 trackpoints out of order put in order by time (first at line 5)"])
    let metrics = measure(recording)
    #expect(metrics.active == .seconds(299))
    #expect(recording.samples.count == 900)
    #expect(abs((metrics.distanceMeters ?? 0) - 297 * 2.7e-5 * 111_229) < 1)
  }

  @Test("Late readings with the position before them are kept, a position with a wrong time is not")
  func lateReadings() throws {
    var points = (0...200).map { Documents.gpxPoint($0) }
    // A reading of half a second before comes after the point of 100 s, with the same position.
    points.insert(
      Documents.gpxPoint(100).replacing(Documents.time(100), with: "2026-03-01T10:01:39.500Z"), at: 101)
    let kept = try Documents.read(Documents.gpx(points: points))
    #expect(kept.positionCount == 202)
    #expect(kept.warnings == ["1 trackpoint out of order put in order by time (first at line 105)"])
    points[101] = Documents.gpxPoint(150).replacing(Documents.time(150), with: "2026-03-01T10:01:39.500Z")
    let skipped = try Documents.read(Documents.gpx(points: points))
    #expect(skipped.positionCount == 201)
    #expect(skipped.warnings == ["1 trackpoint that goes back in time skipped (first at line 104)"])
  }

  @Test("Pauses and laps keep their places when points are put in order")
  func marksOfSortedPoints() throws {
    func track(_ order: [Int]) -> String {
      order.map { tcxPoint($0, tcxPosition(3 * Double($0))) }.joined(separator: "\n")
    }
    func swapped(_ seconds: ClosedRange<Int>) -> [Int] { seconds.map { $0 ^ 1 } }
    let tracks = [track(swapped(0...99)), track(swapped(160...259))].joined(separator: "</Track><Track>\n")
    let document = Documents.tcx([
      "<Lap StartTime=\"\(Documents.time(0))\"><Track>\n\(tracks)</Track></Lap>",
      "<Lap><Track>\n\(track(swapped(260...359)))</Track></Lap>",
    ])
    let recording = try Documents.read(document)
    #expect(recording.warnings.count == 1)
    #expect(recording.timerStops == [TimerStop(pausedAt: .seconds(99), resumedAt: .seconds(160))])
    #expect(recording.lapMarks == [.seconds(260)])
  }

  @Test("A file whose second half comes first is refused, with advice")
  func halves() {
    let error = #expect(throws: RunBusError.self) {
      try Documents.read(Documents.gpx(Array(300...599) + Array(0...299)))
    }
    #expect(error?.message.contains("300 of its 600 trackpoints go back in time") ?? false)
  }

  // Cadence

  // Once broken: A walk had 200 steps a minute, and its energy was that of a run, because a slow cadence was always one
  // of strides.
  @Test(
    "The length of a step tells steps of both feet from strides, for walks and runs",
    arguments: [
      (1.3, 100, 100.0), (1.3, 50, 100), (1.6, 105, 105), (0.8, 90, 90), (0.8, 45, 90), (3, 85, 170), (3, 170, 170),
      (2.1, 78, 156), (1.8, 80, 160), (1.4, 85, 170), (0.6, 40, 80),
    ] as [(Double, Int, Double)])
  func cadence(speed: Double, recorded: Int, steps: Double) throws {
    let points = (0...120).map { second in
      tcxPoint(
        second,
        tcxPosition(speed * Double(second))
          + "<Extensions><ns3:TPX><ns3:RunCadence>\(recorded)</ns3:RunCadence></ns3:TPX></Extensions>")
    }
    #expect(
      measure(try Documents.read(Documents.tcx(["<Lap><Track>" + points.joined() + "</Track></Lap>"])))
        .averageCadenceStepsPerMinute == steps)
  }

  // Laps

  private var positions: [String] { (300...600).map { tcxPoint($0, tcxPosition(3 * Double($0))) } }

  // Once broken: A lap without trackpoints was lost, and so was a distance that only the lap had, because only
  // trackpoints were read.
  @Test("A lap without trackpoints counts with its time and distance, first, between others and last")
  func lapWithoutPoints() throws {
    let empty = lap(0, seconds: 300, meters: 900, [])
    let first = try Documents.read(Documents.tcx([empty, lap(300, seconds: 300, meters: 900, positions)]))
    #expect(measure(first).active == .seconds(600))
    #expect(abs((measure(first).distanceMeters ?? 0) - 1800) < 2)
    #expect(
      first.warnings == ["1 lap without trackpoints: time and distance count, without a route (first at line 6)"])
    #expect(first.lapMarks == [.seconds(300)])
    #expect(first.summary?.distanceMeters == 1800)
    let last = try Documents.read(
      Documents.tcx([lap(300, seconds: 300, meters: 900, positions), lap(600, seconds: 60, meters: 200, [])]))
    #expect(measure(last).active == .seconds(360))
    #expect(abs((measure(last).distanceMeters ?? 0) - 1100) < 2)
    // Its time is that of other trackpoints: it is no time of its own.
    let wrong = try Documents.read(
      Documents.tcx([lap(300, seconds: 300, meters: 900, positions), lap(400, seconds: 60, meters: 200, [])]))
    #expect(measure(wrong).active == .seconds(300))
    #expect(abs((measure(wrong).distanceMeters ?? 0) - 900) < 2)
  }

  @Test("A distance that only the lap has counts, and a file of totals alone is a run without a route")
  func totals() throws {
    let heart = stride(from: 0, through: 1800, by: 5).map {
      tcxPoint($0, "<HeartRateBpm><Value>150</Value></HeartRateBpm>")
    }
    let treadmill = try Documents.read(Documents.tcx([lap(0, seconds: 1800, meters: 5000, heart)]))
    #expect(rounded(measure(treadmill).distanceMeters) == 5000)
    #expect(measure(treadmill).averageHeartRateBpm == 150)
    // Readings that are rarer than a pedometer may be silent.
    let sparse = stride(from: 0, through: 1800, by: 60).map {
      tcxPoint($0, "<HeartRateBpm><Value>150</Value></HeartRateBpm>")
    }
    let rare = try Documents.read(Documents.tcx([lap(0, seconds: 1800, meters: 5000, sparse)]))
    #expect(rounded(measure(rare).distanceMeters) == 5000)
    #expect(rare.timerStops.isEmpty)
    let alone = try Documents.read(Documents.tcx([lap(0, seconds: 1800, meters: 5000, [])]))
    #expect(rounded(measure(alone).distanceMeters) == 5000)
    #expect(measure(alone).active == .seconds(1800))
    #expect(alone.positionCount == 0)
  }

  // Once broken: A file whose laps each hold the whole track was refused, and so was one with a wrong date in its first
  // 40 points, because time went back for half of the points; only a tenth of wrong dates was tolerated.
  @Test("Laps that each hold the whole track are read once, with their own beginnings")
  func repeatedTrack() throws {
    let track = (0...300).map { tcxPoint($0, tcxPosition(3 * Double($0))) }
    let recording = try Documents.read(
      Documents.tcx([lap(0, seconds: 150, meters: 450, track), lap(150, seconds: 150, meters: 450, track)]))
    #expect(measure(recording).active == .seconds(300))
    #expect(abs((measure(recording).distanceMeters ?? 0) - 900) < 1)
    #expect(recording.lapMarks == [.seconds(150)])
    #expect(recording.warnings.count == 1)
  }

  // Once broken: A tunnel between two segments was a pause, although the timer of the file ran on, because the timer
  // limited gaps, but not segments.
  @Test("Two segments are no pause where the timer ran on")
  func segments() throws {
    func run(timer: Int?) throws -> RunMetrics {
      let statistics = timer.map {
        "<extensions><ax:TrackStatsExtension><ax:TimerTime>\($0)</ax:TimerTime></ax:TrackStatsExtension></extensions>"
      }
      var points = (Array(0...200) + Array(290...490)).map { Documents.gpxPoint($0) }
      points[201] = "</trkseg><trkseg>" + points[201]
      return measure(try Documents.read(Documents.gpx(points: points, statistics: statistics ?? "")))
    }
    #expect(try run(timer: 490).active == .seconds(490))
    #expect(try rounded(run(timer: 490).distanceMeters) == rounded(490 * 2.7e-5 * 111_229))
    #expect(try run(timer: 400).active == .seconds(400))
    #expect(try run(timer: nil).active == .seconds(400))
  }

  // Runs and times

  // Once broken: Of a file with several runs the first was kept and the others were lost, because one file was one
  // recording.
  @Test("Every run of a file is read, and one can be chosen")
  func runs() throws {
    func track(_ name: String, _ seconds: ClosedRange<Int>) -> String {
      "<trk><name>\(name)</name><trkseg>\n" + seconds.map { Documents.gpxPoint($0) }.joined(separator: "\n")
        + "\n</trkseg></trk>"
    }
    let document = Array(
      ("<gpx xmlns:ax=\"urn:ax\">" + track("One", 0...100) + track("Two", 9000...9050)
        + track("Two again", 9000...9050) + track("Two goes on", 9100...9120) + "</gpx>").utf8)
    let runs = try Recording.runs(of: document, name: "f")
    #expect(runs.map(\.name) == ["One", "Two"])
    #expect(runs.map(\.duration) == [.seconds(100), .seconds(120)])
    #expect(runs[1].timerStops.count == 1)
    #expect(runs[0].warnings == ["1 further track in the file skipped (first at line 156)"])
    #expect(try Recording.read(document, name: "f", run: 2).name == "Two")
    #expect(try Recording.read(document, name: "f").warnings.last?.hasPrefix("the file holds 2 runs") ?? false)
    for run in [0, 3, -1] {
      let error = #expect(throws: RunBusError.self) { try Recording.read(document, name: "f", run: run) }
      #expect(error?.message == "f: it holds 2 runs, so there is no run \(run)")
    }
    let records = try RecordImport.records(of: document, name: "f")
    #expect(Set(records.map(\.record.runID)).count == 2)
    #expect(records.map(\.record.summary.title) == ["One", "Two"])
  }

  @Test("A run that cannot be read does not cost the others")
  func brokenRun() throws {
    let point = tcxPoint(5000, tcxPosition(0))
    let runs = try Recording.runs(
      of: Array(
        Documents.tcx(activities: [
          "<Activity Sport=\"Running\">" + lap(5000, seconds: 0, meters: 0, [point]) + "</Activity>",
          "<Activity Sport=\"Running\">" + Documents.tcxLap(Array(0...50)) + "</Activity>",
        ]).utf8), name: "f")
    #expect(runs.count == 1)
    #expect(runs[0].warnings.count == 1)
    #expect(runs[0].warnings[0].hasPrefix("run 1 of the file skipped: it holds no two trackpoints"))
  }

  // Once broken: An evening run abroad was listed on the next day, because the UTC offset of a time stamp was used and
  // forgotten.
  @Test(
    "The offset of the file's clock is kept; that of UTC says nothing", arguments: ["+02:00", "-0930", "Z", "+00:00"])
  func offset(zone: String) throws {
    let document = Documents.gpx(0...20).replacing("Z</time>", with: "\(zone)</time>")
    let summary = try RecordImport.record(of: Array(document.utf8), name: "f").record.summary
    #expect(summary.utcOffsetSeconds == ["+02:00": 7200, "-0930": -34_200][zone])
    if zone == "+02:00" { #expect(RunCalendar().minuteText(RunCalendar().wallClock(summary)) == "2026-03-01 10:00") }
  }

  @Test("A wrong date in the first points costs these points", arguments: [3, 40, 85])
  func wrongDate(count: Int) throws {
    let points = (0...340).map { second in
      second < count
        ? Documents.gpxPoint(second).replacing("2026-03-01", with: "2025-12-11") : Documents.gpxPoint(second)
    }
    let recording = try Documents.read(Documents.gpx(points: points))
    #expect(recording.duration == .seconds(Int64(340 - count)))
    #expect(recording.warnings.count == 1)
  }

  @Test(
    "A file without a recording is told apart, with what to do",
    arguments: [
      ("<wpt lat=\"50\" lon=\"8\"><time>2026-03-01T10:00:00Z</time></wpt>", "it holds 1 waypoint and no track"),
      ("<rte><rtept lat=\"50\" lon=\"8\"/><rtept lat=\"50\" lon=\"8.1\"/></rte>", "it is a planned route of 2 points"),
      ("<trk><trkseg/></trk>", "it holds no trackpoints"),
      (
        "<trk><trkseg>" + String(repeating: "<trkpt lat=\"50\" lon=\"8\"/>", count: 291)
          + (0..<5).map { Documents.gpxPoint($0) }.joined() + "</trkseg></trk>",
        "only 5 of its 296 trackpoints have a time"
      ),
      (
        "<trk><trkseg>" + (0..<9).map { Documents.gpxPoint($0).replacing("50", with: "50,0") }.joined()
          + "</trkseg></trk>",
        "decimal commas"
      ),
    ])
  func otherFiles(content: String, words: String) {
    let error = #expect(throws: RunBusError.self) {
      try Documents.read("<gpx xmlns:ax=\"urn:ax\">\(content)</gpx>")
    }
    #expect(error?.message.contains(words) ?? false, "\(error?.message ?? "")")
    #expect(error?.message.contains("export") ?? false, "\(error?.message ?? "")")
  }

  @Test("Apple Health's list of all data is recognized, with and without its declaration of document types")
  func appleHealthList() {
    for head in ["<!DOCTYPE HealthData [ <!ELEMENT HealthData (Workout*)> ]>\n", ""] {
      let error = #expect(throws: RunBusError.self) {
        try Documents.read("<?xml version=\"1.0\"?>\n\(head)<HealthData><Workout/></HealthData>")
      }
      #expect(error?.message.contains("workout-routes") ?? false)
    }
  }

  // Live

  @Test("A hub that gets held, late and inaccurate positions of a device measures what the import of them measures")
  func live() throws {
    var samples: [RecordedSample] = []
    for second in 0...600 {
      let held = Double(second / 4 * 4) * 3.4
      let accuracy: Double? = second % 50 < 5 ? 15 + Double(second % 3) : second.isMultiple(of: 3) ? 14.9 : 4
      let position = Position(
        latitude: (50 + held / 111_229).rounded(toPlaces: 7), longitude: 8, horizontalAccuracyMeters: accuracy)
      samples.append(RecordedSample(offset: .seconds(Int64(second)), value: .position(position)))
    }
    let recording = Recording(
      name: "live", samples: samples, duration: .seconds(600), startedAtUnixNanoseconds: 1_700_000_000_000_000_000)
    let imported = try RecordImport.record(of: Array(GPXWriter.document(recording).utf8), name: "f").record
    let entries = recording.ledgerEntries(runStartedAt: .zero)
    var ledger = RunLedger()
    // Batches of 20 readings, of which every other comes after the next one.
    let batches = stride(from: 0, to: entries.count, by: 20).map { Array(entries[$0..<min($0 + 20, entries.count)]) }
    for index in batches.indices {
      for entry in batches[index ^ 1 < batches.count ? index ^ 1 : index] { ledger.insert(entry) }
    }
    let metrics = ledger.metrics(at: .zero + .seconds(600))
    #expect(metrics.distanceMeters == imported.summary.distanceMeters)
    #expect(metrics == measure(recording))
    #expect((metrics.distanceMeters ?? 0) > 1000)
  }
}

extension Double {
  fileprivate func rounded(toPlaces places: Int) -> Double {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    return (self * scale).rounded() / scale
  }
}
