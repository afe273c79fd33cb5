import Testing

@testable import RunCore

@Suite("A record's bytes")
struct RecordCodingTests {
  private func record() -> RunRecord {
    let metrics = RunMetrics(
      elapsed: .seconds(3605), active: .seconds(3600), distanceMeters: 10_000.125, heartRateBpm: 150,
      energyJoules: 3e6, activity: .running, lapCount: 2, moments: MetricMoments(heartRate: .milliseconds(3_604_999)))
    let split = Split(
      number: 1, distanceMeters: 1000, active: .seconds(300), startedAt: .zero, endedAt: .seconds(301),
      averageHeartRateBpm: 149.5, isComplete: true)
    let route = (0..<100).map { index in
      RoutePoint(
        offset: .milliseconds(Int64(index) * 999),
        position: Position(
          latitude: Double(index) / 3, longitude: -Double(index) / 7,
          horizontalAccuracyMeters: index.isMultiple(of: 2) ? 4.5 : nil),
        verdict: FixVerdict.allCases[index % FixVerdict.allCases.count],
        altitudeMeters: index.isMultiple(of: 3) ? -12.25 : nil, distanceMeters: index > 5 ? Double(index) : nil)
    }
    let samples = (0..<50).map { index in
      RecordSeries.Sample(
        distanceMeters: Double(index) * 33.337, paceSecondsPerKilometer: index > 3 ? 300.126 : nil,
        altitudeMeters: -5.5, heartRateBpm: index.isMultiple(of: 5) ? nil : 151)
    }
    return RunRecord(
      summary: RecordSummary(
        runID: RunID(high: 1, low: 2), version: 3, deviceID: DeviceID("watch"), hubDeviceID: DeviceID("phone"),
        appVersion: "1.2", startedAtUnixSeconds: 1_795_000_000.5, elapsed: .seconds(3605), active: .seconds(3600),
        distanceMeters: 10_000.125, setup: RunSetup(weightKilograms: 70.5, isAutoPauseOn: true),
        isConflicted: true, title: "Río ⌚️", note: "two\nlines"),
      body: RecordBody(
        report: RunReport(
          metrics: metrics, kilometers: [split], laps: [split],
          stretches: [DistanceStretch(source: .pedometer, startedAt: .zero, endedAt: .seconds(9), meters: 21.5)]),
        pauses: [RunPause(startedAt: .seconds(10), endedAt: .seconds(15))], series: RecordSeries(samples: samples),
        route: route))
  }

  @Test("A written record reads back to the last bit")
  func roundTrip() {
    #expect(RunRecord(encoded: record().encoded) == record())
    let empty = RunRecord(summary: record().summary, body: RecordBody(report: RunReport(metrics: RunMetrics())))
    #expect(RunRecord(encoded: empty.encoded) == empty)
  }

  @Test("A summary with a goal has a form of its own, and one without keeps that of before")
  func goal() {
    var summary = record().summary
    let before = summary.encoded
    #expect(before[0] == 1)
    summary.goal = RunGoal(time: .seconds(1800))
    #expect(summary.encoded[0] == 3)
    #expect(RecordSummary(encoded: summary.encoded) == summary)
    // A goal of another length is none that a runner can have had.
    var wrong = RecordWriter()
    wrong.append(BusDuration(nanoseconds: 1))
    let length = summary.encoded.count - before.count - 2
    #expect(RecordSummary(encoded: summary.encoded.dropLast(length) + wrong.bytes) == nil)
    summary.goal = nil
    #expect(summary.encoded == before)
  }

  @Test("Bytes that are cut off, or followed by others, are no record")
  func damaged() {
    let bytes = record().encoded
    for count in 0..<bytes.count { #expect(RunRecord(encoded: Array(bytes.prefix(count))) == nil) }
    #expect(RunRecord(encoded: bytes + [0]) == nil)
  }

  @Test("A changed byte never crashes a reader, nor makes it allocate much memory")
  func flipped() {
    let bytes = record().encoded
    for index in bytes.indices {
      for bit in [UInt8(1), 0x80, 0xFF] {
        var damaged = bytes
        damaged[index] ^= bit
        if let read = RunRecord(encoded: damaged) { #expect(read.body.route.count <= bytes.count) }
      }
    }
  }

  @Test("Random bytes are a record or not, and a record can be written again")
  func random() {
    var state: UInt64 = 0x5EED
    func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
    var small = record()
    small.body.route.removeLast(96)
    small.body.series.samples.removeLast(44)
    let valid = small.encoded
    for _ in 0..<20_000 {
      // Pure noise fails at its first byte, so most inputs are a valid record with several damaged bytes.
      var bytes = next() % 4 == 0 ? (0..<next() % 300).map { _ in UInt8(truncatingIfNeeded: next()) } : valid
      for _ in 0...next() % 6 where !bytes.isEmpty {
        let place = Int(next() % UInt64(bytes.count))
        switch next() % 4 {
        case 0: bytes.insert(UInt8(truncatingIfNeeded: next()), at: place)
        case 1: bytes.remove(at: place)
        default: bytes[place] = UInt8(truncatingIfNeeded: next())
        }
      }
      if let read = RunRecord(encoded: bytes) { #expect(RunRecord(encoded: read.encoded) == read) }
    }
  }

  @Test("The route of a ten-hour run needs less than 50 bytes a point, its series less than 60 KB")
  func size() {
    var big = record().body
    for index in 0..<36_000 {
      let latitude = 48.1 + Double(index) / 100_000
      let position = Position(latitude: latitude, longitude: 11.5, horizontalAccuracyMeters: 4)
      big.route.append(
        RoutePoint(
          offset: .seconds(Int64(index)), position: position, verdict: .counted, altitudeMeters: 500.5,
          distanceMeters: Double(index)))
    }
    let routeBytes = big.encoded.count
    #expect(routeBytes < 36_000 * 50)
    big.route = []
    for index in 0..<3600 {
      var sample = RecordSeries.Sample(altitudeMeters: 510, cadenceStepsPerMinute: 176)
      sample.distanceMeters = Double(index * 27)
      sample.paceSecondsPerKilometer = Double(330 + index % 17)
      sample.heartRateBpm = Double(150 + index % 9)
      big.series.samples.append(sample)
    }
    let seriesBytes = big.encoded.count
    #expect(seriesBytes < 60_000)
  }
}
