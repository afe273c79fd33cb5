import Simulation
import Testing

@testable import RunCore

@Suite("A peer sends presses and samples until the hub has them")
struct PeerSendingTests {
  @Test("A press is durable before it goes out, and stays until its verdict")
  func press() {
    var peer = PeerStage.up()
    #expect(peer.feed(.press(peer.command(.start, id: 1))) == ["commit: owe commands 1"])
    #expect(peer.core.predicted == .running)
    #expect(peer.commit() == ["start queued", "send 1 start 0.0s"])
    #expect(peer.hub(.delivery(.acknowledge(.commands, through: 1))) == ["start pending"])
    #expect(peer.hub(.delivery(.acknowledge(.commands, through: 1))) == [])
    #expect(peer.core.unjudgedCount == 1)
    #expect(peer.hub(peer.verdict(.start, id: 1, at: 1, revision: 1)) == ["start applied 1"])
    // The verdict is known but not durable here: the hub keeps it.
    #expect(peer.hub(peer.verdict(.start, id: 1, at: 1, revision: 1)) == ["send verdicts to 0"])
    #expect(peer.core.unjudgedCount == 0)
    #expect(
      peer.passes(.milliseconds(250)) == [
        "0.25s commit: acknowledged commands 1, remove commands 1, verdicts to 1"
      ])
    #expect(peer.commit() == ["send verdicts to 1"])
    #expect(peer.hub(peer.verdict(.start, id: 1, at: 1, revision: 1)) == ["send verdicts to 1"])
    // The verdict came before the snapshot: the predicted phase must not go back.
    #expect(peer.core.authoritative.phase == .idle)
    #expect(peer.core.predicted == .running)
    _ = peer.publishes(PeerStage.snapshot(1, 1, 2, .running))
    _ = peer.publishes(PeerStage.snapshot(1, 2, 3, .paused))
    #expect(peer.core.predicted == .paused)
  }

  @Test("Without an answer a press goes out again after 2, 4, 8, 16, then every 30 seconds, its age restated")
  func retries() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 1, 2, .running))
    _ = peer.presses(.pause, id: 1)
    var before = peer.now
    for wait in [2, 4, 8, 16, 30, 30, 30] as [Int64] {
      let due = peer.core.outbox.retryAt!
      #expect((wait * 750...wait * 1250).contains((due - before).nanoseconds / 1_000_000))
      var lines: [String] = []
      while peer.now < due {
        lines += peer.passes(to: min(due, peer.now + .seconds(1)))
        _ = peer.hub(.pong(0, SnapshotOrder(term: 1, revision: 1, tick: 2)))
        peer.commits()
      }
      #expect(lines.filter { $0.contains("pause") }.count == 1)
      #expect(peer.transmissions.last?.age == due - .zero)
      before = due
    }
    // The next incarnation knows how often it was sent.
    _ = peer.passes(.milliseconds(250))
    peer.commits()
    #expect(peer.disk.history.delivery.rows.map(\.tries) == [8])
  }

  @Test("Presses made out of reach go out in order when the hub is back, each with its age")
  func offline() {
    var peer = PeerStage.up()
    _ = peer.feed(.linkDown)
    for (index, kind) in [CommandKind.start, .pause, .resume].enumerated() {
      #expect(peer.presses(kind, id: UInt64(index) + 1) == ["\(kind.rawValue) queued"])
      peer.now = peer.now + .seconds(10)
    }
    #expect(peer.core.predicted == .running)
    _ = peer.feed(.linkUp)
    // A command that may have been sent cannot be cancelled, so the mark of sending is durable first.
    #expect(
      peer.welcome(session: 2) == ["reachable", "subscribe events s", "fresh 0.0s", "commit: try commands 1...3"])
    #expect(peer.commit() == ["send 1 start 30.0s", "send 2 pause 20.0s", "send 3 resume 10.0s"])
    // The first was lost and the link broke: all are sent again in order.
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    #expect(peer.welcome(session: 3).filter { $0.hasPrefix("send") }.count == 3)
  }

  @Test("A press carries the base and the run that the person saw")
  func baseAndRun() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 4, 9, .running, run: 7, by: 70))
    _ = peer.presses(.pause, id: 1)
    #expect(
      peer.transmissions.last?.command.base == ObservedRevision(revision: 4, commandID: CommandID(high: 4, low: 70)))
    #expect(peer.transmissions.last?.command.runID == RunID(high: 9, low: 7))
    // A base that the app stated is not replaced.
    var stated = peer.command(.pause, id: 2)
    stated.base = ObservedRevision(revision: 2, commandID: nil)
    stated.runID = RunID(high: 9, low: 3)
    _ = peer.feed(.press(stated))
    peer.commits()
    #expect(peer.transmissions.last?.command == stated)
  }

  @Test("After its own start a peer names the run that the start begins")
  func runOfOwnStart() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 4, 9, .completed, run: 7, by: 70))
    _ = peer.presses(.start, id: 1)
    _ = peer.presses(.pause, id: 2)
    let run = peer.transmissions[0].command.runID
    #expect(run == RunID(high: 4, low: 1))
    #expect(peer.transmissions[1].command.runID == run)
    _ = peer.feed(.sample(Sample(moment: .at(peer.now), value: .heartRate(bpm: 100))))
    peer.commits()
    // A hub that has not judged the start does not know the run, and drops its readings.
    _ = peer.hub(.delivery(.acknowledge(.commands, through: 1)))
    #expect(peer.sampleTransmissions.isEmpty)
    // Another device had started the run: the verdict names it before any snapshot does.
    _ = peer.hub(
      peer.verdict(.start, id: 1, at: 1, .coalesced(into: CommandID(high: 4, low: 71)), revision: 5, run: 8))
    #expect(peer.sampleTransmissions.map(\.runID) == [run])
    _ = peer.presses(.resume, id: 3)
    #expect(peer.transmissions.last?.command.runID == RunID(high: 9, low: 8))
  }

  // Once broken: A store was found damaged just after it had taken a press. The app's press was given to the new core,
  // which had it already and said nothing: the app waited for an answer until the hub came.
  @Test("The same press given twice goes out once, and is told to be kept each time")
  func twice() {
    var peer = PeerStage.up()
    #expect(peer.presses(.start, id: 1) == ["start queued", "send 1 start 0.0s"])
    #expect(peer.presses(.start, id: 1) == ["start queued"])
    #expect(peer.core.unjudgedCount == 1)
  }

  @Test("A full outbox refuses, with a verdict that says why")
  func fullOutbox() {
    var peer = PeerStage.up()
    _ = peer.feed(.linkDown)
    for id in 1...1024 { _ = peer.feed(.press(peer.command(.lap, id: UInt64(id)))) }
    #expect(peer.core.isOutboxFull)
    #expect(peer.feed(.press(peer.command(.stop, id: 2000))) == ["stop busy 0"])
    #expect(peer.core.unjudgedCount == 1024)
  }

  @Test("Samples go out with reserved sequence numbers, stay until they are acknowledged, and are sent again")
  func samples() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 1, 2, .running, run: 7))
    let sample = Sample(moment: .at(peer.now - .seconds(1)), value: .heartRate(bpm: 150))
    #expect(peer.feed(.sample(sample)) == ["commit: reserve samples 4096"])
    #expect(peer.commit() == ["send samples 1"])
    #expect(peer.sampleTransmissions.last?.moment == .age(.seconds(1)))
    #expect(peer.sampleTransmissions.last?.runID == RunID(high: 9, low: 7))
    #expect(
      peer.feed(.sample(Sample(moment: .runOffset(.seconds(4)), value: .heartRate(bpm: 151)))) == ["send samples 2"])
    #expect(peer.sampleTransmissions.last?.moment == .runOffset(.seconds(4)))
    #expect(peer.hub(.delivery(.acknowledge(.samples, through: 1))) == [])
    #expect(peer.core.spooledCount == 1)
    let due = peer.core.outbox.retryAt!
    #expect((.seconds(7)...(.seconds(13))).contains(due - peer.now))
    var lines: [String] = []
    while peer.now < due {
      lines += peer.passes(to: min(due, peer.now + .seconds(1))).filter { $0.contains("samples") }
      _ = peer.hub(.pong(0, SnapshotOrder(term: 1, revision: 1, tick: 2)))
    }
    // Samples that are not acknowledged after three seconds are written to the disk.
    #expect(lines.count == 2)
    #expect(lines.first == "3.0s commit: owe samples 2")
    #expect(lines.last?.hasSuffix("send samples 2") == true)
    _ = peer.hub(.delivery(.acknowledge(.samples, through: 2)))
    #expect(peer.core.spooledCount == 0)
  }

  @Test("A spool of any length goes out in frames of 256, 8192 ahead of the acknowledgement, and is bounded")
  func spool() {
    var peer = PeerStage.up()
    _ = peer.feed(.linkDown)
    let sample = Sample(moment: .at(peer.now), value: .cadence(stepsPerMinute: 170))
    for _ in 0..<36_000 { _ = peer.feed(.sample(sample)) }
    #expect(peer.core.isSpoolFull)
    #expect(peer.feed(.sample(sample)) == ["note"])
    _ = peer.passes(.seconds(4))
    peer.commits()
    _ = peer.feed(.linkUp)
    // The hub has the first thousand samples.
    let mark = StreamMark(sequence: 1000)
    let frames = peer.welcome(session: 2, received: [.samples: mark]).filter { $0.hasPrefix("send samples") }
    #expect(frames.first?.hasPrefix("send samples 1001 1002") == true)
    #expect(peer.core.spooledCount == 35_000)
    #expect(peer.sampleTransmissions.count == 8192)
    var acknowledged: UInt64 = 1000
    for _ in 0..<20 where peer.core.spooledCount > 0 {
      acknowledged = peer.sampleTransmissions.last!.sequence
      _ = peer.hub(.delivery(.acknowledge(.samples, through: acknowledged)), session: 2)
    }
    #expect(peer.core.spooledCount == 0)
    let sequences = peer.sampleTransmissions.map(\.sequence)
    #expect(sequences.count == 35_000)
    #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 })
    #expect(peer.disk.faults.isEmpty)
  }

  // Once broken: 500 readings that were added together went out as 403 frames, because the peer sent after each reading
  // of the array.
  @Test("Readings that are added together go out in one frame")
  func readingsTogether() {
    var peer = PeerStage.up()
    _ = peer.feed(.sample(Sample(moment: .at(peer.now), value: .heartRate(bpm: 119))))
    peer.commits()
    peer.forgetSent()
    let readings = (0..<5).map { Sample(moment: .at(peer.now), value: .heartRate(bpm: 120 + Double($0))) }
    let lines = peer.feed(.samples(readings))
    #expect(lines.count { $0.hasPrefix("send samples") } == 1)
    #expect(peer.sampleTransmissions.map(\.sequence) == [2, 3, 4, 5, 6])
  }

  @Test("A full link is tried again soon")
  func sendFailed() {
    var peer = PeerStage.up()
    _ = peer.presses(.start, id: 1)
    _ = peer.feed(.sendFailed)
    #expect(peer.passes(.milliseconds(250)).contains { $0.contains("send 1 start 0.") })
  }

  @Test("A hub with another store gets what is unacknowledged, from a new store")
  func anotherHub() {
    var peer = PeerStage.up()
    for id in 1...3 { _ = peer.presses(.lap, id: UInt64(id)) }
    for id in 1...2 { _ = peer.hub(peer.verdict(.lap, id: UInt64(id), at: UInt64(id), revision: 0)) }
    for _ in 0..<3 { _ = peer.feed(.sample(Sample(moment: .at(peer.now), value: .heartRate(bpm: 1)))) }
    peer.commits()
    _ = peer.hub(.delivery(.acknowledge(.samples, through: 2)))
    peer.forgetSent()
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    // This hub does not know the peer.
    let other = StoreID(high: 1, low: 2)
    #expect(
      peer.welcome(session: 2, PeerStage.snapshot(2, 0, 1), store: other) == [
        "met", "note",
        "commit: store, hub, forget verdicts, forget messages, rebind commands, rebind messages, drop samples, "
          + "owe samples 1, records to 0.0",
      ])
    #expect(peer.transmissions.isEmpty)
    #expect(peer.commit() == ["send hello seen 1"])
    #expect(peer.disk.storeID != PeerStage.storeID)
    _ = peer.welcome(session: 3, PeerStage.snapshot(2, 0, 1), store: other)
    peer.commits()
    _ = peer.presses(.lap, id: 4)
    #expect(peer.transmissions.map(\.sequence) == [1, 2])
    #expect(peer.transmissions.map(\.command.id.low) == [3, 4])
    #expect(peer.sampleTransmissions.map(\.sequence) == [1])
  }

  @Test("When the hub has less than it once acknowledged, a peer sends everything again from a new store id")
  func hubLost() {
    var peer = PeerStage.up()
    for id in 1...3 { _ = peer.presses(.lap, id: UInt64(id)) }
    _ = peer.hub(.delivery(.acknowledge(.commands, through: 2)))
    _ = peer.feed(.linkDown)
    _ = peer.passes(.seconds(1))
    peer.commits()
    #expect(peer.feed(.linkUp) == ["send hello seen 1, acknowledged commands 2"])
    let mark = StreamMark(sequence: 1, id: MessageID(high: 4, low: 1))
    #expect(peer.welcome(session: 2, received: [.commands: mark]).first == "note")
    #expect(peer.commit() == ["send hello seen 1"])
    peer.forgetSent()
    _ = peer.welcome(session: 3)
    peer.commits()
    #expect(peer.transmissions.map(\.command.id.low) == [1, 2, 3])
  }

  @Test("The prediction drops a command at once when the verdict refuses it")
  func rejected() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 1, 2, .running))
    _ = peer.presses(.pause, id: 1)
    #expect(peer.core.predicted == .paused)
    _ = peer.hub(peer.verdict(.pause, id: 1, at: 1, .rejected(.staleRevision), revision: 2))
    #expect(peer.core.predicted == .running)
  }
}
