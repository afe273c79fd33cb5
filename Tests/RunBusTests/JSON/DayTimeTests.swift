import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("Times of day are RFC 3339")
struct DayTimeTests {
  @Test(
    "A time is written in UTC with milliseconds",
    arguments: [
      (0.0, "1970-01-01T00:00:00.000Z"), (1_795_277_185.25, "2026-11-21T16:06:25.250Z"),
      (951_782_400, "2000-02-29T00:00:00.000Z"), (-0.001, "1969-12-31T23:59:59.999Z"),
      (253_402_300_799.9999, "9999-12-31T23:59:59.999Z"), (.infinity, "9999-12-31T23:59:59.999Z"),
      (.nan, "1970-01-01T00:00:00.000Z"), (-1e300, "0000-01-01T00:00:00.000Z"),
    ])
  func written(_ seconds: Double, _ text: String) { #expect(DayTime.text(unixSeconds: seconds) == text) }

  @Test(
    "Zones and any number of decimals are read",
    arguments: [
      ("2026-11-21T16:06:25.250Z", 1_795_277_185.25), ("2026-11-22T01:06:25.25+09:00", 1_795_277_185.25),
      ("2026-11-21t14:36:25-01:30", 1_795_277_185), ("2026-11-21 16:06:25.2509999z", 1_795_277_185.25),
    ])
  func read(_ text: String, _ seconds: Double) { #expect(DayTime.unixSeconds(text) == seconds) }

  @Test(
    "Anything else is refused",
    arguments: [
      "", "2026-11-21", "2026-11-21T16:06:25", "2026-13-21T16:06:25Z", "2026-02-30T16:06:25Z", "2026-11-21T24:06:25Z",
      "2026-11-21T16:06:25.Z", "2026-11-21T16:06:25Zz", "+026-11-21T16:06:25Z", "2026-11-21T16:06:25+9:00",
    ])
  func refused(_ text: String) { #expect(DayTime.unixSeconds(text) == nil) }

  @Test("The calendar agrees with Foundation's on every day of four centuries")
  func calendar() {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for day in stride(from: -60_000, to: 90_000, by: 7) {
      let seconds = Double(day) * 86_400 + 3723
      let text = DayTime.text(unixSeconds: seconds)
      #expect(text == Date(timeIntervalSince1970: seconds).formatted(style))
      #expect(DayTime.unixSeconds(text) == seconds)
    }
  }
}
