import Dispatch
import RunBus
import Synchronization

/// Plays a recording into a node: adds each sample when the run reaches the sample's offset.
final class SensorPlayer<Target: Node>: Sendable {
  private let node: Target
  private let playback: Mutex<Playback>
  /// Called when the recording ends while the run is still on, with the offset of the last sample.
  private let ranOut: @Sendable (RunID, BusDuration) -> Void
  /// Called when the hub has all samples of a completed run, with how many were played or skipped.
  private let done: @Sendable (RunID, Int) -> Void

  init(
    _ node: Target, _ recording: Timeline, ranOut: @escaping @Sendable (RunID, BusDuration) -> Void,
    done: @escaping @Sendable (RunID, Int) -> Void
  ) {
    self.node = node
    playback = Mutex(Playback(recording))
    self.ranOut = ranOut
    self.done = done
  }

  /// Plays until the snapshots end, which they do when the node ends or the task is cancelled.
  func run(_ snapshots: AsyncStream<Snapshot>) async throws {
    // Each wake-up handles everything that is due, so one pending wake-up is enough.
    let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await snapshot in snapshots {
          // A restarted peer first shows the snapshot from its store, when it does not know the hub's clock yet. Skip
          // it: the hub's own snapshot follows.
          guard let now = await self.node.busNow else { continue }
          if self.playback.withLock({ $0.observe(snapshot, now: now) }) { wake.yield() }
        }
        wake.finish()
      }
      group.addTask { try await self.play(wakes, wake) }
      // The first error ends both.
      try await group.next()
      try await group.next()
    }
  }

  private func play(_ wakes: AsyncStream<Void>, _ wake: AsyncStream<Void>.Continuation) async throws {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler { wake.yield() }
    timer.activate()
    defer { timer.cancel() }
    var (reported, ranOutIn): (RunID?, RunID?)
    for await _ in wakes {
      guard let now = await node.busNow else { continue }
      let samples = playback.withLock { $0.takeDue(now: now) }
      // Together: a hub on a slow disk would commit each one for itself.
      if !samples.isEmpty { try await node.add(samples) }
      let (due, origin, isDone, count) = playback.withLock { ($0.nextDue, $0.origin, $0.isDone, $0.position) }
      if let runID = origin?.runID, runID != ranOutIn, let end = playback.withLock({ $0.ranOutAt }) {
        ranOutIn = runID
        ranOut(runID, end)
      }
      if let due {
        let delay = await node.speed.real(fromBus: due - now)
        // Samples due within 10 ms are added together: at high speeds one wake-up for each would be a busy loop. A peer
        // holds 36,000 of them until the hub, which commits every three seconds, has acknowledged them.
        let least = samples.count < Playback.atOnceMax ? 10_000_000 : 100_000_000
        timer.schedule(
          deadline: .now() + .nanoseconds(max(least, Int(delay.nanoseconds))), leeway: .milliseconds(1))
      } else if isDone, await node.hasPendingSamples {
        // The hub may not have all samples yet (a slow disk, a hub out of reach): check again in 100 ms.
        timer.schedule(deadline: .now() + .milliseconds(100), leeway: .milliseconds(10))
      } else if isDone, let runID = origin?.runID, runID != reported {
        reported = runID
        done(runID, count)
      }
    }
  }
}
