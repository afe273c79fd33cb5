@testable import RunCore
import Testing

@Suite("How often a peer pings")
struct HeartbeatPaceTests {
  private var pace = HeartbeatPace(limits: .full)

  private mutating func note(_ phase: RunPhase, at seconds: Int64) { pace.note(phase, at: .zero + .seconds(seconds)) }

  /// The interval in seconds.
  private func interval(at seconds: Int64) -> Int64 {
    pace.interval(at: .zero + .seconds(seconds)).nanoseconds / 1_000_000_000
  }

  @Test("Two seconds in a run, ten without one")
  mutating func phases() {
    #expect(interval(at: 0) == 10)
    note(.running, at: 0)
    #expect(interval(at: 0) == 2 && interval(at: 100_000) == 2)
    note(.completed, at: 10)
    #expect(interval(at: 10) == 10)
    note(.running, at: 20)
    note(.idle, at: 30)
    #expect(interval(at: 30) == 10)
  }

  @Test("A pause slows the beat after a minute, and each news begins the minute again")
  mutating func pause() {
    note(.running, at: 0)
    note(.paused, at: 10)
    #expect(interval(at: 69) == 2 && interval(at: 70) == 10)
    note(.paused, at: 50)
    #expect(interval(at: 109) == 2 && interval(at: 110) == 10)
    note(.paused, at: 500)
    #expect(interval(at: 500) == 2 && interval(at: 560) == 10)
    note(.running, at: 600)
    #expect(interval(at: 600) == 2 && interval(at: 700) == 2)
  }
}
