import RunCore
import Testing

@Suite("A peer and its link to the hub")
struct PeerSessionTests {
  @Test("A peer says hello when the link comes up, and is up with the welcome")
  func hello() {
    var peer = PeerStage()
    #expect(peer.feed(.started) == ["commit: clock"])
    peer.commits()
    #expect(peer.feed(.linkUp) == ["send hello seen 0"])
    #expect(
      peer.welcome(session: 5) == [
        "met", "reachable", "hear 1.0.1 idle", "show 1.0.1 idle", "subscribe events s",
        "commit: hub, rebind commands, rebind messages, drop samples, view 1.0.1 idle, term 1",
      ])
    #expect(peer.core.isReachable)
  }

  @Test("Without a welcome it asks again after 1, 2, 4, then every 5 seconds, each a quarter more or less")
  func backoff() {
    var peer = PeerStage()
    _ = peer.feed(.linkUp)
    var nonces: [UInt64] = []
    var before = peer.now
    for wait in [1, 2, 4, 5, 5] as [Int64] {
      nonces.append(peer.nonce)
      let due = peer.core.deadline!
      #expect((wait * 750...wait * 1250).contains((due - before).nanoseconds / 1_000_000))
      #expect(peer.passes(to: due).map { $0.split(separator: " ", maxSplits: 1)[1] } == ["send hello seen 0"])
      before = due
    }
    // Only the welcome to the last hello counts.
    for nonce in nonces { #expect(peer.welcome(nonce, session: 5) == ["note"]) }
    #expect(peer.welcome(session: 6).first == "met")
    #expect(peer.welcome(session: 7) == ["note"])
  }

  // Once broken: After a welcome that acknowledged a start, the readings of its run went out twice in one turn.
  @Test("A welcome that acknowledges a start holds the readings of its run; the verdict sends them once")
  func readingsOnce() {
    var peer = PeerStage.up()
    let start = CommandID(high: 4, low: 1)
    _ = peer.feed(.press(Command(id: start, kind: .start, source: .watch)))
    peer.commits()
    _ = peer.feed(.linkDown)
    _ = peer.feed(.sample(Sample(moment: .at(peer.now), value: .heartRate(bpm: 120))))
    peer.commits()
    _ = peer.feed(.linkUp)
    peer.forgetSent()
    _ = peer.welcome(
      session: 2, received: [.commands: StreamMark(sequence: 1, id: MessageID(high: 4, low: 1))])
    peer.commits()
    #expect(peer.sampleTransmissions.isEmpty)
    for _ in 0..<2 { _ = peer.hub(peer.verdict(.start, id: 1, at: 1, revision: 1), session: 2) }
    #expect(peer.sampleTransmissions.map(\.sequence) == [1])
  }

  // Once broken: A live message that an app posted after its peer had ended, or after the hub had refused the peer's
  // wire version, got the receipt *sent*, although no frame left, because the courier was closed only when a link was
  // lost.
  @Test("A peer that has ended, or that its hub refuses for good, refuses live messages")
  func liveMessageAfterTheEnd() {
    let refusal = Refusal(code: .versionMismatch, message: "update")
    for ending in [PeerCore.Event.ending, .frame(HubFrame(session: 1, message: .refused(refusal)))] {
      var peer = PeerStage.up()
      _ = peer.feed(ending)
      let message = AppMessage(id: MessageID(high: 7, low: 1), name: "m", body: [])
      #expect(peer.act(.post(message, .live)).contains(.refusePost(message.id, .unreachable)))
    }
  }

  @Test("A peer ends when the hub has another version")
  func version() {
    var peer = PeerStage()
    _ = peer.feed(.linkUp)
    #expect(
      peer.hub(.refused(Refusal(code: .versionMismatch, message: "update")), session: 0) == ["fail versionMismatch"])
    #expect(peer.feed(.linkUp) == [])
    #expect(peer.core.deadline == nil)
  }

  // Once broken: A node at the wrong end of a bridge was never let in, and its app was not told why, because a refused
  // hello was only a line in the log.
  @Test("A peer that the hub does not let in says why, once, goes on asking, and is let in when the hub permits it")
  func notLetIn() {
    var peer = PeerStage()
    _ = peer.feed(.started)
    peer.commits()
    _ = peer.feed(.linkUp)
    let refusal = HubMessage.refused(Refusal(code: .forbidden, message: "the name is taken"))
    #expect(peer.hub(refusal, session: 0) == ["unreachable"])
    #expect(peer.core.refusal == "the name is taken")
    #expect(peer.hub(refusal, session: 0) == [])
    #expect(peer.passes(.seconds(3)).contains { $0.contains("send hello") })
    _ = peer.welcome(session: 1)
    #expect(peer.core.refusal == nil && peer.core.isReachable)
    // A refusal of a frame in a session is another matter.
    #expect(peer.hub(refusal) == ["note"])
    #expect(peer.core.refusal == nil)
    // A link that comes and goes makes no news of the same refusal.
    #expect(peer.feed(.linkDown) == ["unreachable"])
    _ = peer.feed(.linkUp)
    #expect(peer.hub(refusal, session: 0) == ["unreachable"])
    #expect(peer.feed(.linkDown) == [])
    _ = peer.feed(.linkUp)
    #expect(peer.hub(refusal, session: 0) == [])
    #expect(peer.core.refusal == "the name is taken")
  }

  // Once broken: A watch whose phone had another key said only that the link was down, because what the transport knew
  // of a failed handshake went to the debug log.
  @Test("What listens where the hub was and is not the hub is named, once, until the hub answers again")
  func refusedLink() {
    var peer = PeerStage.up()
    let reason = "what listens there is no hub with the expected key"
    #expect(peer.feed(.linkDown) == ["unreachable"])
    #expect(peer.core.refusal == nil)
    #expect(peer.feed(.linkRefused(reason)) == ["unreachable"])
    #expect(peer.core.refusal == reason)
    #expect(peer.feed(.linkRefused(reason)) == [])
    _ = peer.feed(.linkUp)
    #expect(peer.core.refusal == reason)
    _ = peer.welcome(session: 2)
    #expect(peer.core.refusal == nil && peer.core.isReachable)
  }

  @Test("A peer says hello again to a hub that does not know its session")
  func unknownSession() {
    var peer = PeerStage.up()
    let refusal = HubMessage.refused(Refusal(code: .unknownSession, message: "say hello"))
    #expect(peer.hub(refusal, session: 0) == ["send hello seen 1"])
    #expect(peer.hub(refusal, session: 0) == [])
    #expect(peer.hub(.pong(1, PeerStage.snapshot(1, 0, 1).order)) == ["note"])
  }

  /// Lets `duration` pass, with a hub that answers each ping at once; returns the pings.
  private func beats(_ peer: inout PeerStage, _ duration: BusDuration) -> [String] {
    let end = peer.now + duration
    var lines: [String] = []
    while let deadline = peer.core.deadline, deadline <= end {
      let due = pings(peer.passes(to: max(peer.now, deadline)))
      if !due.isEmpty { _ = peer.answersPing() }
      lines += due
    }
    peer.now = end
    return lines
  }

  private func pings(_ lines: [String]) -> [String] { lines.filter { $0.contains("ping") } }

  @Test("The heart beats every ten seconds, and every two from a run's start to its stop")
  func heartbeat() {
    var peer = PeerStage.up()
    #expect(beats(&peer, .seconds(11)) == ["10.0s send ping 1 within 10.0s"])
    #expect(
      peer.publishes(PeerStage.snapshot(1, 1, 2, .running)) == [
        "hear 1.1.2 running", "show 1.1.2 running", "send ping 2 within 2.0s", "commit: view 1.1.2 running",
      ])
    // It comes early by a part of a second that this peer has drawn.
    #expect(beats(&peer, .seconds(3)) == ["12.43359404s send ping 3 within 2.0s"])
    _ = peer.publishes(PeerStage.snapshot(1, 2, 3, .completed))
    // The longer interval is stated before it takes effect.
    #expect(
      beats(&peer, .seconds(22)) == [
        "14.43359404s send ping 4 within 10.0s", "24.43359404s send ping 5 within 10.0s",
        "34.43359404s send ping 6 within 10.0s",
      ])
  }

  @Test("In a pause the interval grows after a minute, and shrinks with the first press or transition")
  func pause() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 1, 2, .paused, run: 7))
    let growing = beats(&peer, .seconds(75))
    #expect(growing.count == 31)
    #expect(
      growing.suffix(3) == [
        "58.0s send ping 29 within 2.0s", "60.0s send ping 30 within 10.0s", "70.0s send ping 31 within 10.0s",
      ])
    // A press of this peer.
    #expect(pings(peer.presses(.lap, id: 1)) == ["send ping 32 within 2.0s"])
    let slowed = beats(&peer, .seconds(63))
    #expect(slowed.last == "136.43359404s send ping 63 within 10.0s")
    // A press of another device, and what the hub makes of it.
    let other = Command(id: CommandID(high: 5, low: 1), kind: .resume, source: .phone)
    #expect(pings(peer.feed(.event(.command(other, DeviceID("phone"))))) == ["send ping 64 within 2.0s"])
    #expect(pings(peer.publishes(PeerStage.snapshot(1, 2, 3, .running, run: 7))) == [])
    // New numbers in a pause are no news.
    _ = peer.publishes(PeerStage.snapshot(1, 3, 4, .paused, run: 7))
    _ = beats(&peer, .seconds(70))
    #expect(pings(peer.publishes(PeerStage.snapshot(1, 3, 5, .paused, run: 7))) == [])
    #expect(pings(peer.publishes(PeerStage.snapshot(1, 4, 6, .running, run: 7))).count == 1)
  }

  @Test("A peer that is welcomed in a long pause begins with the quick beat, as the hub expects")
  func welcomeInAPause() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 1, 2, .paused, run: 7))
    _ = beats(&peer, .seconds(100))
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 1, PeerStage.snapshot(1, 1, 2, .paused, run: 7))
    #expect(beats(&peer, .seconds(2)) == ["102.0s send ping 35 within 2.0s"])
  }

  @Test("After three beats of silence the hub is unreachable, and the peer says hello again")
  func silence() {
    var peer = PeerStage.up(PeerStage.snapshot(1, 1, 2, .running))
    #expect(
      peer.passes(.seconds(6)) == [
        "2.0s send ping 1 within 2.0s", "4.0s send ping 2 within 2.0s", "6.0s unreachable", "6.0s send hello seen 1",
        "6.0s stale 6.0s",
      ])
    #expect(!peer.core.isReachable)
    // Events left in the subscription do not make the hub reachable.
    #expect(peer.publishes(PeerStage.snapshot(1, 1, 3, .running)) == [])
    #expect(peer.welcome(session: 2, PeerStage.snapshot(1, 1, 4, .running)).first == "reachable")
  }

  @Test("A pong that names a newer publication makes the peer query the state")
  func healing() {
    var peer = PeerStage.up()
    #expect(peer.hub(.pong(0, SnapshotOrder(term: 1, revision: 1, tick: 2))) == ["send query"])
    #expect(
      peer.hub(.state(StateMessage(snapshot: PeerStage.snapshot(1, 1, 2, .running), age: .zero))) == [
        "hear 1.1.2 running", "show 1.1.2 running", "send ping 1 within 2.0s", "commit: view 1.1.2 running",
      ])
    #expect(peer.hub(.pong(0, SnapshotOrder(term: 1, revision: 1, tick: 2))) == [])
  }

  @Test("The shown snapshot only moves forward, whatever arrives in whatever order")
  func onlyGrows() {
    var peer = PeerStage.up(PeerStage.snapshot(2, 5, 5, .running))
    for older in [PeerStage.snapshot(2, 5, 5), .none, PeerStage.snapshot(1, 9, 9), PeerStage.snapshot(2, 4, 9)] {
      #expect(peer.publishes(older) == [])
      #expect(peer.hub(.state(StateMessage(snapshot: older, age: .zero))) == [])
    }
    #expect(peer.publishes(PeerStage.snapshot(3, 0, 1)).contains("show 3.0.1 idle"))
  }

  @Test("The highest term seen is kept, and told in every hello")
  func termSeen() {
    var peer = PeerStage(termSeen: 6)
    #expect(peer.feed(.linkUp) == ["send hello seen 6"])
    #expect(peer.welcome(session: 1, PeerStage.snapshot(7, 0, 1)).last?.hasSuffix("view 7.0.1 idle, term 7") == true)
    _ = peer.feed(.linkDown)
    #expect(peer.feed(.linkUp) == ["send hello seen 7"])
  }

  @Test("Bus time is known from the first snapshot on, and follows the quickest message")
  func clock() {
    var peer = PeerStage()
    #expect(peer.core.busNow(at: peer.now) == nil)
    _ = peer.feed(.linkUp)
    _ = peer.welcome(
      session: 1, PeerStage.snapshot(1, 0, 1), speed: BusSpeed(factor: 60)!, age: .seconds(30))
    #expect(peer.core.busNow(at: peer.now + .seconds(1)) == PeerStage.origin + .seconds(90))
    // This message took a second longer on its way, so it does not improve the clock.
    peer.now = peer.now + .seconds(2)
    _ = peer.hub(.state(StateMessage(snapshot: PeerStage.snapshot(1, 0, 2), age: .seconds(90))))
    #expect(peer.core.busNow(at: peer.now) == PeerStage.origin + .seconds(150))
    // This one was faster than the first.
    _ = peer.hub(.state(StateMessage(snapshot: PeerStage.snapshot(1, 0, 3), age: .seconds(153))))
    #expect(peer.core.busNow(at: peer.now) == PeerStage.origin + .seconds(153))
  }

  @Test("A peer that ends says goodbye, and a lost link is told once")
  func ending() {
    var peer = PeerStage.up()
    #expect(peer.feed(.ending) == ["send goodbye", "commit: "])
    #expect(peer.commit() == ["ended"])
    var other = PeerStage.up()
    #expect(other.feed(.linkDown) == ["unreachable"])
    #expect(other.feed(.linkDown) == [])
    #expect(other.passes(.seconds(60)) == ["30.0s stale 30.0s"])
    #expect(other.core.deadline == nil)
  }

  @Test("No number that a hub sends stops a peer")
  func oddNumbers() {
    let highest: UInt64 = 1 << 62 - 1
    let session = (HubTerm.limit - 1) << 32 | 0xFFFF_FFFF
    let edges: [Int64] = [.min, -1, 0, 1, .max]
    for captured in edges {
      for age in edges {
        var peer = PeerStage()
        _ = peer.feed(.linkUp)
        var snapshot = PeerStage.snapshot(HubTerm.limit - 1, highest, highest, .running)
        snapshot.capturedAt = BusTime(nanoseconds: captured)
        _ = peer.welcome(
          session: session, snapshot, speed: BusSpeed(factor: 10_000)!, age: BusDuration(nanoseconds: age))
        _ = peer.presses(.pause, id: 1)
        _ = peer.feed(.sample(Sample(moment: .at(BusTime(nanoseconds: age)), value: .heartRate(bpm: 1))))
        for kind in StreamID.Kind.allCases {
          for place in [UInt64.max, 0] {
            _ = peer.hub(.delivery(.acknowledge(kind, through: place)), session: session)
            _ = peer.hub(.delivery(.goBack(kind, to: place, failure: nil)), session: session)
            _ = peer.hub(.delivery(.goBack(kind, to: place, failure: "no")), session: session)
            _ = peer.hub(.delivery(.tombstones(kind, from: place, through: .max)), session: session)
            _ = peer.hub(.delivery(.tombstones(kind, from: 1, through: place)), session: session)
          }
        }
        _ = peer.hub(.delivery(.delivered(through: .max)), session: session)
        _ = peer.passes(.seconds(100))
        _ = peer.core.busNow(at: BusTime(nanoseconds: captured))
        #expect(peer.core.authoritative.phase == .running)
      }
    }
  }
}
