import RunCore
import Testing

@Suite("A peer sends presses and samples until the hub has them")
struct PeerSendingTests {
  @Test("A press goes out at once and stays until its verdict")
  func press() {
    var peer = PeerStage.up()
    #expect(peer.presses(.start, id: 1) == ["send 1 start 0.0s"])
    #expect(peer.core.predicted == .running)
    #expect(peer.hub(peer.pending(.start, id: 1)) == ["start pending"])
    #expect(peer.hub(peer.pending(.start, id: 1)) == [])
    #expect(peer.core.unsettledCount == 1)
    #expect(peer.hub(peer.verdict(.start, id: 1, revision: 1)) == ["start applied 1"])
    #expect(peer.hub(peer.verdict(.start, id: 1, revision: 1)) == [])
    #expect(peer.core.unsettledCount == 0)
    // The verdict overtook the snapshot: the button must not jump back.
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
    var lines: [String] = []
    for _ in 0..<100 {
      lines += peer.passes(.seconds(1)).filter { $0.contains("pause") }
      _ = peer.hub(.pong(0, SnapshotOrder(term: 1, revision: 1, tick: 2)))
    }
    #expect(
      lines == [
        "2.0s send 1 pause 2.0s", "4.0s send 1 pause 4.0s", "8.0s send 1 pause 8.0s", "16.0s send 1 pause 16.0s",
        "32.0s send 1 pause 32.0s", "62.0s send 1 pause 62.0s", "92.0s send 1 pause 92.0s",
      ])
  }

  @Test("What was pressed out of reach goes out in order when the hub is back, each with its age")
  func offline() {
    var peer = PeerStage.up()
    _ = peer.feed(.linkDown)
    for (index, kind) in [CommandKind.start, .pause, .resume].enumerated() {
      #expect(peer.presses(kind, id: UInt64(index) + 1) == [])
      peer.now = peer.now + .seconds(10)
    }
    #expect(peer.core.predicted == .running)
    _ = peer.feed(.linkUp)
    let lines = peer.welcome(2, session: 2)
    #expect(
      lines == [
        "reachable", "subscribe events s", "send 1 start 30.0s", "send 2 pause 20.0s", "send 3 resume 10.0s",
      ])
    // The first was lost on the way, the link broke: all go again in order.
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    #expect(peer.welcome(3, session: 3).filter { $0.hasPrefix("send") }.count == 3)
  }

  @Test("Base and run are those that the person saw")
  func baseAndRun() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 4, 9, .running, run: 7, by: 70))
    _ = peer.presses(.pause, id: 1)
    #expect(peer.transmissions.last?.command.base == Base(revision: 4, commandID: CommandID(high: 4, low: 70)))
    #expect(peer.transmissions.last?.command.runID == RunID(high: 9, low: 7))
    // What somebody stated is left alone.
    var stated = peer.command(.pause, id: 2)
    stated.base = Base(revision: 2, commandID: nil)
    stated.runID = RunID(high: 9, low: 3)
    _ = peer.feed(.press(stated))
    #expect(peer.transmissions.last?.command == stated)
  }

  @Test("After its own start a peer speaks of the run that the start begins")
  func runOfOwnStart() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 4, 9, .completed, run: 7, by: 70))
    _ = peer.presses(.start, id: 1)
    _ = peer.presses(.pause, id: 2)
    let run = peer.transmissions[0].command.runID
    #expect(run == RunID(high: 4, low: 1))
    #expect(peer.transmissions[1].command.runID == run)
    _ = peer.feed(.sample(Sample(moment: .at(peer.now), value: .heartRate(bpm: 100))))
    #expect(peer.sampleTransmissions.last?.runID == run)
    // The start was somebody else's, too: the verdict says how the run is called, before any snapshot does.
    _ = peer.hub(
      peer.verdict(.start, id: 1, .coalesced(into: CommandID(high: 4, low: 71)), revision: 5, run: 8))
    _ = peer.presses(.resume, id: 3)
    #expect(peer.transmissions.last?.command.runID == RunID(high: 9, low: 8))
  }

  @Test("A sender of one command has seen nothing and says so")
  func oneShot() {
    var peer = PeerStage.up(isOneShot: true, PeerStage.snapshot(1, 4, 9, .running, run: 7, by: 70))
    #expect(peer.presses(.pause, id: 1) == ["send 1 pause 0.0s"])
    #expect(peer.transmissions.last?.command == peer.command(.pause, id: 1))
    #expect(peer.passes(.milliseconds(1900)) == [])
  }

  @Test("The same press given twice goes out once")
  func twice() {
    var peer = PeerStage.up()
    _ = peer.presses(.start, id: 1)
    #expect(peer.presses(.start, id: 1) == [])
    #expect(peer.core.unsettledCount == 1)
  }

  @Test("A full outbox refuses, with a verdict that says why")
  func fullOutbox() {
    var peer = PeerStage.up()
    _ = peer.feed(.linkDown)
    for id in 1...1024 { _ = peer.presses(.lap, id: UInt64(id)) }
    #expect(peer.core.isOutboxFull)
    #expect(peer.presses(.stop, id: 2000) == ["stop busy 0"])
    #expect(peer.core.unsettledCount == 1024)
  }

  @Test("Samples go out at once, stay until they are acknowledged, and go out again")
  func samples() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 1, 2, .running, run: 7))
    let sample = Sample(moment: .at(peer.now - .seconds(1)), value: .heartRate(bpm: 150))
    #expect(peer.feed(.sample(sample)) == ["send samples 1"])
    #expect(peer.sampleTransmissions.last?.moment == .age(.seconds(1)))
    #expect(peer.sampleTransmissions.last?.runID == RunID(high: 9, low: 7))
    #expect(
      peer.feed(.sample(Sample(moment: .runOffset(.seconds(4)), value: .heartRate(bpm: 151)))) == ["send samples 2"])
    #expect(peer.sampleTransmissions.last?.moment == .runOffset(.seconds(4)))
    #expect(peer.hub(.samplesAcked(1)) == [])
    #expect(peer.core.spooledCount == 1)
    var lines: [String] = []
    for _ in 0..<10 {
      lines += peer.passes(.seconds(1)).filter { $0.contains("samples") }
      _ = peer.hub(.pong(0, SnapshotOrder(term: 1, revision: 1, tick: 2)))
    }
    #expect(lines == ["10.0s send samples 2"])
    _ = peer.hub(.samplesAcked(2))
    #expect(peer.core.spooledCount == 0)
  }

  @Test("A spool of any length goes out in frames of 256, and is bounded")
  func spool() {
    var peer = PeerStage.up()
    _ = peer.feed(.linkDown)
    let sample = Sample(moment: .at(peer.now), value: .cadence(stepsPerMinute: 170))
    for _ in 0..<36_000 { _ = peer.feed(.sample(sample)) }
    #expect(peer.core.isSpoolFull)
    #expect(peer.feed(.sample(sample)) == ["note"])
    _ = peer.feed(.linkUp)
    // The hub has the first thousand.
    let frames = peer.welcome(2, session: 2, samples: 1000).filter { $0.hasPrefix("send samples") }
    #expect(frames.count == 137)
    #expect(frames.first?.hasPrefix("send samples 1001 1002") == true)
    #expect(peer.core.spooledCount == 35_000)
  }

  @Test("A full link is tried again soon")
  func sendFailed() {
    var peer = PeerStage.up()
    _ = peer.presses(.start, id: 1)
    _ = peer.feed(.sendFailed)
    #expect(peer.passes(.milliseconds(300)) == ["0.2s send 1 start 0.2s"])
  }

  @Test("A hub with another store, or one that lost what came last, is served from where it stands")
  func renumbering() {
    var peer = PeerStage.up()
    for id in 1...3 { _ = peer.presses(.lap, id: UInt64(id)) }
    for id in 1...2 { _ = peer.hub(peer.verdict(.lap, id: UInt64(id), revision: 0)) }
    for _ in 0..<3 { _ = peer.feed(.sample(Sample(moment: .at(peer.now), value: .heartRate(bpm: 1)))) }
    _ = peer.hub(.samplesAcked(2))
    peer.forgetSent()
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    // A hub that knows nothing of this peer.
    _ = peer.welcome(2, session: 2, PeerStage.snapshot(2, 0, 1))
    _ = peer.presses(.lap, id: 4)
    #expect(peer.transmissions.map(\.sequence) == [1, 2])
    #expect(peer.sampleTransmissions.map(\.sequence) == [1])
  }

  @Test("The verdict on a command that was not applied leaves the prediction at once")
  func rejected() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 1, 2, .running))
    _ = peer.presses(.pause, id: 1)
    #expect(peer.core.predicted == .paused)
    _ = peer.hub(peer.verdict(.pause, id: 1, .rejected(.staleRevision), revision: 2))
    #expect(peer.core.predicted == .running)
  }
}
