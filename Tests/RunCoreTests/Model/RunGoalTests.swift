import Foundation
import RunCore
import Testing

@Suite("The goal of a run")
struct RunGoalTests {
  private let half = RunGoal(time: .seconds(1800))!

  @Test("A goal is whole milliseconds, above zero and at most a day")
  func bounds() {
    for nanoseconds in [1_000_000, 1_800_000_000_000, 86_400_000_000_000] as [Int64] {
      #expect(RunGoal(time: BusDuration(nanoseconds: nanoseconds))?.time.nanoseconds == nanoseconds)
    }
    for nanoseconds in [0, -1_000_000, 999_999, 1_000_001, 86_400_000_000_001, 86_400_001_000_000, .max, .min]
      as [Int64]
    {
      #expect(RunGoal(time: BusDuration(nanoseconds: nanoseconds)) == nil, "\(nanoseconds)")
    }
  }

  @Test("What remains is the goal less the elapsed time, and never less than nothing")
  func remaining() {
    #expect(half.remaining(after: .zero) == .seconds(1800))
    #expect(half.remaining(after: .milliseconds(1_799_999)) == .milliseconds(1))
    #expect(half.remaining(after: .seconds(1800)) == .zero)
    #expect(half.remaining(after: .seconds(4000)) == .zero)
    #expect(half.remaining(after: BusDuration(nanoseconds: .max)) == .zero)
  }

  @Test("Only a start has a goal: no other command can be made with one, or read")
  func onlyStarts() throws {
    for kind in CommandKind.allCases {
      var command = Command(id: CommandID(high: 0, low: 1), kind: kind, source: .phone)
      #expect(command.aim(at: half) == (kind == .start))
      #expect(command.goal == (kind == .start ? half : nil))
    }
    let start = Command.start(id: CommandID(high: 0, low: 1), goal: half, source: .phone)
    let bytes = try JSONEncoder().encode(start)
    #expect(try JSONDecoder().decode(Command.self, from: bytes) == start)
    let pause = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\"start\"", with: "\"pause\"")
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Command.self, from: Data(pause.utf8)) }
    let zero = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "1800000000000", with: "0")
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Command.self, from: Data(zero.utf8)) }
  }

  @Test("On screen it counts down while the run is on, in a pause as well, and stands once the run is completed")
  func countdown() {
    func left(_ phase: RunPhase, after seconds: Int64) -> Double? {
      let snapshot = Snapshot(
        order: SnapshotOrder(term: 1, revision: 1, tick: 1), phase: phase, runID: RunID(high: 1, low: 1),
        changedBy: nil, startedAt: .zero, capturedAt: .zero + .seconds(60),
        metrics: RunMetrics(elapsed: .seconds(60), active: .seconds(40)), goal: RunGoal(time: .seconds(100)))
      #expect(snapshot.remaining == .seconds(40))
      return snapshot.remaining(at: snapshot.capturedAt + .seconds(seconds))?.seconds
    }
    #expect(left(.running, after: 10) == 30)
    #expect(left(.paused, after: 10) == 30)
    #expect(left(.completed, after: 10) == 40)
    #expect(left(.running, after: 41) == 0)
    #expect(left(.running, after: -5) == 40)
    #expect(Snapshot.none.remaining == nil)
    #expect(Snapshot.none.remaining(at: .zero) == nil)
  }
}
