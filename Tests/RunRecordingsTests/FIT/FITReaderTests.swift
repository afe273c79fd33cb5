import RunBus
import RunCore
import RunRecordings
import Testing

@Suite("FIT files")
struct FITReaderTests {
  private func read(_ file: FITEncoder) throws(RunBusError) -> Recording { try Documents.read(file.file()) }

  @Test(
    "A run is read whatever the order of its bytes and the length of its header",
    arguments: [(false, 14), (true, 14), (false, 12), (true, 12)] as [(Bool, UInt8)])
  func run(isBigEndian: Bool, headerSize: UInt8) throws {
    let recording = try read(.run(isBigEndian: isBigEndian, headerSize: headerSize))
    #expect(recording.warnings == [])
    #expect(recording.name == "f")
    #expect(recording.startedAtUnixNanoseconds == 1_772_359_200_000_000_000)
    #expect(recording.duration == .seconds(60))
    #expect(recording.positionCount == 61)
    #expect(recording.pedometers == (0...60).map { Double($0 * 3) })
    #expect(Set(recording.cadences) == [170])
    #expect(recording.timerStops == [])
    #expect(recording.lapMarks == [])
    let values = recording.samples.filter { $0.offset == .seconds(7) }.map(\.value)
    #expect(values.count == 5)
    if case .position(let position) = values.first {
      #expect(abs(position.latitude - (50 + 7 * 2.7e-5)) < 1e-7)
      #expect(abs(position.longitude - 8.5) < 1e-7)
    }
    let rest: [SampleValue] = [
      .altitude(meters: 100, .unstated), .cadence(stepsPerMinute: 170), .pedometer(meters: 21), .heartRate(bpm: 140),
    ]
    #expect(Array(values.dropFirst()) == rest)
  }

  @Test("The device's own numbers are those of the session, and of each lap")
  func summary() throws {
    let summary = try #require(try read(.podRun).summary)
    #expect(summary.timerSeconds == 1200)
    #expect(summary.distanceMeters == 3600)
    #expect(summary.averageHeartRateBpm == 140)
    #expect(summary.maxHeartRateBpm == 150)
    #expect(summary.averageCadenceStepsPerMinute == 170)
    #expect(summary.energyKilocalories == 250)
    #expect(summary.elevationGainMeters == 12)
    #expect(summary.elevationLossMeters == 13)
    #expect(summary.laps.map(\.startedAt) == [.zero, .seconds(300), .seconds(600), .seconds(960)])
    #expect(summary.laps.map(\.timerSeconds) == [300, 300, 300, 300])
    #expect(summary.laps.map(\.distanceMeters) == [900, 900, 900, 900])
  }

