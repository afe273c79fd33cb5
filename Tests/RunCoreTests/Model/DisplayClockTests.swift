import RunCore
import Testing

@Suite("The clock on screen, from one snapshot")
struct DisplayClockTests {
  private func snapshot(
    _ phase: RunPhase, isAutoPaused: Bool = false, isRecovering: Bool = false, isClockStopped: Bool = false
  ) -> Snapshot {
    Snapshot(
      order: SnapshotOrder(term: 1, revision: 1, tick: 1), phase: phase, runID: RunID(high: 1, low: 1), changedBy: nil,
      startedAt: .zero + .seconds(100), capturedAt: .zero + .seconds(160),
      metrics: RunMetrics(elapsed: .seconds(60), active: .seconds(40), isAutoPaused: isAutoPaused),
      isRecovering: isRecovering, isClockStopped: isClockStopped)
  }

  /// Elapsed and active seconds ten seconds after the snapshot.
  private func later(_ snapshot: Snapshot) -> [Double] {
    let now = snapshot.capturedAt + .seconds(10)
    return [snapshot.elapsed(at: now).seconds, snapshot.active(at: now).seconds]
  }

  @Test("In a running run both times go on; in a pause active time stands; in a completed run both stand")
  func phases() {
    #expect(later(snapshot(.running)) == [70, 50])
    #expect(later(snapshot(.paused)) == [70, 40])
    #expect(later(snapshot(.completed)) == [60, 40])
    #expect(later(snapshot(.unknown)) == [70, 40])
    #expect(later(.none) == [0, 0])
  }

  @Test("Active time stands in an auto-pause, and until a recovery is decided; elapsed time goes on")
  func standing() {
    #expect(later(snapshot(.running, isAutoPaused: true)) == [70, 40])
    #expect(later(snapshot(.running, isClockStopped: true)) == [70, 40])
    // A hub of an earlier version says no more than that it asks.
    #expect(later(snapshot(.running, isRecovering: true)) == [70, 40])
  }

  @Test("A moment before the snapshot counts as that of the snapshot, and no moment overflows")
  func oddMoments() {
    let running = snapshot(.running)
    #expect(running.elapsed(at: .zero) == .seconds(60))
    #expect(running.active(at: .zero) == .seconds(40))
    #expect(running.active(at: .distantFuture) > .seconds(40))
    #expect(running.elapsed(at: .distantFuture) > .seconds(60))
  }
}
