import RunCore
import Testing

@Suite("A peer and the silence of its hub")
struct PeerFailureDetectionTests {
  private static let running = PeerStage.snapshot(1, 1, 2, .running, run: 7)

  /// A peer that shows a run that is on; the hub has spoken just now.
  private static func running(_ snapshot: Snapshot = Self.running) -> PeerStage { .up(snapshot) }

  /// What the watch over the hub comes to, without the link's attempts to reach it.
  private func told(_ lines: [String]) -> [String] {
    let words = ["stale", "fresh", "off duty", "hub lost", "alarmed", "armed", "dismissed"]
    return lines.filter { line in !line.contains("hello") && words.contains { line.contains($0) } }
  }

  /// A peer that shows a run that is on, and whose link has been down for so long.
  private static func silent(for duration: BusDuration) -> PeerStage {
    var peer = running()
    _ = peer.feed(.linkDown)
    _ = peer.passes(duration)
    return peer
  }

  /// The next life of a peer, with what its disk holds.
  private static func nextLife(of peer: PeerStage) -> PeerStage {
    var next = PeerStage(peer.disk, now: peer.now)
    _ = next.feed(.started)
    next.commits()
    return next
  }

  /// The hub's next life is heard and dies in its turn: one alarm more.
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

  @Test("A hub that dies while a run is on: the view is stale after three beats, one alarm comes after ten minutes")
  func death() {
    var peer = Self.running()
    _ = peer.feed(.linkDown)
    #expect(told(peer.passes(.seconds(599))) == ["6.0s stale 6.0s"])
    #expect(told(peer.passes(.seconds(1))) == ["600.0s commit: alarmed"])
    #expect(peer.commits() == ["hub lost: run 7 at 1.1.2, phone silent for 600.0s"])
    #expect(told(peer.passes(.seconds(86_400))) == [])
    // Nobody is woken any more.
    #expect(peer.core.deadline == nil)
    #expect(peer.core.lastHubLost?.silence == .seconds(600))
  }

  @Test("The beat in force decides what is stale: six seconds while a run is on, thirty otherwise")
  func beats() {
    var idle = PeerStage.up()
    #expect(told(idle.passes(.seconds(3600))) == ["30.0s stale 30.0s"])
    var paused = Self.running(PeerStage.snapshot(1, 1, 2, .paused, run: 7))
    #expect(told(paused.passes(.seconds(599))) == ["6.0s stale 6.0s"])
    #expect(told(paused.passes(.seconds(1))) == ["600.0s commit: alarmed"])
  }

  @Test("Without a run there is no alarm: none was started, or the last word was that it is over")
  func withoutARun() {
    var peer = Self.running()
    _ = peer.publishes(PeerStage.snapshot(1, 2, 3, .completed, run: 7))
    _ = peer.feed(.linkDown)
    #expect(told(peer.passes(.seconds(86_400))) == ["30.0s stale 30.0s"])
  }

  @Test("A hub that is heard again is fresh, and its next silence has an alarm of its own")
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

