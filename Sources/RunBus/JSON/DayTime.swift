/// Times of day as text: RFC 3339, and the wider form of it that recordings have.
package enum DayTime {
  /// How much of ISO 8601 is read.
  package enum Form: Sendable {
    /// RFC 3339, as in JSON.
    case strict
    /// `dateTime` of XML Schema, as in recordings: a comma before the decimals, an offset without a colon or without
    /// minutes, no zone (read as UTC), and 24:00:00.
    case recording
  }

  /// A moment, and how far the clock that wrote it was ahead of UTC.
  package struct Stamp: Hashable, Sendable {
    /// Whole seconds since 1970.
    package var unixSeconds: Int64
    /// The rest of it, cut to nanoseconds.
    package var nanoseconds: Int64
    package var utcOffsetSeconds: Int
  }

  /// The first millisecond that four digits of a year can write, and the last one.
  private static let milliseconds: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// Writes a time in seconds since 1970, rounded to milliseconds, as in `2026-11-21T16:03:05.250Z`. A time outside the
  /// years 0 to 9999 is written as the nearest one inside.
  package static func text(unixSeconds: Double) -> String {
    let wanted = (unixSeconds * 1000).rounded()
    return text(unixMilliseconds: wanted.isNaN ? 0 : Int64(exactly: wanted) ?? (wanted < 0 ? .min : .max))
  }

  /// Writes a time in milliseconds since 1970.
  ///
  /// - Parameter omitsZero: Whether whole seconds are written without decimals.
  package static func text(unixMilliseconds: Int64, omitsZero: Bool = false) -> String {
    let clamped = min(max(unixMilliseconds, milliseconds.lowerBound), milliseconds.upperBound)
    let (day, rest) = floored(clamped, by: 86_400_000)
    let (year, month, date) = civil(day)
    let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { padded($0, 2) }.joined(separator: ":")
    let decimals = omitsZero && rest % 1000 == 0 ? "" : "." + padded(rest % 1000, 3)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(date, 2))T\(clock)\(decimals)Z"
  }

  /// Reads an RFC 3339 time of any zone and any number of decimals, in seconds since 1970, rounded down to
  /// milliseconds; `nil` for anything else.
  package static func unixSeconds(_ text: some StringProtocol) -> Double? {
    stamp(text).map { Double($0.unixSeconds * 1000 + $0.nanoseconds / 1_000_000) / 1000 }
  }

  /// Reads a time of any zone and any number of decimals; `nil` for anything else.
  package static func stamp(_ text: some StringProtocol, as form: Form = .strict) -> Stamp? {
    let isWide = form == .recording
    var rest = Array(text.utf8)[...]
    func digits(_ count: Int) -> Int64? {
      guard rest.count >= count, rest.prefix(count).allSatisfy(isDigit) else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count).reduce(0) { $0 * 10 + Int64($1 & 0x0F) }
    }
    func skip(_ characters: String) -> UInt8? {
      guard let byte = rest.first, characters.utf8.contains(byte) else { return nil }
      rest = rest.dropFirst()
      return byte
    }
    guard let year = digits(4), skip("-") != nil, let month = digits(2), skip("-") != nil, let date = digits(2),
      skip("Tt ") != nil, let hour = digits(2), skip(":") != nil, let minute = digits(2), skip(":") != nil,
      let second = digits(2), (1...12).contains(month), date >= 1,
      // The calendar writes the 31st of February as the 3rd of March.
      civil(days(year, month, date)) == (year, month, date),
      // A leap second is the sixtieth; it is read as the first second of the next minute.
      hour <= 23 || isWide && hour == 24 && minute == 0 && second == 0, minute <= 59, second <= 60
    else { return nil }
    var nanoseconds: Int64 = 0
    if skip(isWide ? ".," : ".") != nil {
      let decimals = Array(rest.prefix(while: isDigit))
      guard !decimals.isEmpty else { return nil }
      rest = rest.dropFirst(decimals.count)
      for index in 0..<9 {
        nanoseconds = nanoseconds * 10 + (index < decimals.count ? Int64(decimals[index] & 0x0F) : 0)
      }
    }
    var offset: Int64 = 0
    if let sign = skip("+-") {
      guard let hours = digits(2), skip(":") != nil || isWide,
        let minutes = isWide && rest.isEmpty ? 0 : digits(2), hours <= (isWide ? 14 : 23), minutes <= 59
      else { return nil }
      offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
    } else {
      guard skip("Zz") != nil || isWide else { return nil }
    }
    guard rest.isEmpty else { return nil }
    return Stamp(
      unixSeconds: days(year, month, date) * 86_400 + hour * 3600 + minute * 60 + second - offset,
      nanoseconds: nanoseconds, utcOffsetSeconds: Int(offset))
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func floored(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  /// Days since 1970-01-01 in the Gregorian calendar (H. Hinnant, "chrono-compatible low-level date algorithms").
  private static func days(_ year: Int64, _ month: Int64, _ date: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floored(shifted, by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + date - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The inverse of ``days(_:_:_:)``.
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, date: Int64) {
    let (era, dayOfEra) = floored(days + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
