import RunCore

/// Time stamps of recordings: ISO 8601 in the form of XML Schema's `dateTime`.
enum RecordingTime {
  /// Reads a time stamp such as `2026-01-31T09:05:07.250+01:00`, in nanoseconds since 1970. It may have any number of
  /// decimals, and `Z`, an offset or nothing (read as UTC) at its end; `nil` for anything else.
  static func unixNanoseconds(_ text: some StringProtocol) -> Int64? { stamp(text)?.unixNanoseconds }

  /// A moment, and how far the clock that wrote it was ahead of UTC.
  struct Stamp {
    var unixNanoseconds: Int64
    /// Seconds; `nil` when the time stamp is in UTC, which says nothing about the runner's clock.
    var utcOffsetSeconds: Int?
  }

  /// Reads a time stamp with its offset from UTC, as ``unixNanoseconds(_:)``.
  static func stamp(_ text: some StringProtocol) -> Stamp? {
    var rest = Array(text.utf8)[...]
    func digits(_ count: Int) -> Int? {
      guard rest.count >= count else { return nil }
      var value = 0
      for byte in rest.prefix(count) {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        value = value * 10 + Int(byte - UInt8(ascii: "0"))
      }
      rest = rest.dropFirst(count)
      return value
    }
    func skip(_ characters: StaticString) -> UInt8? {
      guard let byte = rest.first, "\(characters)".utf8.contains(byte) else { return nil }
      rest = rest.dropFirst()
      return byte
    }
    guard let year = digits(4), year >= 1970, skip("-") != nil, let month = digits(2), skip("-") != nil,
      let day = digits(2), skip("Tt ") != nil, let hour = digits(2), skip(":") != nil, let minute = digits(2),
      skip(":") != nil, let second = digits(2), (1...12).contains(month),
      (1...daysInMonth(year, month)).contains(day), hour <= 23 || (hour == 24 && minute == 0 && second == 0),
      minute <= 59, second <= 60, year <= 2200
    else { return nil }

    var nanoseconds: Int64 = 0
    if skip(".,") != nil {
      var unit: Int64 = 100_000_000
      var count = 0
      while let digit = digits(1) {
        nanoseconds += Int64(digit) * unit
        unit /= 10
        count += 1
      }
      guard count > 0 else { return nil }
    }
    var offsetSeconds = 0
    if let sign = skip("+-") {
      guard let hours = digits(2) else { return nil }
      _ = skip(":")
      guard let minutes = rest.isEmpty ? 0 : digits(2), hours <= 14, minutes <= 59 else { return nil }
      offsetSeconds = (hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
    } else {
      _ = skip("Zz")
    }
    guard rest.isEmpty else { return nil }
    let seconds = days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offsetSeconds
    return Stamp(
      unixNanoseconds: Int64(seconds) * 1_000_000_000 + nanoseconds,
      utcOffsetSeconds: offsetSeconds == 0 ? nil : offsetSeconds)
  }

  /// Reads a duration such as `1264.66` or `0:21:04.66`, in seconds; `nil` for anything else.
  static func seconds(_ text: String) -> Double? {
    var seconds = 0.0
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 3 else { return nil }
    for part in parts {
      guard let value = TrackLap.figure(String(part)) else { return nil }
      seconds = seconds * 60 + value
    }
    return seconds
  }

  /// Writes a time in nanoseconds since 1970 as a UTC time stamp, with milliseconds unless they are zero.
  static func text(unixNanoseconds: Int64) -> String {
    let (seconds, rest) = unixNanoseconds.flooredQuotientAndRemainder(by: 1_000_000_000)
    let (day, time) = seconds.flooredQuotientAndRemainder(by: 86400)
    let date = civil(Int(day))
    let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
    let fraction = rest / 1_000_000 == 0 ? "" : "." + padded(rest / 1_000_000, 3)
    return
      "\(padded(Int64(date.year), 4))-\(padded(Int64(date.month), 2))-\(padded(Int64(date.day), 2))T\(clock)\(fraction)Z"
  }

  private static func daysInMonth(_ year: Int, _ month: Int) -> Int {
    month == 12 ? 31 : days(year, month + 1, 1) - days(year, month, 1)
  }
  /// Days since 1970-01-01 in the Gregorian calendar (H. Hinnant, "chrono-compatible low-level date algorithms").
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
  /// The inverse, for days from 1970 on.
  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

extension Int64 {
  fileprivate func flooredQuotientAndRemainder(by divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
