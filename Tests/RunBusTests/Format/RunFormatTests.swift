import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("Numbers of a run as people read them")
struct RunFormatTests {
  private static let korean = RunFormat(locale: Locale(identifier: "ko_KR"))
  private static let american = RunFormat(locale: Locale(identifier: "en_US"))
  private static let german = RunFormat(locale: Locale(identifier: "de_DE"))

  @Test("The units are those of the locale, unless the caller says which")
  func units() {
    #expect(Self.korean.units == .metric && Self.german.units == .metric && Self.american.units == .imperial)
    #expect(RunFormat(locale: Locale(identifier: "en_GB")).units == .imperial)
    #expect(RunFormat(locale: Locale(identifier: "en_US"), units: .metric).units == .metric)
  }

  @Test("Korean and English write a point, German a comma")
  func distance() {
    #expect(Self.korean.distance(5213.4) == "5.21 km")
    #expect(Self.american.distance(5213.4) == "3.24 mi")
    #expect(Self.german.distance(5213.4) == "5,21 km")
    #expect(Self.german.distance(1_234_567) == "1.234,57 km" && Self.korean.distance(1_234_567) == "1,234.57 km")
    #expect(Self.korean.distance(0) == "0.00 km" && Self.korean.distance(-1) == "0.00 km")
    #expect(Self.korean.distance(5213.4, withUnit: false) == "5.21")
  }

  @Test("Heights are whole metres or feet")
  func height() {
    #expect(Self.korean.height(12.4) == "12 m" && Self.american.height(12) == "39 ft")
    #expect(Self.german.height(1234, withUnit: false) == "1.234")
  }

  @Test("A pace is rounded down to seconds, per kilometre or mile")
  func pace() {
    #expect(Self.korean.pace(341.9) == "5:41 /km")
    #expect(Self.american.pace(341) == "9:08 /mi")
    #expect(Self.american.pace(341, withUnit: false) == "9:08")
    #expect(Self.american.pace(3599) == "1:36:32 /mi")
  }

  @Test("Standing still has no pace")
  func still() {
    for pace in [3600, .infinity, .nan, -1] as [Double?] { #expect(Self.korean.pace(pace) == "–") }
  }

  @Test("A duration has hours from an hour on, and the separator of its locale")
  func duration() {
    #expect(Self.korean.duration(.milliseconds(185_999)) == "3:05")
    #expect(Self.american.duration(.seconds(3723)) == "1:02:03")
    #expect(Self.korean.duration(.zero) == "0:00" && Self.korean.duration(.seconds(-5)) == "0:00")
    #expect(Self.korean.duration(.seconds(360_000)) == "100:00:00")
    #expect(RunFormat(locale: Locale(identifier: "fi_FI")).duration(.seconds(3723)) == "1.02.03")
  }

  @Test("Energy is in kilocalories of 4184 J")
  func energy() {
    #expect(Self.korean.energy(83_680) == "20 kcal" && Self.american.energy(83_680) == "20 kcal")
    #expect(Self.german.energy(5_000_000) == "1.195 kcal")
    #expect(Self.german.energy(5_000_000, withUnit: false) == "1.195")
  }

  @Test("A value that is not known or not possible is an en dash")
  func missing() {
    let format = Self.korean
    #expect([format.distance(nil), format.height(nil), format.pace(nil), format.energy(nil)] == ["–", "–", "–", "–"])
    #expect(format.duration(nil) == RunFormat.missing)
    #expect(format.distance(.infinity) == "–" && format.distance(.nan) == "–" && format.energy(1e300) == "–")
  }

  @Test("Halves are rounded away from zero in every locale")
  func halves() {
    for (meters, text) in [(125.0, "0.13"), (375, "0.38"), (5, "0.01")] {
      #expect(Self.korean.distance(meters, withUnit: false) == text)
    }
  }

  @Test("The POSIX locale writes neither separators of thousands nor other digits")
  func posix() {
    let format = RunFormat(locale: Locale(identifier: "en_US_POSIX"), units: .metric)
    #expect(format.distance(1_234_567) == "1234.57 km" && format.energy(8_368_000) == "2000 kcal")
    #expect(RunFormat(locale: Locale(identifier: "ar_EG"), units: .metric).distance(5213.4, withUnit: false) == "٥٫٢١")
  }
}
