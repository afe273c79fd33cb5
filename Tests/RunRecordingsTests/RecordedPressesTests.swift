import RunBus
import RunRecordings
import Testing

@Suite("The presses of a replay")
struct RecordedPressesTests {
  private func recording(stops: [ClosedRange<Int64>] = [], laps: [Int64] = [], lasting: Int64 = 10_000) -> Recording {
    Recording(
      name: "r", samples: [],
      timerStops: stops.map {
        TimerStop(pausedAt: .milliseconds($0.lowerBound), resumedAt: .milliseconds($0.upperBound))
      },
      lapMarks: laps.map { .milliseconds($0) }, duration: .milliseconds(lasting))
  }
  private func told(_ recording: Recording) -> String {
    recording.presses.map { "\($0.kind.rawValue) \($0.offset.nanoseconds / 1_000_000)" }.joined(separator: ", ")
  }

  @Test("A replay presses start, pauses, laps and stop, each at its moment")
  func whole() {
    #expect(
      told(recording(stops: [2000...4000], laps: [1000, 3000, 8000]))
        == "start 0, lap 1000, pause 2000, lap 3000, resume 4000, lap 8000, stop 10000")
  }

  @Test("A lap within the window of another press is marked at its moment, after it")
  func lapsBesidePauses() {
    #expect(
      told(recording(stops: [2000...4000], laps: [2000])) == "start 0, pause 2000, lap 2000, resume 4000, stop 10000")
    #expect(
      told(recording(stops: [2000...4000], laps: [1600])) == "start 0, pause 2000, lap 2000, resume 4000, stop 10000")
    #expect(
      told(recording(stops: [2000...4000], laps: [4499])) == "start 0, pause 2000, resume 4000, lap 4000, stop 10000")
    #expect(
      told(recording(stops: [2000...4000], laps: [4500])) == "start 0, pause 2000, resume 4000, lap 4500, stop 10000")
  }

  @Test("A lap at the start or the stop is left out")
  func lapsAtTheEnds() {
    #expect(
      told(recording(laps: [-5, 0, 499, 500, 9500, 9501, 10_000, 20_000])) == "start 0, lap 500, lap 9500, stop 10000")
  }

  @Test("Of laps within one window the first counts")
  func lapsTogether() {
    #expect(
      told(recording(laps: [1000, 1000, 1400, 1800, 2300])) == "start 0, lap 1000, lap 1800, lap 2300, stop 10000")
  }

  @Test("A timer stop that a hub would treat as undone is left out, and two close ones are merged")
  func shortStops() {
    #expect(told(recording(stops: [2000...2499])) == "start 0, stop 10000")
    #expect(told(recording(stops: [2000...2500])) == "start 0, pause 2000, resume 2500, stop 10000")
    #expect(told(recording(stops: [2000...3000, 3400...4000])) == "start 0, pause 2000, resume 4000, stop 10000")
    #expect(told(recording(stops: [2000...2300, 2600...2900])) == "start 0, pause 2000, resume 2900, stop 10000")
  }

  @Test("Laps are entries of the ledger, counted and split at their marks")
  func entries() {
    let metrics = measure(recording(stops: [2000...4000], laps: [1000, 4000, 8000]))
    #expect(metrics.lapCount == 3)
  }
}
