import Foundation
import Testing
import TestSupport

@Suite("Measuring a recording from a shell")
struct MeasureTests {
  /// Two kilometres at 4 m/s with a fix every 5 s, a heart rate, and two laps of the device.
  private static let tcx: String = {
    let points = (0...100).map { index in
      let seconds = index * 5
      let time = String(format: "2026-03-01T10:%02d:%02dZ", seconds / 60, seconds % 60)
      // A degree of latitude is about 111,240 m here; slightly slower than 4 m/s, because paces are rounded down.
      let latitude = 50 + Double(seconds * 4) / 111_250
      return """
        <Trackpoint><Time>\(time)</Time><Position><LatitudeDegrees>\(latitude)</LatitudeDegrees>
        <LongitudeDegrees>8</LongitudeDegrees></Position><HeartRateBpm><Value>150</Value></HeartRateBpm></Trackpoint>
        """
    }
    func lap(_ points: ArraySlice<String>, meters: Int) -> String {
      """
      <Lap><TotalTimeSeconds>250</TotalTimeSeconds><DistanceMeters>\(meters)</DistanceMeters><Calories>60</Calories>
      <AverageHeartRateBpm><Value>148</Value></AverageHeartRateBpm><Track>\(points.joined(separator: "\n"))</Track></Lap>
      """
    }
    return """
      <?xml version="1.0"?>
      <TrainingCenterDatabase xmlns="urn:t"><Activities><Activity Sport="Running">
      \(lap(points[0..<50], meters: 1000))\(lap(points[50...], meters: 990))
      </Activity></Activities></TrainingCenterDatabase>
      """
  }()

  private func withRecording(_ text: String, _ body: @Sendable (TestBus, String) async throws -> Void) async throws {
    try await withTestBus { bus in
      let path = bus.directory + "/run.tcx"
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      try await body(bus, path)
    }
  }

  @Test("The table shows unknown values as missing, and uses the wanted units")
  func table() async throws {
    try await withRecording(Self.tcx) { bus, path in
      let metric = try await bus.run("measure", path, "--splits")
      #expect(metric.ending == .exited(0) && metric.errors.isEmpty)
      #expect(metric.lines.contains("distance        1.99 km"), "\(metric.lines)")
      #expect(metric.lines.contains("average pace    4:10 /km"))
      #expect(metric.lines.contains("energy          -"))
      #expect(metric.lines.contains("cadence         -"))
      #expect(metric.lines.contains("laps:"))
      #expect(metric.lines.contains { $0.hasPrefix("  1  1.00  4:10  4:10  150") }, "\(metric.lines)")
      #expect(metric.lines.contains { $0.hasPrefix("  1  0.99  4:10  4:10  150") }, "\(metric.lines)")
      let imperial = try await bus.run("measure", path, "--splits", "--units", "imperial", "--weight", "70")
      #expect(imperial.lines.contains("distance        1.24 mi"))
      #expect(imperial.lines.contains("average pace    6:42 /mi"))
      #expect(imperial.lines.contains("miles:"))
      #expect(imperial.lines.contains { $0.hasPrefix("energy") && $0.hasSuffix("kcal") })
    }
  }

  @Test("JSON contains splits, laps and the device's own numbers, always in SI units")
  func json() async throws {
    try await withRecording(Self.tcx) { bus, path in
      let run = try await bus.run("measure", path, "--json", "--units", "imperial", "--compare", "--route")
      let object = try #require(run.json.last)
      #expect(run.lines.count == 1)
      #expect(abs(try #require(object["metrics"]?["distanceMeters"]?.number) - 2000) < 1)
      #expect(object["metrics"]?["energyJoules"] == .null)
      #expect(object["kilometers"]?.array?.count ?? 0 >= 2)
      #expect(object["laps"]?.array?.count == 2)
      #expect(object["stretches"]?.array?.first?["source"]?.string == "positions")
      #expect(object["recorded"]?["distanceMeters"]?.number == 1990)
      #expect(object["recorded"]?["laps"]?.array?.count == 2)
      let differences = try #require(object["differences"])
      #expect(differences["activeSeconds"]?["difference"]?.number == 0)
      #expect(differences["averageHeartRateBpm"]?["difference"]?.number == 2)
      #expect(differences["averageCadenceStepsPerMinute"]?["recorded"] == .null)
      #expect(differences["splitUnit"]?.string == "kilometer")
      #expect(differences["laps"]?.array?.count == 2)
      #expect(object["route"]?.array?.count == 101)
      let first = try #require(object["route"]?.array?.first)
      #expect(first["counted"]?.bool == true && first["startsLine"]?.bool == true && first["reason"] == .null)
      // Without the options these keys are absent.
      let plain = try #require(try await bus.run("measure", path, "--json").json.last)
      #expect(plain["differences"] == nil && plain["route"] == nil)
    }
  }

