import RunBus
import Testing

@Suite("Durations of Swift and of the bus")
struct DurationTests {
  @Test("A span is the same in both forms")
  func roundTrip() {
    for nanoseconds in [0, 1, -1, 999_999_999, -1_000_000_001, 1_500_000_000, .max, .min] as [Int64] {
      let span = BusDuration(nanoseconds: nanoseconds)
      #expect(BusDuration(Duration(span)) == span)
      #expect(Duration(span) == .nanoseconds(nanoseconds))
    }
    #expect(BusDuration(.milliseconds(1500)) == .milliseconds(1500))
  }

  @Test("Less than a nanosecond is rounded to the nearest one, and a half away from zero")
  func rounding() {
    let cases: [(Int64, Int64)] = [
      (499_999_999, 0), (500_000_000, 1), (1_499_999_999, 1), (1_500_000_000, 2), (-499_999_999, 0), (-500_000_000, -1),
      (-1_500_000_000, -2),
    ]
    for (attoseconds, nanoseconds) in cases {
      let duration = Duration(secondsComponent: 0, attosecondsComponent: attoseconds)
      #expect(BusDuration(duration) == BusDuration(nanoseconds: nanoseconds))
    }
  }

  @Test("A span of more than 292 years is the longest there is")
  func saturation() {
    #expect(BusDuration(.seconds(Int64.max)).nanoseconds == .max)
    #expect(BusDuration(.seconds(Int64.min)).nanoseconds == .min)
    #expect(BusDuration(Duration(.init(nanoseconds: .max)) + .nanoseconds(1)).nanoseconds == .max)
    #expect(BusDuration(Duration(.init(nanoseconds: .min)) - .nanoseconds(1)).nanoseconds == .min)
  }
}
