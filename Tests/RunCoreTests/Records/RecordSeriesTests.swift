import RunCore
import Testing

@Suite("The series of a record")
struct RecordSeriesTests {
  /// Up and down by one a second.
  private func bpm(_ second: Int) -> Double { 120 + Double(abs(second % 60 - 30)) }
  private func body(seconds: Int, _ build: (inout LedgerBuilder) -> Void) throws -> RecordBody {
    var builder = LedgerBuilder()
    builder.press(.start, at: 0)
    build(&builder)
    builder.press(.stop, at: Double(seconds))
    var ledger = RunLedger()
    ledger.insert(contentsOf: builder.entries.sorted(by: LedgerEntry.precedes))
    return try #require(RecordBody.made(of: ledger, settings: MetricsSettings())).body
  }

  // Once broken: A record had heart rate and cadence in steps of ten seconds, and so had its exports, from which
  // services compute other zones, because the series of a record had one interval for all runs.
  @Test("Heart rate and cadence are kept to the second where they came each second, the first one, too")
  func fine() throws {
    let body = try body(seconds: 600) { run in
      for second in 0...600 {
        run.sample(.heartRate(bpm: bpm(second)), at: Double(second), from: "watch")
        run.sample(.cadence(stepsPerMinute: 160 + Double(second % 7)), at: Double(second))
      }
    }
    #expect(body.series.interval == .seconds(1))
    #expect(body.series.samples.map(\.heartRateBpm) == (0...600).map(bpm))
    #expect(body.series.samples.map(\.cadenceStepsPerMinute) == (0...600).map { 160 + Double($0 % 7) })
    // Earlier versions read it.
    #expect(body.encoded.first == 1)
    #expect(RecordBody(encoded: body.encoded) == body)
  }

  @Test("Without readings that came often a sample in ten seconds is enough")
  func usual() throws {
    let bare = try body(seconds: 600) { $0.run(from: 0, through: 600) }
    #expect(bare.series.interval == .seconds(10) && bare.series.samples.count == 61)
    let rare = try body(seconds: 600) { run in
      for second in stride(from: 0.0, through: 600, by: 10) { run.sample(.heartRate(bpm: 140), at: second) }
    }
    #expect(rare.series.interval == .seconds(10))
  }

  @Test("A long run with readings each second keeps them, in the form of long bodies")
  func long() throws {
    let body = try body(seconds: 9000) { run in
      for second in 0...9000 { run.sample(.heartRate(bpm: bpm(second)), at: Double(second)) }
    }
    #expect(body.series.samples.count == 9001)
    #expect(body.encoded.first == 2)
    #expect(RecordBody(encoded: body.encoded) == body)
    // In the first form as many samples are no record.
    #expect(RecordBody(encoded: [1] + body.encoded.dropFirst()) == nil)
  }

  // Once broken: A transition at the end of time in a damaged store, and the hub added samples for ever: the next
  // moment was the same one.
  @Test("The series of a run ends with it, at the end of time too", .timeLimit(.minutes(1)))
  func endOfTime() throws {
    let author = Author(source: .watch, deviceID: DeviceID("watch"), commandID: CommandID(high: 1, low: 1))
    for start in [BusTime.zero, BusTime(nanoseconds: .max - 7), BusTime(nanoseconds: .max)] {
      var ledger = RunLedger()
      for (kind, time) in [(CommandKind.start, start), (.stop, BusTime(nanoseconds: .max))] {
        let transition = Transition(kind: kind, revision: kind == .start ? 1 : 2, change: author)
        ledger.insert(
          contentsOf: [LedgerEntry(time: time, position: transition.revision, event: .transition(transition))])
      }
      let body = try #require(RecordBody.made(of: ledger, settings: MetricsSettings())).body
      #expect((1...RecordSeries.samplesMax + 1).contains(body.series.samples.count))
    }
  }

  @Test("A series is spaced for a chart")
  func spaced() {
    let samples = (0...25).map { RecordSeries.Sample(distanceMeters: Double($0)) }
    let spaced = RecordSeries(interval: .seconds(3), samples: samples).spaced(by: .seconds(10))
    #expect(spaced.interval == .seconds(12))
    #expect(spaced.samples.map(\.distanceMeters) == [0, 4, 8, 12, 16, 20, 24])
    #expect(spaced.spaced(by: .seconds(10)) == spaced)
  }
}
