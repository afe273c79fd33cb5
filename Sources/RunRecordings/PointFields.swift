import RunCore

/// The texts of one trackpoint, and the rules that turn them into numbers.
struct PointFields {
  private(set) var time: Int64?
  /// How far the file's clock is ahead of UTC; `nil` when the time is in UTC.
  private(set) var utcOffsetSeconds: Int?
  private var hasBadTime = false
  var altitude: String?
  var heartRate: String?
  /// Strides of one foot or steps of both per minute; ``RecordedTrack/countSteps()`` decides.
  var cadence: String?
  var pedometer: String?

  mutating func readTime(_ text: String) {
    let stamp = RecordingTime.stamp(text)
    time = stamp?.unixNanoseconds
    utcOffsetSeconds = stamp?.utcOffsetSeconds
    hasBadTime = time == nil
  }

  /// A finite number in decimal notation, with white space around it as XML allows. Swift reads more: hexadecimal numbers,
  /// and words for what is no number.
  static func decimal(_ text: String) -> Double? {
    let digits = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace)
    guard digits.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }) else { return nil }
    return Double(String(decoding: digits.reversed(), as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
  }
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  /// The point; `nil` without a readable time. A reading that is not a number in its range is left out and noted.
  func point(
    latitude: String?, longitude: String?, accuracyMeters: Double? = nil, notes: inout ReadingNotes, line: Int
  ) -> Trackpoint? {
    guard let time else {
      notes.add(hasBadTime ? .badTime : .noTime, line: line)
      return nil
    }
    func number(_ text: String?, in range: ClosedRange<Double>) -> Double? {
      guard let text, !text.isEmpty else { return nil }
      guard let value = Self.decimal(text), range.contains(value) else {
        notes.add(.badNumber, line: line)
        return nil
      }
      return value
    }
    var point = Trackpoint(time: time, line: line)
    if let latitude, let longitude {
      if let north = Self.decimal(latitude), let east = Self.decimal(longitude) {
        if abs(north) <= 90, abs(east) <= 180 {
          point.position = Position(latitude: north, longitude: east, horizontalAccuracyMeters: accuracyMeters)
        } else {
          notes.add(.badPosition, line: line)
        }
      } else {
        notes.add(latitude.contains(",") ? .decimalComma : .badNumber, line: line)
      }
    }
    point.altitudeMeters = number(altitude, in: -1000...10_000)
    point.cadence = number(cadence, in: 0...300)
    point.pedometerMeters = number(pedometer, in: 0...10_000_000)
    // Devices write zero when the sensor has no contact: leave it out without a note.
    point.heartRateBpm = number(heartRate, in: 0...300).flatMap { $0 > 0 ? $0 : nil }
    return point
  }
}
