import RunCore
import Testing

@Suite("The fastest stretches of a run")
struct RunBestTests {
  private func step(_ seconds: Double, _ meters: Double, active: Double? = nil) -> RunBest.Step {
    RunBest.Step(
      at: BusDuration(seconds: seconds), active: BusDuration(seconds: active ?? seconds), meters: meters)
  }

  private func kilometer(_ steps: [RunBest.Step]) -> RunBest? { RunBest.all(in: steps).first }

  @Test("At an even pace it is the pace, and a run of exactly that length counts")
  func even() {
    let best = kilometer([step(0, 0), step(300, 1000)])
    #expect(best == RunBest(distanceMeters: 1000, active: .seconds(300), startedAt: .zero))
    #expect(RunBest.all(in: [step(0, 0), step(299, 999.9)]) == [])
    #expect(RunBest.all(in: []) == [] && RunBest.all(in: [step(0, 0)]) == [])
  }

  @Test("A fast middle is found to the metre between two readings")
  func middle() {
    // 2 km at 3 m/s, 1 km at 5 m/s, 2 km at 3 m/s; readings do not fall on the changes of pace alone.
    let steps = [step(0, 0), step(500, 1500), step(2000.0 / 3, 2000), step(2000.0 / 3 + 200, 3000), step(2000, 6400)]
    let best = kilometer(steps)
    #expect(best.map { abs($0.active.seconds - 200) < 1e-6 } == true)
    #expect(best.map { abs($0.startedAt.seconds - 2000.0 / 3) < 1e-6 } == true)
  }

  @Test("A pause inside a stretch does not count, and neither does the distance of a gap")
  func pause() {
    // A minute of pause after 600 m.
    let best = kilometer([step(0, 0), step(180, 600), step(240, 600, active: 180), step(360, 1000, active: 300)])
    #expect(best?.active == .seconds(300))
  }

  @Test("Five kilometres and more are found in a long run, each in its own place")
  func long() {
    let steps = (0...450).map { index in step(Double(index) * 30, Double(index) * 100) }
    #expect(RunBest.all(in: steps).map(\.distanceMeters) == RunBest.distances)
    #expect(RunBest.all(in: steps).allSatisfy { abs($0.paceSecondsPerKilometer - 300) < 0.001 })
  }

  @Test("In random runs no stretch that begins or ends at a reading is faster", arguments: UInt64(0)..<60)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var steps = [step(0, 0)]
    for _ in 0..<200 {
      let last = steps[steps.count - 1]
      let seconds = Double(Int.random(in: 1...20, using: &random))
      let speed = Double(Int.random(in: 0...6, using: &random))
      let isPaused = speed == 0 && Int.random(in: 0..<2, using: &random) == 0
      steps.append(
        RunBest.Step(
          at: last.at + BusDuration(seconds: seconds),
          active: last.active + (isPaused ? .zero : BusDuration(seconds: seconds)),
          meters: last.meters + seconds * speed))
    }
    guard let best = kilometer(steps) else { return }
    // Stretches from reading to reading that are at least a kilometre take at least as long.
    for start in steps.indices {
      guard let end = steps[start...].first(where: { $0.meters >= steps[start].meters + 1000 }) else { break }
      #expect(best.active <= end.active - steps[start].active)
    }
    // No stretch is faster than the fastest reading, 6 m/s.
    #expect(best.active.seconds >= 1000 / 6.0 - 1e-6)
  }
}
