import RunCore

/// The content of one FIT file before it becomes tracks: what its messages say, by the numbers of the public profile.
///
/// Heart rate, cadence, altitude and distance are read from the record messages, not from what apps on the device add.
/// `gps_accuracy` is not read: what radius it stands for is not documented, and a wrong accuracy would reject fixes.
struct FITActivity {
  /// A point a second for seven days, which is the longest recording, has 604,800.
  static let pointsMax = 700_000
  /// Far more than the sports of any race.
  static let sessionsMax = 100
  /// Two for each stop that a recording may have, and those of its ends.
  static let timerChangesMax = 2 * RecordedTrack.stopsMax + 2

  /// A part of the file in one sport.
  struct Session {
    /// Seconds of FIT; zero when the file does not say.
    var start: UInt32 = 0
    var sport: FITSport?
    var figures = TrackLap()
  }
  struct Lap {
    let start: UInt32
    let figures: TrackLap
    let place: Int
  }
  struct TimerChange {
    let time: UInt32
    let runs: Bool
  }

  /// What kind of file it is, if it says so.
  private(set) var kind: UInt8?
  private(set) var points: [Trackpoint] = []
  private(set) var laps: [Lap] = []
  private(set) var sessions: [Session] = []
  private(set) var timerChanges: [TimerChange] = []
  /// The sport that was chosen on the device, which a file without a session may hold.
  private(set) var sport: FITSport?
  private(set) var hasTooManyPoints = false
  private(set) var notes: ReadingNotes
  /// The distance so far of records that give it in steps (`compressed_speed_distance`), in sixteenths of a metre.
  private var stepped: (last: UInt32, total: UInt64)?

  init(_ notes: ReadingNotes) { self.notes = notes }

  mutating func add(_ message: FITMessage) {
    switch message.layout.message {
    case 0: kind = message.number(0).flatMap { UInt8(exactly: $0) } ?? kind
    case 12: sport = FITSport(message.number(0), message.number(1)) ?? sport
    case 18: addSession(message)
    case 19: addLap(message)
    case 20: addPoint(message)
    case 21: addEvent(message)
    default: break
    }
  }

  private mutating func addSession(_ message: FITMessage) {
    guard sessions.count < Self.sessionsMax else { return notes.add(.otherActivity, line: message.start) }
    var session = Session()
    session.start = message.seconds(2) ?? 0
    session.sport = FITSport(message.number(5), message.number(6))
    session.figures = message.figures(
      calories: 11, averageHeartRate: 16, maxHeartRate: 17, cadence: 18, cadenceFraction: 92, ascent: 22, descent: 23)
    sessions.append(session)
  }

  private mutating func addLap(_ message: FITMessage) {
    guard laps.count < RecordedTrack.lapsMax else { return notes.add(.otherLap, line: message.start) }
    var figures = message.figures(
      calories: 11, averageHeartRate: 15, maxHeartRate: 16, cadence: 17, cadenceFraction: 80, ascent: 21, descent: 22)
    let start = message.seconds(2)
    figures.time = start.map(FITTime.unixNanoseconds)
    laps.append(Lap(start: start ?? 0, figures: figures, place: message.start))
  }

  /// The timer is the event 0; it starts (0), or stops in one of four ways.
  private mutating func addEvent(_ message: FITMessage) {
    guard message.number(0) == 0, let time = message.time, timerChanges.count < Self.timerChangesMax else { return }
    switch message.number(1) {
    case 0: timerChanges.append(TimerChange(time: time, runs: true))
    case 1, 4, 8, 9: timerChanges.append(TimerChange(time: time, runs: false))
    default: break
    }
  }

  private mutating func addPoint(_ message: FITMessage) {
    let place = message.start
    var point = Trackpoint(time: message.time.map(FITTime.unixNanoseconds) ?? 0, line: place)
    let (latitude, longitude) = (message.number(0), message.number(1))
    if let latitude, let longitude, abs(latitude) <= FITTime.semicircles / 2 {
      point.position = Position(
        latitude: latitude * 180 / FITTime.semicircles, longitude: longitude * 180 / FITTime.semicircles)
    } else if latitude != nil || longitude != nil {
      notes.add(.badPosition, line: place)
    }
    func reading(_ number: Double?, in range: ClosedRange<Double>) -> Double? {
      guard let number else { return nil }
      if range.contains(number) { return number }
      notes.add(.badNumber, line: place)
      return nil
    }
    point.altitudeMeters = reading((message.number(78) ?? message.number(2)).map { $0 / 5 - 500 }, in: -1000...10_000)
    point.cadence = reading(message.number(4).map { $0 + (message.number(53) ?? 0) / 128 }, in: 0...300)
    point.pedometerMeters = reading(meters(message), in: 0...10_000_000)
    // Devices write zero when the sensor has no contact: leave it out without a note.
    point.heartRateBpm = reading(message.number(3), in: 0...300).flatMap { $0 > 0 ? $0 : nil }
    // A record with a time only says that the device was on; two of them in a row would mark a stop, as in TCX.
    guard !point.isBlank else { return }
    guard message.time != nil else { return notes.add(.noTime, line: place) }
    guard points.count < Self.pointsMax else { return hasTooManyPoints = true }
    points.append(point)
  }

  /// The distance so far.
  private mutating func meters(_ message: FITMessage) -> Double? {
    if let hundredths = message.number(5) { return hundredths / 100 }
    // Twelve bits of speed, then twelve of distance, which begins again at zero after 4095.
    guard let bytes = message.bytes(8, count: 3), let middle = bytes.dropFirst().first, let last = bytes.last,
      !bytes.allSatisfy({ $0 == 0xFF })
    else { return nil }
    let steps = UInt32(middle >> 4) | UInt32(last) << 4
    let before = stepped ?? (steps, UInt64(steps))
    let total = before.total + UInt64((steps &- before.last) & 0xFFF)
    stepped = (steps, total)
    return Double(total) / 16
  }
}

/// Times and angles of FIT.
enum FITTime {
  /// Half a circle, in the unit of positions.
  static let semicircles = 2_147_483_648.0
  /// 1989-12-31T00:00:00Z in seconds since 1970.
  private static let epoch: Int64 = 631_065_600

  static func unixNanoseconds(_ seconds: UInt32) -> Int64 { (epoch + Int64(seconds)) * 1_000_000_000 }
}

extension FITMessage {
  /// A time in a field.
  fileprivate func seconds(_ field: UInt8) -> UInt32? { number(field).flatMap { UInt32(exactly: $0) } }

  /// The device's own numbers. Sessions and laps give some of them in fields of different numbers.
  fileprivate func figures(
    calories: UInt8, averageHeartRate: UInt8, maxHeartRate: UInt8, cadence: UInt8, cadenceFraction: UInt8,
    ascent: UInt8, descent: UInt8
  ) -> TrackLap {
    func figure(_ field: UInt8, per unit: Double = 1) -> Double? {
      number(field).map { $0 / unit }.flatMap { $0 >= 0 && $0 < 1e9 ? $0 : nil }
    }
    var lap = TrackLap()
    lap.figures.timerSeconds = figure(8, per: 1000)
    lap.figures.distanceMeters = figure(9, per: 100)
    lap.figures.averageHeartRateBpm = figure(averageHeartRate)
    lap.figures.maxHeartRateBpm = figure(maxHeartRate)
    lap.cadence = figure(cadence).map { $0 + (figure(cadenceFraction) ?? 0) / 128 }
    lap.energyKilocalories = figure(calories)
    lap.elevationGainMeters = figure(ascent)
    lap.elevationLossMeters = figure(descent)
    return lap
  }
}
