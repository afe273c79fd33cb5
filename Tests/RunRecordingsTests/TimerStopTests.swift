import RunBus
import RunCore
import RunRecordings
import Testing

/// Stops that a file tells by the time that its timer ran, and not by its structure.
@Suite("Stops that the timer tells")
struct TimerStopTests {
  /// A trackpoint `way` metres from the start by position, and `metered` by the device's distance.
  private func point(_ second: Int, way: Double, metered: Double?) -> String {
    "<Trackpoint><Time>\(Documents.time(second))</Time><Position><LatitudeDegrees>\(50 + way / 111_229)</LatitudeDegrees>"
      + "<LongitudeDegrees>8</LongitudeDegrees></Position>"
      + (metered.map { "<DistanceMeters>\($0)</DistanceMeters>" } ?? "") + "</Trackpoint>"
  }
  private func lap(_ start: Int, timer: Int, _ points: [String]) -> String {
    "<Lap StartTime=\"\(Documents.time(start))\"><TotalTimeSeconds>\(timer)</TotalTimeSeconds><Track>\n"
      + points.joined(separator: "\n") + "\n</Track></Lap>"
  }
  /// Points each four seconds at 3 m/s. In a stop the runner walks on at 1.6 m/s, which the device does not count; in a
  /// silence the runner runs on.
  private func points(
    _ seconds: ClosedRange<Int>, stops: [ClosedRange<Int>] = [], silences: [ClosedRange<Int>] = [],
    hasDistance: Bool = true
  ) -> [String] {
    var (way, metered) = (3.0 * Double(seconds.lowerBound), 3.0 * Double(seconds.lowerBound))
    var points = [point(seconds.lowerBound, way: way, metered: hasDistance ? metered : nil)]
    var second = seconds.lowerBound
    while second < seconds.upperBound {
      let stop = stops.first { $0.lowerBound == second }
      let next = stop?.upperBound ?? silences.first { $0.lowerBound == second }?.upperBound ?? second + 4
      way += Double(next - second) * (stop == nil ? 3 : 1.6)
      metered += Double(next - second) * (stop == nil ? 3 : 0)
      second = next
      points.append(point(second, way: way, metered: hasDistance ? metered : nil))
    }
    return points
  }
  private func stop(_ seconds: ClosedRange<Int>) -> TimerStop {
    TimerStop(pausedAt: .seconds(Int64(seconds.lowerBound)), resumedAt: .seconds(Int64(seconds.upperBound)))
  }

  // Once broken: A TCX of a run with ten stops measured 92 s and 67 m more than the FIT of the same run, because a gap
  // counted as a stop from 40 s on, although the laps' timers told of shorter ones.
  @Test("A stop that is short for the steps of the file counts where the lap's timer stood and the distance did too")
  func shortStops() throws {
    let recording = try Documents.read(
      Documents.tcx([
        lap(0, timer: 400 - 26 - 31, points(0...396, stops: [100...126, 202...233], silences: [301...319])),
        lap(400, timer: 200, points(400...600, silences: [440...456])),
      ]))
    #expect(recording.timerStops == [stop(100...126), stop(202...233)])
    #expect(measure(recording).active == .seconds(600 - 26 - 31))
  }

  // Once broken: A tunnel became a pause, and the pauses of another lap became running time, because the time in which
  // the timer stood was one sum for the whole file.
  @Test("The silence of a lap whose timer ran is no stop, however long the timer stood in another")
  func silenceOfAnotherLap() throws {
    let recording = try Documents.read(
      Documents.tcx([
        lap(0, timer: 300 - 70, points(0...298, stops: [100...134, 202...238])),
        lap(300, timer: 300, points(300...600, silences: [400...460])),
      ]))
    #expect(recording.timerStops == [stop(100...134), stop(202...238)])
    #expect(measure(recording).active == .seconds(530))
  }

  @Test("A short silence in which the runner went on is no stop, although the timer stood elsewhere")
  func movingSilence() throws {
    // The device recorded on in its stop.
    for hasDistance in [true, false] {
      let recording = try Documents.read(
        Documents.tcx([
          lap(0, timer: 270, points(0...300, silences: [100...124, 201...215], hasDistance: hasDistance)),
          lap(300, timer: 300, points(300...600, hasDistance: hasDistance)),
        ]))
      #expect(recording.timerStops.isEmpty)
    }
  }

  @Test("A pause between two laps is a stop where the lap's timer stood, a new lap alone is none")
  func betweenLaps() throws {
    let recording = try Documents.read(
      Documents.tcx([
        lap(0, timer: 200, points(0...200)), lap(260, timer: 140, points(260...400)),
        lap(400, timer: 200, points(408...600)),
      ]))
    #expect(recording.timerStops == [stop(200...260)])
    // The runner stands for 20 s, with the distance of the first lap; the second lap begins with the next point.
    let still = points(0...200) + [point(200, way: 600, metered: 600)]
    let on = (0...45).map { point(220 + 4 * $0, way: 620 + 12 * Double($0), metered: 600 + 12 * Double($0)) }
    let short = try Documents.read(Documents.tcx([lap(0, timer: 200, still), lap(220, timer: 180, on)]))
    #expect(short.timerStops == [stop(200...220)])
  }

  @Test("Laps whose beginnings leave the stops out tell nothing about a single lap")
  func lapsWithoutStops() throws {
    // The second lap began at 300 s; the file says 230 s, as if the timer had not stood.
    let recording = try Documents.read(
      Documents.tcx([
        lap(0, timer: 230, points(0...300, stops: [100...134, 202...238])), lap(230, timer: 300, points(304...604)),
      ]))
    #expect(recording.timerStops == [stop(100...134), stop(202...238)])
  }
}
