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
    #expect(Self.american.distance(5213.4) == "3.23 mi")
    #expect(Self.german.distance(5213.4) == "5,21 km")
    #expect(Self.german.distance(1_234_567) == "1.234,56 km" && Self.korean.distance(1_234_567) == "1,234.56 km")
    #expect(Self.korean.distance(0) == "0.00 km" && Self.korean.distance(-1) == "0.00 km")
    #expect(Self.korean.distance(5213.4, withUnit: false) == "5.21")
  }

  @Test("Heights are whole metres or feet")
  func height() {
    #expect(Self.korean.height(12.4) == "12 m" && Self.american.height(12) == "39 ft")
    #expect(Self.german.height(1234, withUnit: false) == "1.234")
  }

  // Once broken: One run showed 3.18 km in the shell, 3.17 km on the lock screen, and a best kilometre of 4:14 at 4:15
  // /km, because Shell and page rounded, the push cut to tens of metres.
  @Test("Distance, pace and duration are cut, and a whole number of digits stays whole")
  func cut() {
    #expect(Self.korean.distance(3176.93) == "3.17 km" && Self.korean.distance(3179.999) == "3.17 km")
    #expect(Self.american.distance(3176.93) == "1.97 mi" && Self.korean.distance(-3176.93) == "-3.17 km")
    #expect(Self.korean.pace(1129.62 / 3.17693) == "5:55 /km")
    #expect(Self.korean.duration(.milliseconds(1_129_620)) == "18:49")
    // Products of binary fractions: 0.29 · 100 is 28.999999999999996.
    for hundredths in 0...100_000 {
      let text = Self.korean.distance(Double(hundredths) / 100 * 1000, withUnit: false)
      let digits = text.filter(\.isNumber)
      if Int(digits) != hundredths { Issue.record("\(hundredths) hundredths are written as \(text)") }
    }
    for seconds in 0..<3600 {
      let mile = Double(seconds) / SplitUnit.mile.meters * 1000
      if mile < 3600, Self.american.pace(mile, withUnit: false) != Self.american.duration(.seconds(Int64(seconds))) {
        Issue.record("\(seconds) s a mile are written as \(Self.american.pace(mile))")
      }
    }
  }

  @Test("A pace is cut to seconds, per kilometre or mile")
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

  @Test("Durations of the locale of terminals, which are written by hand, are those of the library")
  func plainDuration() {
    let (plain, library) = (RunFormat(locale: Locale(identifier: "en_US_POSIX")), Self.american)
    for seconds in Array(0...7300) + [35_999, 36_000, 86_399, 360_000, 3_599_999] as [Int64] {
      let span = BusDuration.seconds(seconds)
      #expect(plain.duration(span) == library.duration(span))
    }
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
    for (meters, text) in [(12.5, "13"), (13.5, "14"), (-0.5, "-1")] {
      for format in [Self.korean, Self.german] { #expect(format.height(meters, withUnit: false) == text) }
    }
  }

  @Test("The POSIX locale writes neither separators of thousands nor other digits")
  func posix() {
    let format = RunFormat(locale: Locale(identifier: "en_US_POSIX"), units: .metric)
    #expect(format.distance(1_234_567) == "1234.56 km" && format.energy(8_368_000) == "2000 kcal")
    #expect(RunFormat(locale: Locale(identifier: "ar_EG"), units: .metric).distance(5213.4, withUnit: false) == "٥٫٢١")
  }
}
