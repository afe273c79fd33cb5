import RunBus
import RunRecordings
import Testing

@Suite("Measuring without processes")
struct MeasurementTests {
  @Test("A live replay with another origin and order of arrival gives exactly the same numbers")
  func sameDigits() {
    let recording = SyntheticRun(seed: 11, duration: .seconds(900)).recording()
    let measured = measure(recording)
    for (origin, order) in [(0, 0), (12_345_678_901, 1), (987_654_321_000_000, 2)] as [(Int64, Int)] {
      let origin = BusTime(nanoseconds: origin)
      var entries = recording.ledgerEntries(runStartedAt: origin)
      switch order {
      case 1: entries.reverse()
      case 2: entries.sort { ($0.position &* 7919) % 1009 < ($1.position &* 7919) % 1009 }
      default: break
      }
      var ledger = RunLedger()
      // The journal's positions follow the order of arrival.
      for (index, entry) in entries.enumerated() {
        ledger.insert(LedgerEntry(time: entry.time, position: UInt64(index), event: entry.event))
      }
      #expect(ledger.metrics(at: origin + recording.duration) == measured)
      #expect(ledger.metrics(at: origin + .seconds(5000)) == measured)
    }
  }

  @Test("The clock is the recording's without its timer stops, and the last fix counts")
  func clock() throws {
    let positions = (0...10).map { second in
      RecordedSample(
        offset: .seconds(Int64(second)), value: .position(Position(latitude: 50 + Double(second) * 2e-5, longitude: 8)))
    }
    let stop = TimerStop(pausedAt: .seconds(4), resumedAt: .seconds(6))
    let metrics = measure(
      Recording(name: "line", samples: positions, timerStops: [stop], duration: .seconds(10)))
    #expect(metrics.elapsed == .seconds(10))
    #expect(metrics.active == .seconds(8))
    let distance = try #require(metrics.distanceMeters)
    #expect(abs(distance - 8 * 2e-5 * 111_229) < 0.01)
  }
}
