package import Foundation
package import RunCore

/// Days, weeks, months and years by the local clock. Weeks begin on Monday and are numbered as in ISO 8601.
package struct RunCalendar: Sendable {
  /// The period by which runs are grouped.
  package enum Unit: String, CaseIterable, Sendable {
    case day, week, month, year
  }

  private let calendar: Calendar

  /// A calendar of a time zone.
  package init(timeZone: TimeZone = .current) {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = timeZone
    self.calendar = calendar
  }

  /// The start of a run as the calendar shows it: by the wall clock of the run where its UTC offset is known, as if the
  /// calendar's own clock had shown the same. All other functions take it as a moment.
  package func wallClock(_ summary: RecordSummary) -> Double {
    let start = summary.startedAtUnixSeconds
    guard let offset = summary.utcOffsetSeconds else { return start }
    return start + Double(offset - calendar.timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: start)))
  }

  /// `2026-11-21 17:03`.
  package func minuteText(_ unixSeconds: Double) -> String {
    let parts = parts(unixSeconds)
    return "\(name(of: .day, unixSeconds)) \(Self.padded(parts.hour)):\(Self.padded(parts.minute))"
  }

  /// The hour of a moment, 0 to 23.
  package func hour(_ unixSeconds: Double) -> Int { parts(unixSeconds).hour ?? 0 }

  /// The day, week, month or year of a moment: `2026-11-21`, `2026-W47`, `2026-11`, `2026`.
  package func name(of unit: Unit, _ unixSeconds: Double) -> String {
    let parts = parts(unixSeconds)
    switch unit {
    case .day: return "\(Self.year(parts.year))-\(Self.padded(parts.month))-\(Self.padded(parts.day))"
    case .week: return "\(Self.year(parts.yearForWeekOfYear))-W\(Self.padded(parts.weekOfYear))"
    case .month: return "\(Self.year(parts.year))-\(Self.padded(parts.month))"
    case .year: return Self.year(parts.year)
    }
  }

  /// The month of a moment, in which results and badges count.
  package func month(_ unixSeconds: Double) -> CalendarMonth? {
    let parts = parts(unixSeconds)
    return CalendarMonth(year: parts.year ?? 0, month: parts.month ?? 0)
  }

  /// The number of a moment's day: it grows by 1 from day to day.
  package func day(_ unixSeconds: Double) -> Int {
    let offset = calendar.timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: unixSeconds))
    return Int(exactly: ((unixSeconds + Double(offset)) / 86_400).rounded(.down)) ?? 0
  }

  /// The beginning and end of a named day, week, month or year, in seconds since 1970; `nil` when the name is not valid.
  package func range(of unit: Unit, named name: String) -> Range<Double>? {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    var components = DateComponents()
    guard parts.count == (unit == .day ? 3 : unit == .year ? 1 : 2), parts[0].count == 4,
      let year = Self.number(parts[0])
    else {
      return nil
    }
    switch unit {
    case .day, .month:
      guard parts.dropFirst().allSatisfy({ $0.count == 2 }), let month = Self.number(parts[1]),
        let day = unit == .day ? Self.number(parts[2]) : 1
      else { return nil }
      (components.year, components.month, components.day) = (year, month, day)
    case .week:
      guard parts[1].count == 3, parts[1].first?.uppercased() == "W", let week = Self.number(parts[1].dropFirst())
      else { return nil }
      (components.yearForWeekOfYear, components.weekOfYear, components.weekday) = (year, week, 2)
    case .year: (components.year, components.month, components.day) = (year, 1, 1)
    }
    let component: Calendar.Component =
      switch unit {
      case .day: .day
      case .week: .weekOfYear
      case .month: .month
      case .year: .year
      }
    guard let begin = calendar.date(from: components),
      // `Calendar` reads the 31st of February as the 3rd of March; here it is a typing mistake.
      self.name(of: unit, begin.timeIntervalSince1970) == name.uppercased(),
      let end = calendar.date(byAdding: component, value: 1, to: begin)
    else { return nil }
    return begin.timeIntervalSince1970..<end.timeIntervalSince1970
  }

  private func parts(_ unixSeconds: Double) -> DateComponents {
    calendar.dateComponents(
      [.year, .month, .day, .hour, .minute, .second, .weekOfYear, .yearForWeekOfYear],
      from: Date(timeIntervalSince1970: unixSeconds))
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
  private static func padded(_ value: Int?) -> String {
    let value = value ?? 0
    return value < 10 ? "0\(value)" : "\(value)"
  }
  private static func year(_ value: Int?) -> String {
    let digits = "\(value ?? 0)"
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
