import RunBus
import RunCore
import Testing

@Suite("Records that are likely of one run")
struct RecordDoublesTests {
  private func record(
    _ number: UInt64, at start: Double, seconds: Int64 = 1800, meters: Double? = 5000, from device: DeviceID = "import"
  ) -> RecordSummary {
    RecordSummary(
      runID: RunID(high: 0, low: number), version: 1, deviceID: device, hubDeviceID: device, appVersion: "",
      startedAtUnixSeconds: 1_700_000_000 + start, elapsed: .seconds(seconds), active: .seconds(seconds),
      distanceMeters: meters)
  }
  private func doubles(_ records: RecordSummary...) -> [UInt64: UInt64] {
    let doubles = RecordDoubles(records)
    return Dictionary(
      uniqueKeysWithValues: records.compactMap { record in
        doubles.original(of: record.runID).map { (record.runID.low, $0.low) }
      })
  }

  @Test("The same time and about the same distance is the same run, whoever exported it")
  func same() {
    #expect(doubles(record(1, at: 0), record(2, at: 0)) == [2: 1])
    #expect(doubles(record(1, at: 20, seconds: 1760, meters: 4900), record(2, at: 0)) == [1: 2])
    #expect(doubles(record(1, at: 0, meters: nil), record(2, at: 0)) == [2: 1])
    #expect(doubles(record(1, at: 0), record(2, at: 5), record(3, at: 10)) == [2: 1, 3: 1])
  }

  @Test("The run that RunBus measured is the original")
  func original() {
    #expect(doubles(record(1, at: 0), record(2, at: 10, from: "watch"), record(3, at: 20)) == [1: 2, 3: 2])
  }

  @Test("Another time, another distance, or two runs that RunBus measured are no doubles")
  func other() {
    #expect(doubles(record(1, at: 0), record(2, at: 600)) == [:])
    #expect(doubles(record(1, at: 0), record(2, at: 0, seconds: 1200)) == [:])
    #expect(doubles(record(1, at: 0), record(2, at: 0, meters: 4000)) == [:])
    #expect(doubles(record(1, at: 0, from: "watch"), record(2, at: 0, from: "phone")) == [:])
    #expect(doubles(record(1, at: 0, seconds: 0), record(2, at: 0, seconds: 0)) == [:])
  }

  // Once broken: One run from two services counted twice, because only equal content was recognized.
  @Test("Statistics count a run once")
  func statistics() {
    let records = [record(1, at: 0), record(2, at: 3), record(3, at: 90_000)]
    let sums = RecordStatistics(records, by: .year, now: 1_700_100_000).periods
    #expect(sums.map(\.count) == [2])
    #expect(sums.map(\.distanceMeters) == [10_000])
  }
}
