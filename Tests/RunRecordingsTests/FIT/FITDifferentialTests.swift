import Foundation
import RunBus
import RunCore
import RunRecordings
import TestSupport
import Testing

/// Two libraries that others wrote read the same files: `fitparse` and Garmin's own.
@Suite(
  "FIT beside other readers", .timeLimit(.minutes(5)),
  .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
struct FITDifferentialTests {
  private struct Content: Decodable {
    /// Second, latitude, longitude, altitude, distance, heart rate.
    let points: [[Double?]]
    /// Seconds of the timer, metres.
    let laps: [[Double?]]
    let session: [[Double?]]
  }

  @Test("What fitparse and Garmin's library read from random files is what is read here")
  func randomFiles() async throws {
    let seeds: [UInt64] = Array(1...40)
    try await withTestBus { bus in
      var paths: [String] = []
      for seed in seeds {
        let path = "\(bus.directory)/\(seed).fit"
        try Data(Self.file(seed)).write(to: URL(filePath: path))
        paths.append(path)
      }
      let script = Checkout.path("Tests/RunRecordingsTests/FIT/Clients/read_fit.py")
      let reading = bus.spawn(
        executable: Checkout.python, [script] + paths, environment: ["PYTHONDONTWRITEBYTECODE": "1"])
      let ending = try await reading.ending(within: 120)
      try #require(ending == .exited(0), "\(reading.view.errors)")
      let contents = try reading.view.lines.map { try JSONDecoder().decode(Content?.self, from: Data($0.utf8)) }
      try #require(contents.count == 2 * seeds.count)
      for (index, seed) in seeds.enumerated() {
        let recording = try Documents.read(Self.file(seed))
        Self.expect(recording, is: try #require(contents[2 * index]), "fitparse, seed \(seed)")
        // Garmin's library does not know compressed times.
        guard !seed.isMultiple(of: 2) else { continue }
        Self.expect(recording, is: try #require(contents[2 * index + 1]), "Garmin's library, seed \(seed)")
      }
    }
  }

  /// A run with a random layout of its messages: order of bytes, header, changing definitions, missing values, fields
  /// of apps, laps; for an even seed also compressed times.
  private static func file(_ seed: UInt64) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
    var file = FITEncoder(isBigEndian: chance(50), headerSize: chance(50) ? 12 : 14)
    file.addFileID()
    file.add(207, [FITEncoder.Field(number: 1, type: 0x0D, bytes: Array(1...16)), .uint8(3, 0)], local: 6)
    file.add(206, [.uint8(0, 0), .uint8(1, 7), .uint8(2, 2), .text(3, "oxygen"), .text(8, "%")], local: 7)
    file.addTimer(0, 0)
    let hasApp = chance(50)
    var second = 0
    var lapStart = 0
    for index in 0..<Int.random(in: 20...200, using: &generator) {
      var fields: [FITEncoder.Field] = []
      if chance(80) {
        let latitude = Double.random(in: -90...90, using: &generator)
        fields += [
          .sint32(0, FITEncoder.semicircles(latitude)),
          .sint32(1, FITEncoder.semicircles(Double.random(in: -180..<180, using: &generator))),
        ]
      }
      // The libraries take the old field for the new one, so one that gives both must give the same.
      let altitude = UInt16.random(in: 2500...20_000, using: &generator)
      if chance(70) { fields.append(.uint16(2, altitude)) }
      if chance(30) { fields.append(.uint32(78, UInt32(altitude))) }
      if chance(70) { fields.append(.uint8(3, chance(10) ? 0xFF : UInt8.random(in: 1...0xFE, using: &generator))) }
      fields.append(.uint32(5, chance(10) ? 0xFFFF_FFFF : UInt32(index * 300)))
      fields.shuffle(using: &generator)
      let step = Int.random(in: 1...25, using: &generator)
      second += index == 0 ? 0 : step
      if seed.isMultiple(of: 2), index > 0, chance(40) {
        file.add(20, fields, second: FITEncoder.time(second), local: 3)
      } else {
        fields.insert(.uint32(253, FITEncoder.time(second)), at: chance(50) ? 0 : fields.count)
        let app = hasApp && chance(50) ? [FITEncoder.DeveloperField(number: 7, bytes: [98])] : []
        file.add(20, fields, developer: app, local: chance(50) ? 1 : 5)
      }
      if chance(5), second > lapStart {
        file.addLap(from: lapStart, to: second, timerSeconds: Double(second - lapStart), meters: Double(index))
        lapStart = second
      }
    }
    file.addTimer(second, 4)
    file.addSession(from: 0, to: second, timerSeconds: Double(second), meters: 1234.56)
    return file.file()
  }

  private static func expect(_ recording: Recording, is content: Content, _ name: String) {
    var ours: [[Double]] = [[], [], [], []]
    var theirs = ours
    for sample in recording.samples {
      let second = sample.offset.seconds
      switch sample.value {
      case .position(let position): ours[0] += [second, position.latitude, position.longitude]
      case .altitude(let meters, _): ours[1] += [second, meters]
      case .pedometer(let meters): ours[2] += [second, meters]
      case .heartRate(let bpm): ours[3] += [second, bpm]
      case .cadence, .motion: break
      }
    }
    for point in content.points where point.count == 6 {
      guard let second = point[0] else { continue }
      if let latitude = point[1], let longitude = point[2] { theirs[0] += [second, latitude, longitude] }
      if let meters = point[3] { theirs[1] += [second, meters] }
      if let meters = point[4] { theirs[2] += [second, meters] }
      if let bpm = point[5] { theirs[3] += [second, bpm] }
    }
    for (ours, theirs) in zip(ours, theirs) {
      #expect(ours.count == theirs.count, "\(name)")
      #expect(zip(ours, theirs).allSatisfy { abs($0 - $1) < 1e-6 }, "\(name)")
    }
    #expect(recording.warnings == [], "\(name)")
    #expect(recording.summary?.laps.map { [$0.timerSeconds, $0.distanceMeters] } == content.laps, "\(name)")
    #expect([[recording.summary?.timerSeconds, recording.summary?.distanceMeters]] == content.session, "\(name)")
  }
}
