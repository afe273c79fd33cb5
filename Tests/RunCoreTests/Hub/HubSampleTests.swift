import RunCore
import Testing

@Suite("A hub receives samples")
struct HubSampleTests {
  @Test("Samples count at once and are acknowledged only when they are durable")
  func ack() {
    var hub = HubStage.with("watch")
    hub.startRun()
    #expect(hub.beats("watch", 150, 151, from: 1) == [])
    hub.now = hub.now + .seconds(3)
    #expect(
      hub.feed(.deadline) == ["commit: watch 150 bpm at 0.5s, watch 151 bpm at 0.5s, samples to 2, clock"])
    let ticked = hub.commits()
    #expect(ticked == ["show 1.1.3 running", "publish 1.1.3 running", "watch ← samples to 2"])
    #expect(hub.core.authoritative.metrics.heartRateBpm == 151)
  }

  @Test("Samples after a gap are ignored, and known samples are acknowledged again")
  func gapAndResend() {
    var hub = HubStage.with("watch")
    hub.startRun()
    #expect(hub.beats("watch", 150, from: 2) == ["note"])
    #expect(hub.beats("watch", 150, from: 1) == [])
    // Known but not durable: the hub cannot acknowledge yet.
    #expect(hub.beats("watch", 150, from: 1) == [])
    hub.passes(.seconds(3))
    #expect(hub.beats("watch", 150, 160, from: 1) == ["watch ← samples to 1"])
    hub.passes(.seconds(3))
    #expect(hub.core.authoritative.metrics.heartRateBpm == 160)
    #expect(hub.durable.filter { NodeLines.line($0).contains("150 bpm") }.count == 1)
  }

  @Test("Before any run a sample is acknowledged and dropped")
  func beforeRun() {
    var hub = HubStage.with("watch")
    #expect(hub.beats("watch", 150, from: 1) == [])
    #expect(hub.passes(.seconds(3)) == ["commit: samples to 1", "watch ← samples to 1"])
    hub.startRun()
    #expect(hub.core.authoritative.metrics.heartRateBpm == nil)
  }

  @Test("A sample with an offset in the run gets that time, whenever it arrives")
  func runOffset() {
    var hub = HubStage.with("watch")
    hub.startRun()
    hub.passes(.seconds(20))
    func sample(_ sequence: UInt64, _ offset: BusDuration) -> PeerMessage {
      .samples([
        SampleTransmission(sequence: sequence, moment: .runOffset(offset), value: .heartRate(bpm: 140), runID: nil)
      ])
    }
    _ = hub.says("watch", sample(1, .seconds(7)))
    // Up to a second ahead is allowed, because a clock may be fast; more than that is rejected.
    _ = hub.says("watch", sample(2, .milliseconds(21_400)))
    _ = hub.says("watch", sample(3, .milliseconds(21_600)))
    _ = hub.feed(.sample(Sample(moment: .runOffset(.seconds(8)), value: .heartRate(bpm: 141))))
    hub.passes(.seconds(3))
    let samples = hub.durable.map(NodeLines.line).filter { $0.contains("bpm") }
    #expect(samples == ["watch 140 bpm at 7.0s", "watch 140 bpm at 21.4s", "phone 141 bpm at 8.0s"])
    #expect(hub.durable.map(NodeLines.line).contains("samples to 3"))
  }

  @Test("While the run is paused samples publish nothing, unless they belong to the time before the pause")
  func paused() {
    var hub = HubStage.with("watch")
    hub.startRun()
    _ = hub.beats("watch", 150, from: 1)
    hub.passes(.seconds(4))
    _ = hub.presses("watch", .pause)
    hub.commitsAll()
    hub.passes(.seconds(2))
    _ = hub.beats("watch", 100, from: 2)
    #expect(
      hub.passes(.seconds(4)) == ["commit: watch 100 bpm at 6.5s, samples to 2", "watch ← samples to 2"])
    _ = hub.beats("watch", 160, from: 3, age: .seconds(8))
    #expect(
      hub.passes(.seconds(4)) == [
        "commit: watch 160 bpm at 2.5s, samples to 3, clock", "show 1.2.5 paused", "publish 1.2.5 paused",
        "watch ← samples to 3",
      ])
    #expect(hub.core.authoritative.metrics.maxHeartRateBpm == 160)
    #expect(hub.core.deadline.map { $0 > hub.now + .seconds(1) } != false)
  }

  @Test("Samples measured after the stop are not part of the run")
  func afterStop() {
    var hub = HubStage.with("watch")
    hub.startRun()
    _ = hub.presses("watch", .stop)
    hub.commitsAll()
    hub.passes(.seconds(1))
    _ = hub.beats("watch", 150, from: 1)
    _ = hub.beats("watch", 160, from: 2, age: .milliseconds(1200))
    let lines = hub.passes(.seconds(3))
    #expect(
      lines == [
        "commit: watch 160 bpm at 0.3s, samples to 2, clock", "show 1.2.4 completed", "publish 1.2.4 completed",
        "kept run 1v2", "watch ← pong 0 at 1.2.4, records to 1.2", "watch ← samples to 2",
      ])
  }

  @Test("A reading of the moment of the stop is shown, though it arrives after the stop", arguments: [true, false])
  func atTheStop(isOwn: Bool) {
    var hub = HubStage.with("watch")
    hub.startRun()
    hub.passes(.seconds(4))
    _ = hub.presses("watch", .stop)
    hub.commitsAll()
    hub.passes(.seconds(1))
    let offset = hub.core.authoritative.metrics.elapsed
    if isOwn {
      _ = hub.feed(.sample(Sample(moment: .runOffset(offset), value: .heartRate(bpm: 170))))
    } else {
      _ = hub.says(
        "watch",
        .samples([
          SampleTransmission(sequence: 1, moment: .runOffset(offset), value: .heartRate(bpm: 170), runID: nil)
        ]))
    }
    hub.passes(.seconds(3))
    #expect(hub.core.authoritative.phase == .completed)
    #expect(hub.core.authoritative.metrics.maxHeartRateBpm == 170)
  }

  @Test("Samples of a run whose start is pending are accepted after its verdict")
  func beforeVerdict() {
    var hub = HubStage.with("watch")
    let start = hub.command(.start, by: "watch")
    _ = hub.sends("watch", start)
    hub.commitsAll()
    let sample = SampleTransmission(
      sequence: 1, moment: .age(.zero), value: .heartRate(bpm: 150), runID: start.runID)
    #expect(hub.says("watch", .samples([sample])) == [])
    hub.passes(.milliseconds(500))
    var resent = sample
    resent.moment = .age(.milliseconds(500))
    #expect(hub.says("watch", .samples([resent])) == [])
    hub.passes(.seconds(3))
    #expect(hub.durable.map(NodeLines.line).filter { $0.contains("bpm") } == ["watch 150 bpm at 0.0s"])
  }

  // Once broken: A device's readings were never accepted, because readings of a run whose start is not judged have to
  // wait.
  @Test("A held start delays the readings of its own device and of no other")
  func heldStart() {
    var hub = HubStage.opened()
    hub.now = .zero + .seconds(600)
    for peer in ["watch", "mallory"] { _ = hub.hello(peer) }
    hub.commitsAll()
    let start = hub.command(.start, by: "mallory")
    _ = hub.says(
      "mallory", .command(CommandTransmission(command: start, sequence: 1, age: .seconds(60), stopFollows: true)))
    hub.commitsAll()
    let sample = SampleTransmission(
      sequence: 1, moment: .age(.zero), value: .heartRate(bpm: 150), runID: start.runID)
    for peer in ["watch", "mallory"] { #expect(hub.says(peer, .samples([sample])) == []) }
    #expect(hub.passes(.seconds(3)) == ["commit: samples to 1", "watch ← samples to 1"])
  }

  @Test("A sample that names the last run but was measured in the present one belongs to the present one")
  func staleRun() {
    var hub = HubStage.with("watch", debounce: .zero)
    _ = hub.presses("watch", .start)
    let first = RunID(high: 9, low: 1)
    hub.commitsAll()
    hub.passes(.seconds(1))
    _ = hub.presses("watch", .stop)
    hub.passes(.seconds(1))
    _ = hub.presses("watch", .start)
    hub.commitsAll()
    hub.passes(.seconds(1))
    for (sequence, age) in [(UInt64(1), BusDuration.zero), (2, .milliseconds(1500)), (3, .milliseconds(2500))] {
      let sample = SampleTransmission(
        sequence: sequence, moment: .age(age), value: .heartRate(bpm: Double(sequence) * 50), runID: first)
      _ = hub.says("watch", .samples([sample]))
    }
    hub.passes(.seconds(3))
    let entries = hub.durable.compactMap { operation -> String? in
      guard case .append(let run, let entry) = operation, case .sample = entry.event else { return nil }
      return "\(run == first ? "first" : "second") \(NodeLines.line(entry))"
    }
    // The sample between the runs belongs to neither.
    #expect(entries == ["second watch 50 bpm at 3.0s", "first watch 150 bpm at 0.5s"])
  }

  @Test("A full run accepts no more readings and says so once; presses and the next run continue")
  func fullRun() {
    var hub = HubStage.opened(ledgerEntriesMax: 4)
    _ = hub.hello("watch")
    hub.startRun()
    #expect(hub.beats("watch", 140, 141, 142, 143, 144, from: 1) == ["note"])
    #expect(hub.beats("watch", 145, from: 6) == [])
    #expect(hub.feed(.sample(Sample(moment: .at(hub.now), value: .heartRate(bpm: 150)))) == [])
    // Acknowledged and dropped, so that nobody sends them again.
    #expect(hub.passes(.seconds(3)).contains("watch ← samples to 6"))
    func entries() -> Int { hub.durable.count { if case .append = $0 { true } else { false } } }
    #expect(entries() == 4)
    _ = hub.presses("watch", .pause)
    hub.passes(.seconds(1))
    hub.commitsAll()
    #expect(hub.core.authoritative.phase == .paused)
    _ = hub.presses("watch", .stop)
    hub.passes(.seconds(1))
    _ = hub.presses("watch", .start)
    hub.passes(.seconds(1))
    hub.commitsAll()
    #expect(hub.core.authoritative.phase == .running)
    #expect(hub.beats("watch", 150, from: 7) == [])
    hub.passes(.seconds(3))
    #expect(hub.core.authoritative.metrics.heartRateBpm == 150)
  }

  // Once broken: Readings that name a run which is over had no bound: 4 million of one connection made a record of 447
  // MB, because only the present run was counted.
  @Test("A hub accepts a bounded number of late readings for a run that is over")
  func pastReadings() {
    var hub = HubStage.opened(debounce: .zero, pastReadingsMax: 3)
    _ = hub.hello("watch")
    hub.startRun()
    let first = RunID(high: 9, low: 1)
    hub.passes(.seconds(1))
    _ = hub.presses("watch", .stop)
    hub.passes(.seconds(1))
    _ = hub.presses("watch", .start)
    hub.passes(.seconds(1))
    for sequence in 1...9 as ClosedRange<UInt64> {
      let sample = SampleTransmission(
        sequence: sequence, moment: .runOffset(.milliseconds(100)), value: .heartRate(bpm: 150), runID: first)
      _ = hub.says("watch", .samples([sample]))
    }
    #expect(hub.passes(.seconds(6)).contains("watch ← samples to 9"))
    #expect(hub.journal(of: first).count { if case .sample = $0.event { true } else { false } } == 3)
  }

  @Test("While its store is far behind, a hub accepts no more samples")
  func congested() {
    var hub = HubStage.with("watch")
    hub.startRun()
    _ = hub.presses("watch", .lap)
    let failing = hub.inFlight!.id
    _ = hub.feed(.commitFailed(failing))
    var sequence: UInt64 = 1
    for _ in 0..<240 {
      let samples = (0..<256).map {
        SampleTransmission(
          sequence: sequence + $0, moment: .age(.zero), value: .cadence(stepsPerMinute: 170), runID: nil)
      }
      sequence += 256
      _ = hub.says("watch", .samples(samples))
      while let deadline = hub.core.deadline, deadline <= hub.now { _ = hub.feed(.deadline) }
    }
    #expect(hub.beats("watch", 150, from: 60_001) == [])
    #expect(hub.feed(.sample(Sample(moment: .at(hub.now), value: .heartRate(bpm: 150)))) == ["note"])
    hub.commitsAll()
    let appended = hub.durable.filter {
      if case .append(_, let entry) = $0, case .sample = entry.event { true } else { false }
    }
    #expect((50_000..<56_000).contains(appended.count))
  }
}
