import RunCore
import Simulation
import Testing

@Suite("A peer and the silence of its hub")
struct PeerFailureDetectionTests {
  private static let running = PeerStage.snapshot(1, 1, 2, .running, run: 7)

  /// A peer that shows a running run; it has just heard the hub.
  private static func running(_ snapshot: Snapshot = Self.running) -> PeerStage { .up(snapshot) }

  /// The lines about the hub's silence, without attempts to reconnect.
  private func told(_ lines: [String]) -> [String] {
    let words = ["stale", "fresh", "off duty", "hub lost", "alarmed", "armed", "dismissed"]
    return lines.filter { line in !line.contains("hello") && words.contains { line.contains($0) } }
  }

  /// A peer that shows a running run and whose link has been down for `duration`.
  private static func silent(for duration: BusDuration) -> PeerStage {
    var peer = running()
    _ = peer.feed(.linkDown)
    _ = peer.passes(duration)
    return peer
  }

  /// The next incarnation of a peer, with what its disk holds.
  private static func nextLife(of peer: PeerStage) -> PeerStage {
    var next = PeerStage(peer.disk, now: peer.now)
    _ = next.feed(.started)
    next.commits()
    return next
  }

  /// The hub's next incarnation is heard and dies too: one more alarm.
  private func losesTheNextHub(_ peer: inout PeerStage) {
    _ = peer.feed(.linkUp)
    #expect(told(peer.welcome(session: 2, PeerStage.snapshot(2, 1, 1, .running, run: 7))).contains("fresh 0.0s"))
    peer.commits()
    _ = peer.feed(.linkDown)
    _ = peer.passes(.seconds(599))
    peer.commits()
    #expect(told(peer.passes(.seconds(1))).count == 1)
  }

  private func pong(_ peer: inout PeerStage) -> [String] {
    let lines = peer.hub(.pong(0, peer.core.authoritative.order), session: 1)
    return told(lines)
  }

  @Test("When the hub dies during a run, the view is stale after three beats and one alarm comes after ten minutes")
  func death() {
    var peer = Self.running()
    _ = peer.feed(.linkDown)
    #expect(told(peer.passes(.seconds(599))) == ["6.0s stale 6.0s"])
    #expect(told(peer.passes(.seconds(1))) == ["600.0s commit: alarmed"])
    #expect(peer.commits() == ["hub lost: run 7 at 1.1.2, phone silent for 600.0s"])
    #expect(told(peer.passes(.seconds(86_400))) == [])
    // Nothing is left to wait for.
    #expect(peer.core.deadline == nil)
    #expect(peer.core.lastHubLost?.silence == .seconds(600))
  }

  @Test("A view is stale after three beats: six seconds while a run is on, thirty otherwise")
  func beats() {
    var idle = PeerStage.up()
    #expect(told(idle.passes(.seconds(3600))) == ["30.0s stale 30.0s"])
    var paused = Self.running(PeerStage.snapshot(1, 1, 2, .paused, run: 7))
    #expect(told(paused.passes(.seconds(599))) == ["6.0s stale 6.0s"])
    #expect(told(paused.passes(.seconds(1))) == ["600.0s commit: alarmed"])
  }