  @Test("A slow hub is stale and comes to no alarm: one word within the limit, and the count begins anew")
  func slow() {
    var peer = Self.running()
    for _ in 0..<4 {
      #expect(told(peer.passes(.seconds(500))).map { $0.contains("stale 6.0s") } == [true])
      // It has answered nothing for so long that it is greeted anew; what it says to that counts.
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

  @Test("A silence that was told is not told again by a later life; the next one is")
  func restart() {
    var peer = Self.silent(for: .seconds(600))
    peer.commits()
    var next = Self.nextLife(of: peer)
    #expect(told(next.passes(.seconds(7200))) == ["606.0s stale"])
    #expect(next.core.lastHubLost?.runID == RunID(high: 9, low: 7))
    losesTheNextHub(&next)
  }

  @Test("A life that begins in a silence that was not told waits ten minutes of its own")
  func lateLife() {
    var peer = Self.silent(for: .seconds(400))
    peer.commits()
    var next = Self.nextLife(of: peer)
    #expect(next.core.viewState(at: next.now) == ViewState(age: nil, isStale: false, isHubOffDuty: false))
    #expect(told(next.passes(.seconds(599))) == ["406.0s stale"])
    #expect(told(next.passes(.seconds(1))) == ["1000.0s commit: alarmed"])
    #expect(next.commits() == ["hub lost: run 7 at 1.1.0, phone silent for 600.0s"])
  }

  @Test("Killed before the alarm is durable it was not told, and the next life tells it")
  func killedBefore() {
    var peer = Self.running()
    _ = peer.feed(.linkDown)
    #expect(!peer.passes(.seconds(600)).contains { $0.contains("hub lost") })
    var next = Self.nextLife(of: peer)
    _ = next.passes(.seconds(600))
    #expect(next.commits() == ["hub lost: run 7 at 1.1.0, phone silent for 600.0s"])
  }

  @Test("A disk that takes nothing silences no alarm, and does not double it")
  func fullDisk() throws {
    var peer = Self.silent(for: .seconds(600))
    let flight = try #require(peer.flight)
    #expect(peer.feed(.commitFailed(flight)) == ["hub lost: run 7 at 1.1.2, phone silent for 600.0s"])
    #expect(told(peer.passes(.seconds(60))).allSatisfy { $0.contains("commit: alarmed") })
    #expect(peer.commits() == [])
  }

  @Test("A disk that stalls through two silences: the first one's commit tells nothing of the second")
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

  @Test("A goodbye is no silence: the view says so at once, nobody is alarmed, not even in a later life")
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
    // And it is armed again once the hub is back.
    losesTheNextHub(&next)
  }

  @Test("A goodbye counts behind the news that the link is gone, and while a hello waits for its answer")
  func lateGoodbye() {
    var down = Self.running()
    _ = down.feed(.linkDown)
    #expect(down.hub(.goodbye) == ["off duty 0.0s", "commit: dismissed"])
    var greeting = Self.running()
    _ = greeting.passes(.seconds(6))
    #expect(told(greeting.hub(.goodbye)) == ["off duty 6.0s", "commit: dismissed"])
  }

  @Test("A goodbye to an earlier session of the same life counts; to one of an earlier life only while there is none")
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
    // Welcomed once more, the peer finds that its store has lost history, and takes a new store id before all else.
    var renewing = peer
    _ = renewing.feed(.linkDown)
    _ = renewing.feed(.linkUp)
    let unknown: [StreamID.Kind: StreamMark] = [.commands: StreamMark(sequence: 7)]
    _ = renewing.welcome(session: life + 3, Self.running, received: unknown)
    #expect(told(renewing.hub(.goodbye, session: life + 1)) == ["off duty 5.0s"])
    renewing.commits()
    #expect(told(renewing.passes(.seconds(86_400))) == [])
    // The hub of the next life was not heard yet.
    var next = peer
    _ = next.feed(.linkDown)
    #expect(told(next.hub(.goodbye, session: 3 << 32 + 1)) == ["off duty 5.0s", "commit: dismissed"])
    // A hub that has lost its store counts its lives anew: who has no session takes its word.
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

  @Test("After a goodbye on a link that stands, the peer asks now and again, and no old welcome counts")
  func backOnTheSameLink() {
    var peer = Self.running()
    let old = peer.nonce
    _ = peer.hub(.goodbye)
    peer.commits()
    #expect(peer.welcome(old, session: 1, Self.running).first == "note")
    #expect(peer.passes(.seconds(7)).contains { $0.hasSuffix("send hello seen 1") })
    #expect(peer.welcome(session: 2, Self.running).first == "reachable")
  }

  @Test("What the peer slept through is no silence, and after it the hub gets three beats")
  func ownSleep() {
    var peer = Self.silent(for: .seconds(300))
    // A night in a drawer: the clock counts it, nobody was there to listen.
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

  @Test("Asleep while all was well, it wakes up without an alarm, and its view is stale until the hub speaks")
  func sleepsWell() {
    var peer = Self.running()
    peer.now = peer.now + .seconds(30_000)
    #expect(told(peer.feed(.deadline)) == ["stale 30000.0s"])
    #expect(told(peer.passes(.seconds(500))) == [])
  }

  @Test("Off the air nothing is counted, though the view grows old")
  func suspended() {
    var peer = Self.running()
    #expect(peer.feed(.suspended) == ["unreachable"])
    #expect(told(peer.passes(.seconds(86_400))) == ["6.0s stale 6.0s"])
    _ = peer.feed(.resumed)
    #expect(told(peer.passes(.seconds(599))) == [])
    #expect(told(peer.passes(.seconds(1))).count == 1)
  }

  @Test("A limit shorter than three beats is three beats")
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

  @Test("Who only sends one command keeps no watch")
  func oneShot() {
    var peer = PeerStage.up(isOneShot: true, Self.running)
    #expect(told(peer.hub(.goodbye)) == [])
    #expect(told(peer.passes(.seconds(86_400))) == [])
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
