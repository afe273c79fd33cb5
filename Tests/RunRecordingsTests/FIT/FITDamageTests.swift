import RunBus
import RunCore
import RunRecordings
import Testing

@Suite("FIT files that are damaged or no recordings")
struct FITDamageTests {
  private static let run = FITEncoder.run()
  private func refusal(_ file: [UInt8]) -> String? {
    let error = #expect(throws: RunBusError.self) { try Documents.read(file) }
    #expect(error?.code == .badInput)
    #expect(error?.message.contains("\n") == false)
    return error.map { String($0.message.dropFirst("f: cannot read this recording: ".count)) }
  }

  @Test("A file that was cut off keeps its whole records, wherever it was cut, and says what is missing")
  func cutOff() throws {
    let whole = Self.run.file()
    var points = 0
    for count in stride(from: whole.count - 3, to: 200, by: -7) {
      let recording = try Documents.read(Array(whole.prefix(count)))
      #expect(
        recording.warnings == [
          "cut off after \(count) of its \(whole.count) bytes: "
            + "the whole messages are kept, and what followed is missing"
        ])
      #expect(recording.pedometers == (0..<recording.pedometers.count).map { Double($0 * 3) })
      // The device's numbers are those of the whole run, and come last.
      if recording.pedometers.count < 61 { #expect(recording.summary == nil) }
      points = max(points, recording.pedometers.count)
    }
    #expect(points == 61)
  }

  @Test("A file that its device never finished is read: the header states no length")
  func unfinished() throws {
    let recording = try Documents.read(Self.run.file(claimed: 0))
    #expect(recording.warnings == ["never finished by its device: the whole messages are kept"])
    #expect(recording.pedometers.count == 61)
    #expect(recording.summary?.timerSeconds == 60)
  }

  @Test("A checksum that is missing or zero is accepted; a wrong one is a warning")
  func checksums() throws {
    var file = Self.run.file()
    let whole = try Documents.read(file)
    #expect(try Documents.read(file.dropLast(2)) == whole)
    #expect(try Documents.read(file.dropLast(2) + [0, 0]) == whole)
    file[file.count - 1] ^= 1
    #expect(try Documents.read(file).warnings == ["its checksum is wrong, so some of its numbers may be wrong"])
    // The header's own checksum adds nothing to that.
    var header = Self.run.file()
    header[12] ^= 1
    #expect(try Documents.read(header).samples == whole.samples)
  }

  @Test("Behind damage nothing is read, but what was read before is kept")
  func damaged() throws {
    func file(_ bytes: [UInt8]) -> [UInt8] {
      var file = FITEncoder.run()
      file.add(raw: bytes)
      return file.file()
    }
    let whole = try Documents.read(Self.run.file())
    let place = Self.run.file().count - 2
    for (bytes, reason) in [
      ([0x0F, 1, 2, 3], "a message that nothing defines"), ([0x41, 0, 0, 20], "a definition goes beyond the end"),
      ([0x41, 0, 0, 20, 0, 200], "a definition goes beyond the end"), ([0x01, 1], "a message goes beyond the end"),
      ([0x61, 0, 0, 20, 0, 0], "a definition goes beyond the end"),
      ([0x61, 0, 0, 20, 0, 0, 9], "a definition goes beyond the end"),
    ] as [([UInt8], String)] {
      let recording = try Documents.read(file(bytes))
      #expect(recording.samples == whole.samples)
      #expect(recording.warnings == ["damaged at byte \(place) (\(reason)): what followed is missing"])
    }
    let tail = try Documents.read(Self.run.file() + Array("rubbish".utf8))
    #expect(tail.samples == whole.samples)
    #expect(tail.warnings == ["what follows byte \(place + 2) is not FIT, and was skipped"])
    #expect(try Documents.read(Self.run.file() + [0, 0, 0, 0]) == whole)
  }

  @Test("What is no recording says what it is, and what to do")
  func refusals() {
    func file(_ type: UInt8) -> [UInt8] {
      var file = FITEncoder()
      file.addFileID(type: type)
      for second in 0...9 { file.addPoint(second) }
      return file.file()
    }
    let advice = "not of an activity; activities are in the folder Activity of the watch, and in what its app exports"
    #expect(refusal(file(5)) == "it is a FIT file of a workout, \(advice)")
    #expect(refusal(file(2)) == "it is a FIT file of settings, \(advice)")
    #expect(refusal(file(99)) == "it is a FIT file of another kind (number 99 of FIT), \(advice)")
    // The session says more than that there are no points.
    var swim = FITEncoder()
    swim.addSession(from: 0, to: 60, timerSeconds: 60, meters: 50, sport: 5)
    #expect(refusal(swim.file()) == "it records swimming, and only runs, walks and hikes are read from FIT files")
    #expect(refusal(FITEncoder().file()) == "it is a FIT file without a trackpoint that has a time")
    let whole = Self.run.file()
    #expect(
      refusal(Array(whole.prefix(14)))
        == "it is a FIT file without a trackpoint that has a time (cut off after 14 of its \(whole.count) bytes: "
        + "the whole messages are kept, and what followed is missing)")
    #expect(refusal(Array(whole.prefix(11))) != nil)
    var one = FITEncoder()
    one.addPoint(0)
    #expect(
      refusal(one.file())
        == "it holds no two trackpoints at different times, so there is no run in it; export the recorded activity")
    var timeless = FITEncoder()
    for second in 0...9 { timeless.add(20, FITEncoder.pointFields(second)) }
    #expect(refusal(timeless.file()) == "it is a FIT file without a trackpoint that has a time")
  }

  @Test("A point with a wrong time costs one point, a file of wrong times is refused")
  func times() throws {
    var file = FITEncoder()
    file.addFileID()
    for second in 0...60 { file.addPoint(second == 20 ? 300_000 : second == 40 ? 5 : second, runningSeconds: second) }
    let recording = try Documents.read(file.file())
    #expect(recording.positionCount == 59)
    #expect(recording.warnings == ["2 trackpoints that go back in time skipped (first at byte 485)"])
    var reversed = FITEncoder()
    for second in (0...60).reversed() { reversed.addPoint(second) }
    #expect(refusal(reversed.file())?.contains("go back in time") == true)
  }

  @Test("Any single byte may be any other: the file is read or refused, and never crashes")
  func everyByte() {
    let file = FITEncoder.run(0...3).file()
    for index in file.indices {
      for byte in [0, 1, 0x40, 0x7F, 0x80, 0xFF, file[index] ^ 0x10] as [UInt8] {
        var damaged = file
        damaged[index] = byte
        _ = try? Documents.read(damaged)
        _ = try? Documents.read(Array(damaged.prefix(index + 1)))
      }
    }
  }

  @Test("More trackpoints than a week has seconds are refused, and a file of empty messages takes no memory")
  func bounds() throws {
    var file = FITEncoder()
    file.addFileID()
    file.addPoint(0)
    file.define(20, [.uint8(3, 1)], local: 2)
    let message: [UInt8] = [0xC1, 120]
    var many = file
    many.add(raw: Array(repeatElement(message, count: 700_001).joined()))
    #expect(refusal(many.file()) == "it holds more than 700000 trackpoints, so it is no recording of a run")
    var empty = FITEncoder.run()
    empty.define(20, [], local: 3)
    empty.add(raw: [UInt8](repeating: 3, count: 300_000))
    #expect(try Documents.read(empty.file()).pedometers.count == 61)
  }
}