  @Test("By positions alone, a treadmill run has no distance")
  func treadmill() async throws {
    let points = (0...60).map {
      let time = String(format: "2026-03-01T10:%02d:%02dZ", $0 / 60, $0 % 60)
      return "<Trackpoint><Time>\(time)</Time><DistanceMeters>\($0 * 3)</DistanceMeters></Trackpoint>"
    }
    let text = """
      <TrainingCenterDatabase xmlns="urn:t"><Activities><Activity Sport="Running"><Lap><Track>\(points.joined())</Track>
      </Lap></Activity></Activities></TrainingCenterDatabase>
      """
    try await withRecording(text) { bus, path in
      let steps = try #require(try await bus.run("measure", path, "--json").json.last)
      #expect(abs((steps["metrics"]?["distanceMeters"]?.number ?? 0) - 180) < 1e-6)
      #expect(abs((steps["metrics"]?["pedometerMeters"]?.number ?? 0) - 180) < 1e-6)
      let positions = try #require(try await bus.run("measure", path, "--no-pedometer", "--json").json.last)
      #expect(positions["metrics"]?["distanceMeters"] == .null)
      let compared = try await bus.run("measure", path, "--compare")
      #expect(compared.lines.last == "the recording holds no numbers of the device's own to compare with")
    }
  }

  @Test(
    "Reading needs a few bytes of memory for each byte of the file, whatever it contains",
    .enabled(if: Sanitizer.present == nil))
  func memory() async throws {
    let hostile = [
      String(repeating: "<:a/>", count: 2_000_000), String(repeating: "<Lap/>", count: 1_500_000),
      String(
        repeating: "<Lap><Track><Trackpoint><Time>2026-03-01T10:08:20Z</Time></Trackpoint></Track></Lap>",
        count: 100_000),
    ]
    for text in hostile {
      try await withRecording(Self.tcx.replacingOccurrences(of: "</Activity>", with: text + "</Activity>")) {
        bus, path in
        // Ten megabytes for the file, ten times as much for reading it, and what a process needs by itself.
        let run = try await bus.shell("ulimit -v 300000; exec $BUSNODE measure '\(path)'")
        #expect(run.ending == .exited(0), "\(run.errors)")
      }
    }
  }

  @Test("Unusable files exit 65 with one line, wrong arguments exit 64")
  func wrong() async throws {
    try await withRecording("<html></html>") { bus, path in
      let page = try await bus.run("measure", path)
      #expect(page.ending == .exited(65) && page.lines.isEmpty && page.errors.count == 1, "\(page.errors)")
      for text in ["", "<gpx>", "<gpx></gpx>", "\u{0}\u{1}", Self.tcx.replacingOccurrences(of: "Time>", with: "Tame>")]
      {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let run = try await bus.run("measure", path, "--compare", "--json")
        #expect(run.ending == .exited(65) && run.lines.isEmpty && run.errors.count == 1, "\(run.errors)")
      }
      try Self.tcx.write(toFile: path, atomically: true, encoding: .utf8)
      for arguments in [["--weight", "10"], ["--weight", "x"], ["--units", "furlongs"], ["--splits=3"]] {
        let run = bus.spawn(executable: TestBus.busnode, ["measure", path] + arguments)
        #expect(try await run.ending() == .exited(64), "\(arguments)")
      }
    }
  }
}
