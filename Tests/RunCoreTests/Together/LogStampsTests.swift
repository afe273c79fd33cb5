import Testing

@testable import RunCore

@Suite("Times of a log that cannot be true")
struct LogStampsTests {
  private func entries(_ seconds: [Int64]) -> [ReadEntry] {
    seconds.enumerated().map { place, second in
      ReadEntry(
        entry: RoomEntry(
          position: UInt64(place + 1), time: .zero + .seconds(second), author: .ben, number: UInt64(place + 1),
          ask: .tick), hash: Parts.digest, digest: Parts.digest)
    }
  }
  private func times(_ seconds: [Int64], by clock: Int64) -> [Int64] {
    LogStamps.believed(entries(seconds), by: .zero + .seconds(clock)).map { $0.folded.time.nanoseconds / 1_000_000_000 }
  }

  @Test("One that is ahead of the log's clock counts as that of the next entry, or as now; others stay")
  func believed() {
    #expect(times([10, 20, 30], by: 30) == [10, 20, 30])
    #expect(times([10, 20, 32], by: 30) == [10, 20, 32])
    #expect(times([10, 20, 33], by: 30) == [10, 20, 30])
    #expect(times([10, 900, 25, 30], by: 30) == [10, 25, 25, 30])
    #expect(times([900, 901, .max / 1_000_000_000], by: 30) == [30, 30, 30])
    // One that is far back lowers none before it.
    #expect(times([10, 20, -900, 30], by: 30) == [10, 20, -900, 30])
  }

  @Test("What an entry says itself stays for digests and comparisons")
  func kept() {
    let read = LogStamps.believed(entries([900]), by: .zero)[0]
    #expect(read.entry.time == .zero + .seconds(900) && read.taken == .zero && read.isSame(as: entries([900])[0]))
  }
}
