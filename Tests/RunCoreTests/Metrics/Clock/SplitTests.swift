import RunCore
import Testing

@Suite("Splits, laps, the best minute")
struct SplitTests {
  private func near(_ left: Double?, _ right: Double, within tolerance: Double = 0.05) -> Bool {
    left.map { abs($0 - right) <= tolerance } ?? false
  }

  @Test("A kilometre may end between two fixes, in active time; the unfinished one comes last")
  func kilometers() throws {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.run(from: 0, through: 200, at: 4)
    ledger.press(.pause, at: 200)
    ledger.press(.resume, at: 260)
    for second in 260...700 { ledger.fix(800 + Double(second - 260) * 4, at: Double(second)) }
    let splits = ledger.report(at: 700).kilometers
    #expect(splits.map(\.number) == [1, 2, 3])
    #expect(splits.map(\.isComplete) == [true, true, false])
    #expect(near(splits[0].active.seconds, 250) && near(splits[1].active.seconds, 250))
    #expect(near(splits[0].endedAt.seconds, 310) && near(splits[1].startedAt.seconds, 310))
    #expect(splits[0].distanceMeters == 1000)
    #expect(near(splits[2].distanceMeters, 560, within: 0.5))
    #expect(near(splits[1].paceSecondsPerKilometer, 250))
  }

  @Test("Miles are split independently, and several splits may end in one long step")
  func miles() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for second in stride(from: 0, through: 1000, by: 20) {
      ledger.sample(.pedometer(meters: Double(second) * 4), at: Double(second))
    }
    let miles = ledger.report(at: 1000).miles
    #expect(miles.map(\.number) == [1, 2, 3])
    #expect(near(miles[0].active.seconds, 402.336) && near(miles[2].distanceMeters, 4000 - 2 * 1609.344))

    var leap = LedgerBuilder()
    leap.press(.start, at: 0)
    leap.fix(0, at: 0)
    leap.fix(2500, at: 250)
    #expect(leap.report(at: 250).kilometers.map { $0.active.seconds.rounded() } == [100, 100, 50])
  }

  @Test("A lap ends where it was pressed, between two fixes, with its own heart rate and climb")
  func laps() throws {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for second in stride(from: 0, through: 100, by: 10) {
      ledger.fix(Double(second) * 3, at: Double(second))
      ledger.sample(.heartRate(bpm: second < 50 ? 120 : 140), at: Double(second))
    }
    ledger.press(.lap, at: 45)
    let laps = ledger.report(at: 100).laps
    try #require(laps.count == 2)
    #expect(near(laps[0].distanceMeters, 135) && near(laps[1].distanceMeters, 165))
    #expect(laps[0].active == .seconds(45) && laps[1].active == .seconds(55))
    #expect(laps[0].averageHeartRateBpm == 120)
    #expect(near(laps[1].averageHeartRateBpm, (5 * 120 + 50 * 140) / 55))
    #expect(laps.map(\.isComplete) == [true, false])
    #expect(ledger.metrics(at: 100).lapCount == 1)
  }

  @Test("Without a distance laps have times and no metres")
  func lapsWithoutDistance() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.press(.lap, at: 30)
    let laps = ledger.report(at: 50).laps
    #expect(laps.map(\.active) == [.seconds(30), .seconds(20)])
    #expect(laps.map(\.distanceMeters) == [nil, nil])
    #expect(ledger.report(at: 50).kilometers.isEmpty)
  }

  @Test("Best and worst are whole minutes of known distance; standing is not a slow minute")
  func extremes() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    var meters = 0.0
    for second in 0...299 {
      ledger.fix(meters, at: Double(second))
      meters += second < 60 ? 3 : second < 120 ? 5 : second < 180 ? 0 : 2
    }
    let metrics = ledger.metrics(at: 299)
    #expect(near(metrics.bestPaceSecondsPerKilometer, 200))
    #expect(near(metrics.worstPaceSecondsPerKilometer, 500))
    #expect(ledger.metrics(at: 299).averagePaceSecondsPerKilometer.map { $0 > 200 && $0 < 500 } == true)

    var short = LedgerBuilder()
    short.press(.start, at: 0)
    short.run(from: 0, through: 59)
    #expect(short.metrics(at: 59).bestPaceSecondsPerKilometer == nil)
  }

  @Test("A pause restarts the minute")
  func minuteOverPause() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.run(from: 0, through: 40)
    ledger.press(.pause, at: 40)
    ledger.press(.resume, at: 50)
    ledger.run(from: 50, through: 100)
    #expect(ledger.metrics(at: 100).bestPaceSecondsPerKilometer == nil)
  }
}
