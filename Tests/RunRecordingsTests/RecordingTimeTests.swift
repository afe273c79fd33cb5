import RunBus
import Testing

@testable import RunRecordings

@Suite("Time stamps of recordings")
struct RecordingTimeTests {
  @Test(
    "Fractions, offsets and leap years are read as ISO 8601 means them",
    arguments: [
      ("1970-01-01T00:00:00Z", 0),
      ("2026-01-01T08:00:00Z", 1_767_254_400_000_000_000),
      ("2024-02-29T12:00:00Z", 1_709_208_000_000_000_000),
      ("2000-03-01T00:00:00Z", 951_868_800_000_000_000),
      ("2026-01-01T08:00:00", 1_767_254_400_000_000_000),
      ("2026-01-01T09:30:00.25+01:30", 1_767_254_400_250_000_000),
      ("2026-01-01T03:00:00-0500", 1_767_254_400_000_000_000),
      ("2026-01-01T08:00:00.123456789Z", 1_767_254_400_123_456_789),
      ("2026-01-01T08:00:00.1234567899999Z", 1_767_254_400_123_456_789),
    ] as [(String, Int64)])
  func read(text: String, nanoseconds: Int64) {
    #expect(RecordingTime.unixNanoseconds(text) == nanoseconds)
  }

  @Test(
    "Other texts are no time stamps",
    arguments: [
      "", "Feb 15 2013, 15:34:01", "2026-13-01T00:00:00Z", "2026-01-01", "2026-01-01T08:00:00.Z",
      "2026-01-01T08:00:00Zx", "2026-01-01T25:00:00Z", "9999-01-01T00:00:00Z", "2026-02-29T08:00:00Z",
      "2026-01-01T24:00:01Z", "2026-01-01T08:00:00+9",
    ])
  func refuse(text: String) {
    #expect(RecordingTime.unixNanoseconds(text) == nil)
  }

  @Test("A written time stamp is read back", arguments: 0..<500)
  func roundTrip(index: Int64) {
    let nanoseconds = index * 10_000_019 * 1_000_000_000 / 7 / 1_000_000 * 1_000_000
    #expect(RecordingTime.unixNanoseconds(RecordingTime.text(unixNanoseconds: nanoseconds)) == nanoseconds)
  }
}
