import RunCore
import Testing

@Suite("The moment of a reading with a date")
struct ClockPairTests {
  private let clocks = ClockPair(
    before: BusTime(nanoseconds: 10_000_000_000), wallSeconds: 800_000_000,
    after: BusTime(nanoseconds: 10_000_000_100))

  @Test("The wall clock belongs to the middle of the two readings of the monotonic clock")
  func middle() {
    #expect(clocks.real == BusTime(nanoseconds: 10_000_000_050))
    #expect(clocks.uncertainty == BusDuration(nanoseconds: 50))
    let odd = ClockPair(before: .zero, wallSeconds: 0, after: BusTime(nanoseconds: 3))
    #expect(odd.real == BusTime(nanoseconds: 1) && odd.uncertainty == BusDuration(nanoseconds: 2))
    let wrong = ClockPair(before: BusTime(nanoseconds: 3), wallSeconds: 0, after: .zero)
    #expect(wrong.real == BusTime(nanoseconds: 3) && wrong.uncertainty == .zero)
  }

  @Test("A reading is as much older than now as its date, and may be older than the machine's start")
  func past() {
    #expect(clocks.moment(ofReadingAt: 800_000_000 - 2.5) == clocks.real - .milliseconds(2500))
    #expect(clocks.moment(ofReadingAt: 800_000_000 - 86_400) == clocks.real - .seconds(86_400))
  }

  @Test("A date in the future counts as now")
  func future() {
    for ahead in [0, 1e-7, 0.5, 3600, 31_536_000] {
      #expect(clocks.moment(ofReadingAt: 800_000_000 + ahead) == clocks.real)
    }
  }

  @Test("What is no number or a hundred years away is no date of a reading")
  func noDate() {
    for wrong in [Double.nan, .infinity, -.infinity, 4e9, -4e9, 1e300, .greatestFiniteMagnitude] {
      #expect(clocks.moment(ofReadingAt: wrong) == nil)
    }
  }
}
