/// The messages of runs, as watches write them. Seconds count from the start of the run.
extension FITEncoder {
  /// 2026-03-01T10:00:00Z, the start of ``Documents``.
  static let start = UInt32(1_772_359_200 - epoch)

  static func time(_ second: Int) -> UInt32 { UInt32(Int(start) + second) }
  static func semicircles(_ degrees: Double) -> Int32 { Int32((degrees * 2_147_483_648 / 180).rounded()) }

  mutating func addFileID(type: UInt8 = 4) {
    add(0, [.enumeration(0, type), .uint16(1, 1), .uint32(4, Self.start)])
  }

  /// A point of the same run as ``Documents/gpxPoint(_:extra:)`` and ``Documents/tcxPoint(_:)``.
  static func pointFields(_ second: Int, runningSeconds: Int? = nil, heartRate: UInt8 = 140) -> [Field] {
    let running = runningSeconds ?? second
    return [
      .sint32(0, semicircles(50 + Double(running) * 2.7e-5)), .sint32(1, semicircles(8.5)),
      .uint16(2, (100 + 500) * 5), .uint8(3, heartRate), .uint8(4, 85), .uint32(5, UInt32(running * 300)),
    ]
  }
  mutating func addPoint(_ second: Int, runningSeconds: Int? = nil, heartRate: UInt8 = 140) {
    let fields = Self.pointFields(second, runningSeconds: runningSeconds, heartRate: heartRate)
    add(20, [.uint32(253, Self.time(second))] + fields, local: 1)
  }
  /// The timer starts (0), stops (1), or stops for good (4).
  mutating func addTimer(_ second: Int, _ change: UInt8) {
    add(21, [.uint32(253, Self.time(second)), .enumeration(0, 0), .enumeration(1, change)], local: 2)
  }
  mutating func addLap(from start: Int, to end: Int, timerSeconds: Double, meters: Double) {
    add(19, Self.figures(from: start, to: end, timerSeconds, meters) + [.uint8(15, 140), .uint8(16, 150)], local: 3)
  }
  mutating func addSession(
    from start: Int, to end: Int, timerSeconds: Double, meters: Double, sport: UInt8 = 1, subSport: UInt8 = 0
  ) {
    let more: [Field] = [
      .enumeration(5, sport), .enumeration(6, subSport), .uint8(16, 140), .uint8(17, 150), .uint8(18, 85),
      .uint16(11, 250), .uint16(22, 12), .uint16(23, 13),
    ]
    add(18, Self.figures(from: start, to: end, timerSeconds, meters) + more, local: 4)
  }
  private static func figures(from start: Int, to end: Int, _ timerSeconds: Double, _ meters: Double) -> [Field] {
    [
      .uint32(253, Self.time(end)), .uint32(2, Self.time(start)),
      .uint32(7, UInt32(end - start) * 1000), .uint32(8, UInt32(timerSeconds * 1000)), .uint32(9, UInt32(meters * 100)),
    ]
  }

  /// A run with a point a second: start, points, stop, one lap, session, activity.
  static func run(
    _ seconds: ClosedRange<Int> = 0...60, isBigEndian: Bool = false, headerSize: UInt8 = 14, sport: UInt8 = 1,
    subSport: UInt8 = 0
  ) -> FITEncoder {
    var file = FITEncoder(isBigEndian: isBigEndian, headerSize: headerSize)
    file.addFileID()
    file.addTimer(seconds.lowerBound, 0)
    for second in seconds { file.addPoint(second) }
    file.addTimer(seconds.upperBound, 4)
    let (start, end, length) = (seconds.lowerBound, seconds.upperBound, Double(seconds.count - 1))
    file.addLap(from: start, to: end, timerSeconds: length, meters: length * 3)
    file.addSession(from: start, to: end, timerSeconds: length, meters: length * 3, sport: sport, subSport: subSport)
    file.add(34, [.uint32(253, Self.time(end)), .uint16(1, 1)], local: 5)
    return file
  }

  /// The run of ``Documents/podRun``, without the jumps of its fixes: four laps, the third with a pause of a minute.
  static let podRun: FITEncoder = {
    var file = FITEncoder()
    file.addFileID()
    file.addTimer(0, 0)
    for second in 0..<750 { file.addPoint(second, heartRate: UInt8(130 + second / 60)) }
    file.addTimer(749, 1)
    file.addTimer(810, 0)
    for second in 810..<1260 { file.addPoint(second, runningSeconds: second - 60, heartRate: UInt8(130 + second / 60)) }
    file.addTimer(1259, 4)
    for (start, end) in [(0, 300), (300, 600), (600, 960), (960, 1260)] {
      file.addLap(from: start, to: end, timerSeconds: 300, meters: 900)
    }
    file.addSession(from: 0, to: 1260, timerSeconds: 1200, meters: 3600)
    return file
  }()
}
