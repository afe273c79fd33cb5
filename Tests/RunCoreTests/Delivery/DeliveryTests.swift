import RunCore
import Testing

@Suite("Watermarks and clocks of a stream")
struct DeliveryTests {
  @Test("A stream begins at 1, and its receiver accepts each sequence number once, in order")
  func watermark() {
    var mark = Watermark()
    #expect(mark.receive(StreamMark(sequence: 2)) == .gap)
    #expect(mark.receive(StreamMark(sequence: 1)) == .next)
    #expect(mark.receive(StreamMark(sequence: 1)) == .known)
    #expect(mark.receive(StreamMark(sequence: 0)) == .known)
    #expect(mark.receive(StreamMark(sequence: 3)) == .gap)
    #expect(mark.position(of: 2) == .next)
    #expect(mark.sequence == 1)
    #expect(mark.receive(StreamMark(sequence: 2)) == .next)
    #expect(mark.sequence == 2)
  }

  @Test("At the highest sequence number nothing overflows")
  func watermarkAtTheEnd() {
    var mark = Watermark(StreamMark(sequence: .max - 1))
    #expect(mark.receive(StreamMark(sequence: .max)) == .next)
    #expect(mark.receive(StreamMark(sequence: .max)) == .known)
    #expect(mark.receive(StreamMark(sequence: 0)) == .known)
  }

  @Test("The time by which a frame is slower than the fastest of the last minute counts as waiting")
  func offset() {
    var offset = ClockOffset()
    func moment(_ seconds: Int64) -> BusTime { .zero + .seconds(seconds) }
    // The sender's clock is a thousand seconds ahead, and the fastest frame so far takes two seconds.
    #expect(offset.arrival(sentAt: moment(1000), now: moment(2)) == moment(2))
    #expect(offset.arrival(sentAt: moment(1010), now: moment(19)) == moment(12))
    #expect(offset.arrival(sentAt: moment(1020), now: moment(22)) == moment(22))
    // A faster frame sets a new minimum.
    #expect(offset.arrival(sentAt: moment(1030), now: moment(31)) == moment(31))
    #expect(offset.arrival(sentAt: moment(1040), now: moment(42)) == moment(41))
    // The minimum expires after a minute, because clocks drift.
    #expect(offset.arrival(sentAt: moment(1110), now: moment(113)) == moment(113))
  }

  @Test("No reading makes it trap, and no arrival is later than now")
  func oddReadings() {
    let edges: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    for first in edges {
      for second in edges {
        for now in edges {
          var offset = ClockOffset()
          let now = BusTime(nanoseconds: now)
          #expect(offset.arrival(sentAt: BusTime(nanoseconds: first), now: now) <= now)
          #expect(offset.arrival(sentAt: BusTime(nanoseconds: second), now: now) <= now)
        }
      }
    }
  }
}
