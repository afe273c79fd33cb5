import RunBus
import RunCore
import RunRecordings
import Testing

/// Laps whose trackpoints cover only a part of their time.
@Suite("Laps with trackpoints for a part of their time")
struct PartialLapTests {
  private func point(_ second: Int, _ meters: Double) -> String {
    "<Trackpoint><Time>\(Documents.time(second))</Time><Position><LatitudeDegrees>\(50 + meters / 111_229)</LatitudeDegrees>"
      + "<LongitudeDegrees>8</LongitudeDegrees></Position></Trackpoint>"
  }
  private func lap(_ start: Int, timer: Int, meters: Int, _ seconds: ClosedRange<Int>?) -> String {
    "<Lap StartTime=\"\(Documents.time(start))\"><TotalTimeSeconds>\(timer)</TotalTimeSeconds>"
      + "<DistanceMeters>\(meters)</DistanceMeters><Track>\n"
      + (seconds.map { $0.map { point($0, 3 * Double($0)) }.joined(separator: "\n") } ?? "") + "\n</Track></Lap>"
  }
  private func meters(_ laps: String...) throws -> Double {
    (measure(try Documents.read(Documents.tcx(laps))).distanceMeters ?? -1).rounded()
  }

  // Once broken: 300 m at the start of a run were missing, although a lap told of them, because a lap's own distance
  // counted only where the lap had no trackpoint at all, and this one had three at its end.
  @Test("The way before the first position of a lap counts with the rest of the lap's distance")
  func silenceAtTheBegin() throws {
    let (none, first) = (lap(0, timer: 97, meters: 291, nil), lap(97, timer: 103, meters: 309, 190...200))
    #expect(abs(try meters(none, first, lap(200, timer: 100, meters: 300, 201...300)) - 900) <= 4)
    let recording = try Documents.read(Documents.tcx([first, lap(200, timer: 100, meters: 300, 201...300)]))
    #expect(recording.duration == .seconds(203))
    #expect(recording.timerStops.isEmpty)
    #expect(recording.lapMarks == [.seconds(103)])
    #expect(recording.warnings.count == 1)
  }

  @Test("No way is added before the first position of a lap whose timer stood, or whose distance the points hold")
  func noSilence() throws {
    #expect(try meters(lap(0, timer: 21, meters: 60, 180...200)) == 60)
    #expect(try meters(lap(0, timer: 200, meters: 60, 180...200)) == 60)
    #expect(try meters(lap(0, timer: 200, meters: 9000, 180...200)) == 60)
    // The lap before has a point in that time.
    #expect(try meters(lap(0, timer: 100, meters: 300, 0...100), lap(50, timer: 150, meters: 450, 101...200)) == 600)
  }
}
