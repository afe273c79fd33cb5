import Foundation
import RunBus
import RunRecordings
import Testing

@Suite(
  "What lock screens get of real recordings", .enabled(if: RecordedRuns.folder != nil, RecordedRuns.missing))
struct LiveRecordingTests {
  @Test(
    "Phases are pushed at once, numbers within the policy, and the clock is right", arguments: RecordedRuns.references)
  func pushes(reference: RecordedRuns.Reference) throws {
    let replay = LiveReplay(try RecordedRuns.recording(reference.file))
    let policy = LivePolicy()
    #expect(replay.pushes.first?.kind == .phase && replay.pushes.last?.kind == .final)
    #expect(replay.wrongPhase == .zero)
    #expect(replay.worstAge <= .seconds(33), "numbers were behind for \(replay.worstAge.seconds) s")
    #expect(replay.worstClock <= .milliseconds(500), "the clock was wrong by \(replay.worstClock.seconds) s")
    for (earlier, later) in zip(replay.pushes, replay.pushes.dropFirst()) where later.kind == .numbers {
      #expect(later.pushedAt - earlier.pushedAt >= policy.numbersInterval)
      #expect(!later.content.numbers.looksLike(earlier.content.numbers))
    }
    // The screen never becomes stale while the hub is well.
    for (earlier, later) in zip(replay.pushes, replay.pushes.dropFirst()) {
      #expect(earlier.staleAt.map { later.pushedAt < $0 } ?? true)
    }
    let number = Double(replay.pushes.count { $0.kind == .numbers })
    #expect(number <= Double(policy.budgetMax) + replay.duration.seconds / 3600 * Double(policy.pushesPerHour))
  }
}
