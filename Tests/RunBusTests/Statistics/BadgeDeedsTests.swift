import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("What runs bring badges")
struct BadgeDeedsTests {
  private static let calendar = RunCalendar(timeZone: TimeZone(secondsFromGMT: 9 * 3600)!)
  /// 2026-11-30 23:30 in UTC.
  private static let evening = 1_796_081_400.0

  private static func summary(
    _ run: UInt64, at start: Double, offset: Int? = nil, metres: Double? = 5000
  ) -> RecordSummary {
    RecordSummary(
      runID: RunID(high: run, low: run), version: 1, deviceID: "watch", hubDeviceID: "phone", appVersion: "",
      startedAtUnixSeconds: start, elapsed: .seconds(3600), active: .seconds(3600), distanceMeters: metres,
      utcOffsetSeconds: offset)
  }

  @Test("A run counts on the day and in the month of its end, by its own clock where that is known")
  func day() throws {
    let local = try #require(BadgeDeed(Self.summary(1, at: Self.evening), Self.calendar))
    let abroad = try #require(BadgeDeed(Self.summary(1, at: Self.evening, offset: -5 * 3600), Self.calendar))
    #expect(local.month == CalendarMonth(year: 2026, month: 12) && abroad.month == CalendarMonth(year: 2026, month: 11))
    #expect(local.day == abroad.day + 1)
    #expect(local.moment == 1_796_085_000_000 && abroad.moment == local.moment)
    #expect(local.kind == .run(metres: 5000))
    let late = try #require(BadgeDeed(Self.summary(2, at: Self.evening + 86_400), Self.calendar))
    #expect(late.day == local.day + 1)
  }

  @Test("A distance that is not known is none, and a run that is kept twice counts once")
  func doubles() throws {
    var runs = [Self.summary(1, at: Self.evening), Self.summary(2, at: Self.evening + 2)]
    let now = Self.evening + 86_400
    #expect(Badges.deeds(of: runs, Self.calendar, now: now).count == 2)
    runs[1].deviceID = RecordSummary.importDevice
    #expect(Badges.deeds(of: runs, Self.calendar, now: now).map(\.run) == [RunID(high: 1, low: 1)])
    let unknown = try #require(BadgeDeed(Self.summary(3, at: Self.evening, metres: nil), Self.calendar))
    #expect(unknown.kind == .run(metres: 0))
  }

  // Once broken: the badges of a run of five minutes at a speed of 60 were given four minutes and 55 s in the future.
  @Test("A simulated run, longer than the time in which it was run, has ended with its room, or when somebody looks")
  func simulated() {
    let runs = [Self.summary(1, at: Self.evening), Self.summary(2, at: Self.evening + 20)]
    let ends = [RunID(high: 1, low: 1): Self.evening + 12.5]
    let deeds = Badges.deeds(of: runs, Self.calendar, ends: ends, now: Self.evening + 40)
    #expect(deeds.map(\.moment) == [1_796_081_412_500, 1_796_081_440_000])
    let later = Badges.deeds(of: runs, Self.calendar, now: Self.evening + 86_400)
    #expect(later.map(\.moment) == [1_796_085_000_000, 1_796_085_020_000])
  }

  @Test("A result counts at the end of the room's run")
  func result() throws {
    let run = RunID(high: 1, low: 1)
    let deed = try #require(BadgeDeed(.won, run: run, endedAt: Self.evening + 0.5, Self.calendar))
    #expect(deed.moment == 1_796_081_400_500 && deed.month == CalendarMonth(year: 2026, month: 12))
    var badges = Badges()
    #expect(badges.look(at: [deed]) == [Badges.Given(.firstWin, run: run, moment: 1_796_081_400_500)])
  }

  @Test("Days are counted through midnight and before 1970")
  func days() {
    let calendar = RunCalendar(timeZone: TimeZone(secondsFromGMT: 0)!)
    #expect([-1.0, 0, 86_399, 86_400].map(calendar.day) == [-1, 0, 0, 1])
    #expect(calendar.month(LogTime(nanoseconds: 1_796_081_400_000_000_000)) == CalendarMonth(year: 2026, month: 11))
    #expect(calendar.day(.infinity) == 0)
  }
}
