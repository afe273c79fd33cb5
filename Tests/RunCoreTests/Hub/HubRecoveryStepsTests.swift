import RunCore
import Testing

/// A run of 16 s with every kind of press, with one hub throughout, or with a death and a second incarnation.
@Suite("A hub dies at every moment of a run")
struct HubRecoveryStepsTests {
  private enum Step {
    case press(CommandKind)
    /// The watch measures the heart rate.
    case beat
  }
  private struct Result {
    var transitions: [PastTransition]
    var beats: [BusTime]
    var metrics: RunMetrics
  }
  private static let away = BusDuration.seconds(30)

  /// In order of time.
  private static let steps: [(time: BusTime, step: Step)] = {
    let presses: [(Int64, CommandKind)] = [
      (0, .start), (5_200, .pause), (8_700, .resume), (10_300, .lap), (15_300, .stop),
    ]
    let beats = (1...15).map { (BusTime.zero + .milliseconds($0 * 1000 + 50), Step.beat) }
    let all = presses.map { (BusTime.zero + .milliseconds($0), Step.press($1)) } + beats
    return all.sorted { $0.0 < $1.0 }.map { (time: $0.0, step: $0.1) }
  }()

  /// Plays the run. A hub that dies is back after 30 s, and the rest of the run happens 30 s later.
  private func live(dyingAt death: BusTime?, downtime: Downtime = .paused, recovery: RecoveryChoice = .resume) -> Result
  {
    var hub = HubStage.with("watch")
    var written: [StoreOperation] = []
    var shift = BusDuration.zero
    var sequence: UInt64 = 0
    var beats: [BusTime] = []
    func history(_ operations: [StoreOperation]) -> HubHistory {
      var disk = HubDisk()
      disk.commit(operations)
      return disk.history
    }
    func die(at death: BusTime) {
      hub.passes(to: death)
      written += hub.durable
      let past = history(written)
      hub = HubStage(history: past, now: death + Self.away, recovery: recovery, downtime: downtime)
      _ = hub.feed(.started)
      hub.commitsAll()
      _ = hub.feed(.opened(eventsEndpoint: "events"))
      _ = hub.hello("watch", nonce: 9)
      hub.commitsAll()
      shift = Self.away
      // The watch still has the readings that were not durable at the hub.
      let stream = StreamID(sender: HubStage.store("watch"), kind: .samples)
      let known = past.delivery.watermarks[stream]?.sequence ?? 0
      for (index, time) in beats.enumerated() where UInt64(index) >= known {
        _ = hub.beats("watch", 100 + Double(index), from: UInt64(index) + 1, age: hub.now - time)
      }
      hub.commitsAll()
    }
    for (time, step) in Self.steps {
      if let death, shift == .zero, death < time { die(at: death) }
      hub.passes(to: time + shift)
      switch step {
      case .press(let kind):
        sequence += 1
        _ = hub.sends("watch", hub.command(kind, by: "watch", id: 500 + sequence), sequence: sequence)
        hub.commitsAll()
      case .beat:
        beats.append(time + shift)
        _ = hub.beats("watch", 100 + Double(beats.count - 1), from: UInt64(beats.count))
      }
    }
    if let death, shift == .zero { die(at: death) }
    hub.passes(.seconds(10))
    written += hub.durable
    let end = history(written)
    let measured = end.journal.compactMap { if case .sample = $0.event { $0.time } else { nil } }
    return Result(
      transitions: end.transitions, beats: measured.sorted(), metrics: hub.core.authoritative.metrics)
  }

  /// Whether the run was running at a moment; a press counts even if it was accepted but not settled at the hub's
  /// death.
  private func isRunning(at moment: BusTime, in whole: Result) -> Bool {
    whole.transitions.last { $0.effectiveAt <= moment }?.kind.targetPhase == .running
  }

  private static let deaths = (0...33).map { BusTime.zero + .milliseconds($0 * 500 + 20) }

  @Test("A resumed run keeps every transition, lap and reading, and loses at most a tick of active time")
  func resuming() {
    let whole = live(dyingAt: nil)
    #expect(whole.transitions.map(\.revision) == [1, 2, 3, 4])
    #expect(whole.metrics.active == .milliseconds(11_800))
    for death in Self.deaths {
      let run = live(dyingAt: death)
      #expect(run.transitions.map(\.revision) == whole.transitions.map(\.revision), "\(death)")
      #expect(run.transitions.map(\.kind) == whole.transitions.map(\.kind), "\(death)")
      #expect(run.transitions.map(\.change) == whole.transitions.map(\.change), "\(death)")
      for (one, other) in zip(run.transitions, whole.transitions) {
        #expect(one.effectiveAt == other.effectiveAt + (other.effectiveAt > death ? Self.away : .zero), "\(death)")
      }
      #expect(run.beats == whole.beats.map { $0 > death ? $0 + Self.away : $0 }, "\(death)")
      #expect(run.metrics.lapCount == 1)
      let lost = whole.metrics.active - run.metrics.active
      #expect(.zero <= lost && lost <= .seconds(3), "\(death): \(lost)")
      if !isRunning(at: death, in: whole) { #expect(lost == .zero, "\(death)") }
    }
  }

  @Test("With downtime that counts nothing is lost at all")
  func downtimeRunning() {
    let whole = live(dyingAt: nil)
    for death in Self.deaths {
      let run = live(dyingAt: death, downtime: .running)
      let wasRunning = isRunning(at: death, in: whole)
      #expect(run.metrics.active == whole.metrics.active + (wasRunning ? Self.away : .zero), "\(death)")
      #expect(run.beats.count == whole.beats.count)
    }
  }

  @Test("A run that is finished ends at the hub's last sign of life, at most a tick before its death")
  func finishing() {
    for death in Self.deaths {
      let run = live(dyingAt: death, recovery: .finish)
      guard let stop = run.transitions.last(where: { $0.kind == .stop }) else {
        Issue.record("no stop after a death at \(death)")
        continue
      }
      #expect(run.transitions.map(\.revision) == Array(1...UInt64(run.transitions.count)), "\(death)")
      guard stop.change.source == .recovery else {
        #expect(stop.effectiveAt == .zero + .milliseconds(15_300))
        continue
      }
      #expect(stop.effectiveAt <= death, "\(death)")
      #expect(death - stop.effectiveAt <= .seconds(3), "\(death)")
      #expect(run.metrics.elapsed == stop.effectiveAt - .zero)
    }
  }
}
