import RunBus
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

  /// Reads a time stamp with its offset from UTC, as ``unixNanoseconds(_:)``. Other years than 1970 to 2200 are those of
  /// a clock that was never set.
  static func stamp(_ text: some StringProtocol) -> Stamp? {
    guard let year = Int(text.prefix(4)), (1970...2200).contains(year),
      let stamp = DayTime.stamp(text, as: .recording)
    else { return nil }
    return Stamp(
      unixNanoseconds: stamp.unixSeconds * 1_000_000_000 + stamp.nanoseconds,
      utcOffsetSeconds: stamp.utcOffsetSeconds == 0 ? nil : stamp.utcOffsetSeconds)
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
    let (milliseconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return DayTime.text(unixMilliseconds: rest < 0 ? milliseconds - 1 : milliseconds, omitsZero: true)
  }
}