  @Test("A run is measured from FIT as from TCX: pauses, laps, distance, heart rate")
  func sameAsTCX() throws {
    let tcx = try Documents.read(Documents.podRun)
    let fit = try read(.podRun)
    #expect(fit.timerStops == tcx.timerStops)
    #expect(fit.lapMarks == tcx.lapMarks)
    #expect(fit.duration == tcx.duration)
    #expect(fit.pedometers == tcx.pedometers)
    let (ours, theirs) = (MeasuredRun(fit).report, MeasuredRun(tcx).report)
    #expect(ours.metrics.active == theirs.metrics.active)
    #expect(ours.metrics.averageHeartRateBpm == theirs.metrics.averageHeartRateBpm)
    #expect(ours.laps.count == theirs.laps.count)
    let (meters, expected) = (try #require(ours.metrics.distanceMeters), try #require(theirs.metrics.distanceMeters))
    #expect(abs(meters - expected) < expected * 0.005)
  }

  @Test("Where the timer stops and starts between two points, the stop is as long as the device says")
  func stopsBetweenPoints() throws {
    var file = FITEncoder()
    file.addFileID()
    file.addTimer(-3, 0)
    for second in [0, 8, 16] { file.addPoint(second) }
    file.addTimer(20, 1)
    file.addTimer(50, 0)
    for second in [55, 63] { file.addPoint(second) }
    file.addTimer(70, 4)
    let recording = try read(file)
    #expect(recording.timerStops == [TimerStop(pausedAt: .seconds(23), resumedAt: .seconds(53))])
    #expect(recording.duration == .seconds(73))
  }

  @Test("Points that a device writes while its timer stands still belong to the stop, and adjacent stops are one")
  func pointsInStops() throws {
    var file = FITEncoder()
    file.addFileID()
    for second in 0...60 { file.addPoint(second) }
    // The order of events and points in the file does not matter.
    for (second, change) in [(0, 0), (20, 1), (30, 0), (30, 1), (40, 0), (60, 4)] {
      file.addTimer(second, UInt8(change))
    }
    let recording = try read(file)
    #expect(recording.timerStops == [TimerStop(pausedAt: .seconds(20), resumedAt: .seconds(40))])
    #expect(recording.positionCount == 61)
    #expect(MeasuredRun(recording).report.metrics.active == .seconds(40))
  }

  @Test("A stop for good with points after it is no pause, and neither is a stop outside of the run")
  func strangeStops() throws {
    var file = FITEncoder()
    file.addFileID()
    file.addTimer(-500, 1)
    file.addTimer(-400, 0)
    for second in 0...60 { file.addPoint(second) }
    file.addTimer(40, 4)
    let recording = try read(file)
    #expect(recording.timerStops == [])
    #expect(recording.duration == .seconds(60))
  }

  @Test("Compressed times count on from the last whole time, over their turn after 32 seconds")
  func compressedTimes() throws {
    var file = FITEncoder()
    file.addFileID()
    file.addPoint(0)
    for second in stride(from: 3, through: 99, by: 3) {
      file.add(20, FITEncoder.pointFields(second), second: FITEncoder.time(second), local: 2)
    }
    let recording = try read(file)
    let offsets = recording.samples.compactMap { if case .pedometer = $0.value { $0.offset } else { nil } }
    #expect(offsets == stride(from: 0, through: 99, by: 3).map { .seconds($0) })
    #expect(recording.warnings == [])
  }

  @Test("Fields of apps on the device are skipped, and a definition may change in the middle")
  func developerFields() throws {
    var file = FITEncoder()
    file.addFileID()
    for second in 0...30 {
      var fields = [FITEncoder.Field.uint32(253, FITEncoder.time(second))] + FITEncoder.pointFields(second)
      if second > 15 { fields.reverse() }
      // The number of the field is that of heart rate.
      file.add(20, fields, developer: [.init(number: 3, bytes: [1, 2, 3])], local: 1)
    }
    let recording = try read(file)
    #expect(recording.pedometers == (0...30).map { Double($0 * 3) })
    #expect(recording.samples.count { $0.value == .heartRate(bpm: 140) } == 31)
  }

  @Test("Values that mean unknown, arrays, other types of number and fields of an odd size are read or left out")
  func fields() throws {
    var file = FITEncoder()
    file.addFileID()
    func add(_ second: Int, _ fields: FITEncoder.Field...) {
      file.add(20, [.uint32(253, FITEncoder.time(second))] + fields, local: 1)
    }
    add(0, .uint8(3, 0xFF), .uint16(2, 0xFFFF), .uint32(5, 0xFFFF_FFFF), .sint32(0, 0x7FFF_FFFF), .uint8(4, 80))
    add(1, .uint8(3, 0), .uint32(78, (321 + 500) * 5), .uint16(2, 5000), .uint8(53, 64), .uint8(4, 80))
    add(2, .float32(3, 150.5), .integer(5, 0x8F, UInt64(700)))
    add(3, .float32(3, .nan), .integer(4, 0x01, Int8(-1)))
    add(4, FITEncoder.Field(number: 3, type: 0x02, bytes: [151, 152]), .uint16(4, 300))
    add(5, FITEncoder.Field(number: 5, type: 0x86, bytes: [1, 2, 3]), .uint8(3, 153))
    add(
      6, FITEncoder.Field(number: 3, type: 0x1F, bytes: [140]), FITEncoder.Field(number: 5, type: 0x07, bytes: [65, 0]))
    add(7, .uint8(3, 154))
    let recording = try read(file)
    let values = recording.samples.map { ($0.offset.seconds, $0.value) }
    func all(_ second: Double) -> [SampleValue] { values.filter { $0.0 == second }.map(\.1) }
    #expect(all(0) == [.cadence(stepsPerMinute: 160)])
    #expect(all(1) == [.altitude(meters: 321, .unstated), .cadence(stepsPerMinute: 161)])
    #expect(all(2) == [.pedometer(meters: 7), .heartRate(bpm: 150.5)])
    #expect(all(3) == [])
    #expect(all(4) == [.heartRate(bpm: 151)])
    #expect(all(5) == [.heartRate(bpm: 153)])
    #expect(all(6) == [])
    #expect(recording.duration == .seconds(7))
    #expect(recording.warnings.count == 1)
    let sentence = "2 readings that are no possible number skipped (first at byte "
    #expect(recording.warnings.first?.hasPrefix(sentence) == true)
  }

  @Test("Distances of three bytes count on after their turn at 256 metres")
  func compressedDistance() throws {
    var file = FITEncoder()
    file.addFileID()
    for second in 0...10 {
      let steps = UInt32(second * 100 * 16) & 0xFFF
      let bytes = [UInt8(0), UInt8(steps & 0xF) << 4, UInt8(steps >> 4)]
      file.add(
        20, [.uint32(253, FITEncoder.time(second)), FITEncoder.Field(number: 8, type: 0x0D, bytes: bytes)])
    }
    #expect(try read(file).pedometers == (0...10).map { Double($0 * 100) })
  }

  @Test("Positions outside the globe and halves of positions are skipped with a note")
  func positions() throws {
    var file = FITEncoder()
    file.addFileID()
    for second in 0...2 { file.addPoint(second) }
    for (second, fields) in [
      (3, [.sint32(0, Int32.max - 1), .sint32(1, 5)]), (4, [.sint32(1, 5), .uint8(3, 140)]),
    ] as [(Int, [FITEncoder.Field])] {
      file.add(20, [.uint32(253, FITEncoder.time(second))] + fields, local: 1)
    }
    let recording = try read(file)
    #expect(recording.positionCount == 3)
    #expect(recording.warnings.count == 1)
    #expect(recording.warnings.first?.hasPrefix("2 positions outside the globe skipped (first at byte ") == true)
  }

  @Test("Of several sessions every run is read, of several files in a row as well; the others are noted")
  func sessions() throws {
    var file = FITEncoder()
    file.addFileID()
    for second in 0...300 { file.addPoint(second) }
    file.addSession(from: 0, to: 99, timerSeconds: 99, meters: 297, sport: 2)
    file.addSession(from: 100, to: 199, timerSeconds: 99, meters: 297)
    file.addSession(from: 200, to: 300, timerSeconds: 100, meters: 300)
    file.addLap(from: 100, to: 150, timerSeconds: 50, meters: 150)
    file.addLap(from: 150, to: 199, timerSeconds: 49, meters: 147)
    file.addLap(from: 200, to: 300, timerSeconds: 100, meters: 300)
    let runs = try Recording.runs(of: file.file(), name: "f")
    #expect(runs.map(\.duration) == [.seconds(99), .seconds(100)])
    #expect(runs.map(\.name) == ["f", "f, run 2"])
    #expect(runs.map(\.summary?.timerSeconds) == [99, 100])
    #expect(try Recording.read(file.file(), name: "f", run: 2).pedometers.first == 600)
    let error = #expect(throws: RunBusError.self) { try Recording.read(file.file(), name: "f", run: 3) }
    #expect(error?.message == "f: it holds 2 runs, so there is no run 3")
    #expect(Set(try RecordImport.records(of: file.file(), name: "f").map(\.record.runID)).count == 2)
    let recording = try read(file)
    #expect(recording.pedometers.first == 300)
    #expect(recording.duration == .seconds(99))
    #expect(recording.lapMarks == [.seconds(50)])
    #expect(recording.warnings.count == 2)
    #expect(recording.warnings.first?.hasPrefix("1 further activity in the file skipped") == true)
    #expect(recording.warnings.last?.hasPrefix("the file holds 2 runs, and this is the first") == true)

    var settings = FITEncoder()
    settings.addFileID(type: 2)
    let chained = settings.file() + FITEncoder.run(sport: 11).file() + FITEncoder.run(100...130, headerSize: 12).file()
    let second = try Documents.read(chained)
    #expect(second.duration == .seconds(30))
    #expect(second.warnings.count == 1)
    // Local numbers are defined anew in each file.
    var undefined = FITEncoder()
    undefined.add(raw: [1])
    #expect(try Documents.read(FITEncoder.run().file() + undefined.file()).duration == .seconds(60))
  }

  @Test("A run that is twice in the file is read once, and one that cannot be read does not cost the others")
  func strangeRuns() throws {
    let (run, later) = (FITEncoder.run().file(), FITEncoder.run(9000...9030).file())
    let runs = try Recording.runs(of: run + run + FITEncoder.run(5000...5000).file() + later, name: "f")
    #expect(runs.map(\.duration) == [.seconds(60), .seconds(30)])
    #expect(runs.last?.warnings == [])
    let warnings = try #require(runs.first?.warnings)
    #expect(warnings.count == 2)
    #expect(warnings.first?.hasPrefix("1 further activity in the file skipped") == true)
    #expect(warnings.last?.hasPrefix("run 2 of the file skipped: it holds no two trackpoints") == true)
  }

  @Test(
    "What is no run says so in one sentence",
    arguments: [
      (2, 0, "cycling"), (5, 0, "swimming"), (4, 15, "fitness equipment"),
      (200, 0, "another sport (number 200 of FIT)"),
    ] as [(UInt8, UInt8, String)])
  func otherSports(sport: UInt8, kind: UInt8, name: String) {
    let error = #expect(throws: RunBusError.self) { try read(.run(sport: sport, subSport: kind)) }
    #expect(error?.code == .badInput)
    #expect(
      error?.message
        == "f: cannot read this recording: it records \(name), and only runs, walks and hikes are read from FIT files")
  }

  @Test(
    "Runs, walks, hikes, treadmills and activities without a sport are read",
    arguments: [(1, 0), (1, 1), (11, 0), (17, 0), (0, 0), (4, 1), (0xFF, 0)] as [(UInt8, UInt8)])
  func sports(sport: UInt8, kind: UInt8) throws {
    #expect(try read(.run(sport: sport, subSport: kind)).duration == .seconds(60))
  }

  @Test("Nodes of a replay and imports take FIT: the same file is one record")
  func imports() throws {
    let document = FITEncoder.podRun.file()
    let (record, warnings) = try RecordImport.record(of: document, name: "morning.fit")
    #expect(warnings == [])
    #expect(record.summary.title == "morning.fit")
    #expect(record.body.report.metrics.active == .seconds(1198))
    #expect(try RecordImport.record(of: document, name: "other.fit").record.runID == record.runID)
  }
}
