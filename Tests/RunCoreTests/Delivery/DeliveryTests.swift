import RunCore
import Testing

@Suite("Watermarks and clocks of a stream")
struct DeliveryTests {
  @Test("A stream begins at 1 and takes each place once, in order")
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

  @Test("At the end of all numbers nothing overflows")
  func watermarkAtTheEnd() {
    var mark = Watermark(StreamMark(sequence: .max - 1))
    #expect(mark.receive(StreamMark(sequence: .max)) == .next)
    #expect(mark.receive(StreamMark(sequence: .max)) == .known)
    #expect(mark.receive(StreamMark(sequence: 0)) == .known)
  }

  @Test("What a frame took longer than the quickest of the last minute counts as waiting")
  func offset() {
    var offset = ClockOffset()
    func moment(_ seconds: Int64) -> BusTime { .zero + .seconds(seconds) }
    // The sender's clock reads a thousand seconds more, and nothing is quicker than two seconds.
    #expect(offset.arrival(sentAt: moment(1000), now: moment(2)) == moment(2))
    #expect(offset.arrival(sentAt: moment(1010), now: moment(19)) == moment(12))
    #expect(offset.arrival(sentAt: moment(1020), now: moment(22)) == moment(22))
    // A quicker frame moves what is quickest.
    #expect(offset.arrival(sentAt: moment(1030), now: moment(31)) == moment(31))
    #expect(offset.arrival(sentAt: moment(1040), now: moment(42)) == moment(41))
    // After a minute it is forgotten: clocks drift.
    #expect(offset.arrival(sentAt: moment(1110), now: moment(113)) == moment(113))
  }

  @Test("No reading stops it, and none is later than now")
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