  @Test("In a long pause the view is stale after three of the slow beats, and a healthy hub raises no alarm")
  func longPause() {
    var peer = PeerStage(hubLostAfter: .seconds(7))
    _ = peer.feed(.started)
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 1, PeerStage.snapshot(1, 1, 2, .paused, run: 7))
    peer.commits()
    for _ in 0..<100 {
      #expect(told(peer.passes(.seconds(2))) == [])
      _ = peer.answersPing()
    }
    _ = peer.feed(.linkDown)
    let heardAt = peer.core.heardAt!
    #expect(told(peer.passes(to: heardAt + .milliseconds(29_999))) == [])
    #expect(told(peer.passes(.milliseconds(1))).count == 2)
  }

  @Test("There is no alarm before a run was started, nor after the hub has told that it is over")
  func withoutARun() {
    var peer = Self.running()
    _ = peer.publishes(PeerStage.snapshot(1, 2, 3, .completed, run: 7))
    _ = peer.feed(.linkDown)
    // The peer has told the hub of no longer interval than that of the run.
    #expect(told(peer.passes(.seconds(86_400))) == ["6.0s stale 6.0s"])
  }

  @Test("A hub that is heard again makes the view fresh, and its next silence has an alarm of its own")
  func rearmed() {
    var peer = Self.silent(for: .seconds(600))
    peer.commits()
    _ = peer.feed(.linkUp)
    #expect(told(peer.welcome(session: 2, Self.running)) == ["fresh 0.0s"])
    #expect(told(peer.passes(.seconds(5))) == ["600.25s commit: armed"])
    peer.commits()
    _ = peer.feed(.linkDown)
    _ = peer.passes(to: .zero + .seconds(1199))
    #expect(told(peer.passes(.seconds(1))) == ["1200.0s commit: alarmed"])
    #expect(peer.commits() == ["hub lost: run 7 at 1.1.2, phone silent for 600.0s"])
  }

  @Test("A slow hub makes the view stale but raises no alarm: each frame restarts the count")
  func slow() {
    var peer = Self.running()
    for _ in 0..<4 {
      #expect(told(peer.passes(.seconds(500))).map { $0.contains("stale 6.0s") } == [true])
      // After so long without an answer the peer says hello again, and the welcome counts as a frame heard.
      #expect(told(peer.welcome(session: 1, Self.running)) == ["fresh 0.0s"])
    }
    #expect(peer.core.lastHubLost == nil)
  }

  @Test("A hub whose disk is stuck answers pings, and is neither stale nor lost")
  func stuckDisk() {
    var peer = Self.running()
    for _ in 0..<900 {
      #expect(told(peer.passes(.seconds(2))) == [])
      #expect(pong(&peer) == [])
    }
  }

  @Test("A hub that refuses is alive")
  func refusals() {
    var peer = Self.running()
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    for _ in 0..<5 {
      #expect(!told(peer.passes(.seconds(400))).contains { $0.contains("alarmed") })
      _ = peer.hub(.refused(Refusal(code: .busy, message: "full")), session: 0)
    }
  }

  @Test("A later incarnation does not repeat the alarm of a silence, but raises one for the next silence")
  func restart() {
    var peer = Self.silent(for: .seconds(600))
    peer.commits()
    var next = Self.nextLife(of: peer)
    #expect(told(next.passes(.seconds(7200))) == [])
    #expect(next.core.lastHubLost?.runID == RunID(high: 9, low: 7))
    losesTheNextHub(&next)
  }

  @Test("An incarnation that begins in a silence without an alarm waits ten minutes of its own")
  func lateLife() {
    var peer = Self.silent(for: .seconds(400))
    peer.commits()
    var next = Self.nextLife(of: peer)
    // What it shows is of an earlier incarnation, and so it is stale from the first moment.
    #expect(next.core.viewState(at: next.now) == ViewState(age: nil, isStale: true, isHubOffDuty: false))
    #expect(told(next.passes(.seconds(599))) == [])
    #expect(told(next.passes(.seconds(1))) == ["1000.0s commit: alarmed"])
    #expect(next.commits() == ["hub lost: run 7 at 1.1.2, phone silent for 600.0s"])
  }

  @Test("A peer that is killed before its alarm is durable has not told it, and its next incarnation does")
  func killedBefore() {
    var peer = Self.running()
    _ = peer.feed(.linkDown)
    #expect(!peer.passes(.seconds(600)).contains { $0.contains("hub lost") })
    var next = Self.nextLife(of: peer)
    _ = next.passes(.seconds(600))
    #expect(next.commits() == ["hub lost: run 7 at 1.1.2, phone silent for 600.0s"])
  }

  @Test("A full disk neither silences the alarm nor doubles it")
  func fullDisk() throws {
    var peer = Self.silent(for: .seconds(600))
    let flight = try #require(peer.flight)
    #expect(peer.feed(.commitFailed(flight)) == ["hub lost: run 7 at 1.1.2, phone silent for 600.0s"])
    #expect(told(peer.passes(.seconds(60))).allSatisfy { $0.contains("commit: alarmed") })
    #expect(peer.commits() == [])
  }

  @Test("When a disk stalls through two silences, the first alarm's commit does not tell the second")
  func stalledDisk() {
    var peer = Self.silent(for: .seconds(600))
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 2, Self.running)
    _ = peer.feed(.linkDown)
    _ = peer.passes(.seconds(700))
    #expect(peer.commit().filter { $0.contains("hub lost") } == [])
    #expect(peer.commits().filter { $0.contains("hub lost") }.count == 1)
  }

  @Test("A hub that is heard before the alarm is durable is not lost")
  func heardInTime() {
    var peer = Self.silent(for: .seconds(600))
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 2, Self.running)
    #expect(!peer.commits().contains { $0.contains("hub lost") })
    _ = peer.passes(.seconds(1))
    peer.commits()
    #expect(peer.core.lastHubLost == nil)
    #expect(peer.disk.history.failureMark == HubFailureMark())
  }

  @Test("After a goodbye the view says so at once, and no alarm comes, not even in a later incarnation")
  func goodbye() {
    var peer = Self.running()
    #expect(peer.hub(.goodbye) == ["unreachable", "off duty 0.0s", "commit: dismissed"])
    peer.commits()
    #expect(peer.feed(.linkDown) == [])
    #expect(told(peer.passes(.seconds(86_400))) == [])
    var next = PeerStage(peer.disk, now: peer.now)
    #expect(told(next.feed(.started)) == ["off duty"])
    next.commits()
    #expect(told(next.passes(.seconds(86_400))) == [])
    // The alarm is armed again once the hub is back.
    losesTheNextHub(&next)
  }

  @Test("A goodbye counts after the link is known to be down, and while a hello waits for its answer")
  func lateGoodbye() {
    var down = Self.running()
    _ = down.feed(.linkDown)
    #expect(down.hub(.goodbye) == ["off duty 0.0s", "commit: dismissed"])
    var greeting = Self.running()
    _ = greeting.passes(.seconds(6))
    #expect(told(greeting.hub(.goodbye)) == ["off duty 6.0s", "commit: dismissed"])
  }

  // Once broken: The hub-lost alarm came although the hub had said goodbye, because the goodbye named an earlier
  // session.
  @Test("A goodbye to an earlier session counts within one incarnation; to one of an earlier, only without a session")
  func goodbyeToAnEarlierSession() {
    let life: UInt64 = 2 << 32
    var peer = Self.running()
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: life + 2, Self.running)
    peer.commits()
    #expect(peer.hub(.goodbye, session: 1 << 32 + 9) == ["note"])
    #expect(told(peer.passes(.seconds(5))) == [])
    var up = peer
    #expect(up.hub(.goodbye, session: life + 1) == ["unreachable", "off duty 5.0s", "commit: dismissed"])
    up.commits()
    #expect(told(up.passes(.seconds(86_400))) == [])
    // After another welcome the peer finds that it has lost history, and first resets its store id.
    var renewing = peer
    _ = renewing.feed(.linkDown)
    _ = renewing.feed(.linkUp)
    let unknown: [StreamID.Kind: StreamMark] = [.commands: StreamMark(sequence: 7)]
    _ = renewing.welcome(session: life + 3, Self.running, received: unknown)
    #expect(told(renewing.hub(.goodbye, session: life + 1)) == ["off duty 5.0s"])
    renewing.commits()
    #expect(told(renewing.passes(.seconds(86_400))) == [])
    // The next incarnation of the hub was not heard yet.
    var next = peer
    _ = next.feed(.linkDown)
    #expect(told(next.hub(.goodbye, session: 3 << 32 + 1)) == ["off duty 5.0s", "commit: dismissed"])
    // A hub that has lost its store counts terms from 1 again; a peer without a session believes it.
    var anew = peer
    _ = anew.feed(.linkDown)
    _ = anew.feed(.linkUp)
    #expect(told(anew.hub(.goodbye, session: 1 << 32 + 1)) == ["off duty 5.0s", "commit: dismissed"])
  }

  @Test("A goodbye before the alarm is durable: it is never told, and the disk forgets it")
  func goodbyeInTime() {
    var peer = Self.silent(for: .seconds(600))
    #expect(told(peer.hub(.goodbye)) == ["off duty 600.0s"])
    #expect(peer.commits().filter { !$0.hasPrefix("commit") } == [])
    #expect(peer.disk.history.failureMark == HubFailureMark(duty: .dismissed))
    #expect(peer.core.lastHubLost == nil)
  }

  @Test("A goodbye after the alarm was told: the view says so, and the alarm stays the last")
  func goodbyeTooLate() {
    var peer = Self.silent(for: .seconds(600))
    peer.commits()
    #expect(told(peer.hub(.goodbye)) == ["off duty 600.0s", "commit: dismissed"])
    peer.commits()
    #expect(peer.disk.history.failureMark.lastAlarm == peer.core.lastHubLost)
    #expect(peer.core.lastHubLost?.silence == .seconds(600))
  }

  @Test("After a goodbye on a live link the peer says hello now and then, and ignores old welcomes")
  func backOnTheSameLink() {
    var peer = Self.running()
    let old = peer.nonce
    _ = peer.hub(.goodbye)
    peer.commits()
    #expect(peer.welcome(old, session: 1, Self.running).first == "note")
    #expect(peer.passes(.seconds(7)).contains { $0.hasSuffix("send hello seen 1") })
    #expect(peer.welcome(session: 2, Self.running).first == "reachable")
  }

  @Test("Time that the peer was asleep is no silence, and afterwards the hub gets three beats")
  func ownSleep() {
    var peer = Self.silent(for: .seconds(300))
    // The device slept for a night: the clock counts it, but nobody could listen.
    peer.now = peer.now + .seconds(30_000)
    #expect(told(peer.feed(.deadline)) == [])
    #expect(told(peer.passes(.seconds(290))) == [])
    #expect(told(peer.passes(.seconds(15))).count == 1)

    var late = Self.silent(for: .seconds(599))
    late.now = late.now + .seconds(30_000)
    #expect(told(late.feed(.deadline)) == [])
    #expect(told(late.passes(.milliseconds(5900))) == [])
    #expect(told(late.passes(.milliseconds(200))).count == 1)
  }

  @Test("A peer that slept wakes without an alarm, and its view is stale until the hub is heard")
  func sleepsWell() {
    var peer = Self.running()
    peer.now = peer.now + .seconds(30_000)
    #expect(told(peer.feed(.deadline)) == ["stale 30000.0s"])
    #expect(told(peer.passes(.seconds(500))) == [])
  }

  @Test("While the peer is disconnected no silence is counted, though the view becomes stale")
  func suspended() {
    var peer = Self.running()
    #expect(peer.feed(.suspended) == ["unreachable"])
    #expect(told(peer.passes(.seconds(86_400))) == ["6.0s stale 6.0s"])
    _ = peer.feed(.resumed)
    #expect(told(peer.passes(.seconds(599))) == [])
    #expect(told(peer.passes(.seconds(1))).count == 1)
  }

  @Test("A limit shorter than three beats is raised to three beats")
  func shortLimit() {
    var peer = PeerStage(hubLostAfter: .seconds(2))
    _ = peer.feed(.started)
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 1, Self.running)
    peer.commits()
    _ = peer.feed(.linkDown)
    #expect(told(peer.passes(.milliseconds(5999))) == [])
    #expect(told(peer.passes(.milliseconds(1))) == ["6.0s stale 6.0s", "6.0s commit: alarmed"])
  }

  @Test("A hub that ends tells everybody who is there, once everything is durable")
  func farewell() {
    var hub = HubStage.with("watch", "widget")
    hub.startRun()
    hub.commitsAll()
    #expect(!hub.feed(.ending).contains { $0.contains("goodbye") })
    #expect(hub.commits() == ["watch ← goodbye", "widget ← goodbye", "ended"])
  }
}
