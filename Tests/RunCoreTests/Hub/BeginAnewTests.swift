import RunCore
import Simulation
import Testing

@Suite("Nodes reset their streams")
struct BeginAnewTests {
  private static let other = StoreID(high: 1, low: 2)

  private func message(_ id: UInt64) -> AppMessage {
    AppMessage(id: MessageID(high: 7, low: id), name: "m", body: [])
  }

  @Test("A mark of replaced streams that becomes durable late is not a mark of the present ones")
  func staleMarks() {
    var peer = PeerStage.up()
    _ = peer.feed(.handling(true))
    let messages = (1...3 as ClosedRange<UInt64>).map { MessageTransmission(sequence: $0, message: message($0)) }
    _ = peer.hub(.delivery(.messages(messages)))
    _ = peer.presses(.lap, id: 1)
    _ = peer.hub(peer.verdict(.lap, id: 1, at: 1, revision: 0))
    // This writes both marks to the disk.
    _ = peer.feed(.handled(StreamID(sender: HubStage.storeID, kind: .messages), through: 3))
    #expect(peer.flight != nil)
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 2, PeerStage.snapshot(2, 0, 1), store: Self.other)
    // The hello states nothing acknowledged or received; otherwise the new hub would conclude that it has lost
    // history.
    #expect(peer.commits().last == "send hello seen 1")
  }

  @Test("A latest value that the last hub has is sent to the next hub too, also after a restart")
  func values() {
    var peer = PeerStage.up()
    #expect(peer.feed(.post(message(1), .latest(key: "k"))) == ["commit: set k 1"])
    #expect(peer.commit() == ["1 queued", "send k 1"])
    _ = peer.hub(.delivery(.acknowledgeLatest(key: "k", version: 1)))
    _ = peer.passes(.milliseconds(250))
    peer.commits()
    #expect(peer.disk.history.delivery.latestSent.map(\.isAcknowledged) == [true])
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 2, PeerStage.snapshot(2, 0, 1), store: Self.other)
    peer.commits()
    var next = PeerStage(peer.disk, now: peer.now)
    _ = next.feed(.linkUp)
    #expect(next.welcome(session: 3, PeerStage.snapshot(2, 0, 1), store: Self.other).contains("send k 1"))
  }

  @Test("After renumbering for another hub, a message that may have been sent is sent there and cannot be cancelled")
  func sentBefore() {
    var peer = PeerStage.up()
    _ = peer.presses(.lap, id: 1)
    _ = peer.feed(.post(message(2), .queued))
    peer.commits()
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 2, PeerStage.snapshot(2, 0, 1), store: Self.other)
    peer.commits()
    for id in [MessageID(high: 4, low: 1), MessageID(high: 7, low: 2)] {
      #expect(peer.feed(.inquire(.cancel(id), 1)) == ["answer 1: failed"])
    }
    #expect(peer.disk.history.delivery.rows.filter { $0.item != nil }.map(\.tries) == [1, 1])
    let lines = peer.welcome(session: 3, PeerStage.snapshot(2, 0, 1), store: Self.other) + peer.commits()
    #expect(lines.contains("send 1 lap 0.0s") && lines.contains("send messages 1"), "\(lines)")
  }

  @Test("A peer that knows no hub and is known there has lost its history")
  func forgotten() {
    var peer = PeerStage()
    _ = peer.feed(.started)
    peer.commits()
    // Sequence numbers of samples are reserved, so that the hub's mark could lie among them.
    _ = peer.feed(.sample(Sample(moment: .at(peer.now), value: .heartRate(bpm: 150))))
    peer.commits()
    _ = peer.feed(.linkUp)
    let lines = peer.welcome(session: 1, received: [.samples: StreamMark(sequence: 50)])
    #expect(Array(lines.prefix(2)) == ["met", "note"])
    #expect(peer.commits() == ["send hello seen 0"])
    #expect(peer.disk.storeID != PeerStage.storeID)
    _ = peer.welcome(session: 2)
    peer.commits()
    #expect(peer.sampleTransmissions.map(\.sequence) == [1])
  }

  @Test("Two nodes of one name that take turns make each other reset, and never the hub")
  func twoOfOneName() {
    var hub = HubStage.opened(debounce: .zero)
    func hello(_ store: UInt64, nonce: UInt64, received: UInt64 = 0) -> HubCore.Event {
      var hello = hub.greeting("watch", nonce: nonce)
      hello.storeID = StoreID(high: 6, low: store)
      hello.hub = HubStage.storeID
      if received > 0 { hello.received[.verdicts] = StreamMark(sequence: received) }
      return .frame(.named("watch"), PeerFrame(session: 0, sentAt: .zero, message: .hello(hello)))
    }
    _ = hub.feed(hello(1, nonce: 1))
    _ = hub.presses("watch", .start)
    hub.commitsAll()
    _ = hub.feed(.gone(.named("watch")))
    _ = hub.feed(hello(2, nonce: 2))
    hub.commitsAll()
    _ = hub.feed(.gone(.named("watch")))
    #expect(hub.feed(hello(1, nonce: 3, received: 1)) == ["watch ← refused storeRegressed"])
    #expect(hub.feed(hello(3, nonce: 4)).first?.hasPrefix("watch ← welcome") == true)
    hub.commitsAll()
    #expect(!hub.durable.contains { if case .setStoreID = $0 { true } else { false } })
  }

  @Test("One command with ever new sequence numbers fills nothing without a bound")
  func sameCommandForEver() {
    var hub = HubStage.with("watch", debounce: .zero)
    hub.isTerse = false
    let start = hub.command(.start, by: "watch")
    var refused = 0
    for _ in 0..<1100 {
      let lines = hub.sends("watch", start)
      hub.commitsAll()
      if lines.contains("watch ← refused busy") { refused += 1 }
    }
    // The next one after that skips a sequence number.
    #expect(refused == 1)
    let owed = hub.durable.filter { if case .enqueue = $0 { true } else { false } }
    #expect(owed.count == 1024)
  }

  @Test("The app hears once that a message is delivered, however often the other side says so")
  func deliveredOnce() {
    var peer = PeerStage.up()
    for id in 1...2 as ClosedRange<UInt64> { _ = peer.feed(.post(message(id), .queued)) }
    peer.commits()
    #expect(peer.hub(.delivery(.delivered(through: 1))) == ["1 delivered"])
    #expect(peer.hub(.delivery(.delivered(through: 2))) == ["2 delivered"])
    #expect(peer.hub(.delivery(.delivered(through: .max))) == [])
  }

  @Test("A full outbox refuses a message; a stray live one has no receiver")
  func bounds() {
    var peer = PeerStage.up()
    _ = peer.feed(.linkDown)
    for id in 1...16_384 as ClosedRange<UInt64> { _ = peer.feed(.post(message(id), .queued)) }
    #expect(peer.feed(.post(message(20_000), .queued)) == ["refuse 20000 full"])
    #expect(peer.feed(.post(message(20_001), .live)) == ["refuse 20001 unreachable"])
    #expect(peer.hub(.delivery(.live(message(1)))) == ["note"])
  }

  @Test("A peer tries a failed commit again each second, in order, and sends nothing before it is durable")
  func commitFailed() {
    var peer = PeerStage.up()
    _ = peer.feed(.press(peer.command(.start, id: 1)))
    let id = peer.flight!
    #expect(peer.feed(.commitFailed(id)) == [])
    #expect(peer.feed(.press(peer.command(.pause, id: 2))) == [])
    for _ in 0..<3 {
      #expect(peer.passes(.seconds(1)).map { $0.drop { $0 != "c" } } == ["commit: owe commands 1"])
      #expect(peer.feed(.commitFailed(id)) == [])
    }
    _ = peer.passes(.seconds(1))
    #expect(peer.commit() == ["start queued", "send 1 start 4.0s", "commit: owe commands 2"])
    #expect(peer.commit() == ["pause queued", "send 2 pause 4.0s"])
  }

  @Test("A press of an earlier boot is uncertain and as old as wall time says; of the same boot it is exact")
  func ages() {
    var peer = PeerStage.up()
    _ = peer.feed(.linkDown)
    peer.now = .zero + .seconds(100)
    _ = peer.presses(.lap, id: 1)
    for (boot, now, age, isUncertain) in [("boot", 130, 30, false), ("next", 5, 30, true)]
      as [(String, Int64, Int64, Bool)]
    {
      // The mark was made at second 0 and wall time 0; since then 130 seconds have passed on either clock.
      var next = PeerStage(peer.disk, now: .zero + .seconds(now), wallSeconds: 130, bootID: boot)
      _ = next.feed(.started)
      next.commits()
      _ = next.feed(.linkUp)
      _ = next.welcome(session: 2)
      next.commits()
      #expect(next.transmissions.map(\.age) == [.seconds(age)])
      #expect(next.transmissions.map(\.isUncertain) == [isUncertain])
    }
  }

  @Test("Only a command that was never sent can be cancelled, and it waits a month at most")
  func cancelAndExpire() {
    var peer = PeerStage.up()
    _ = peer.presses(.lap, id: 1)
    #expect(peer.feed(.inquire(.cancel(MessageID(high: 4, low: 1)), 1)) == ["answer 1: failed"])
    _ = peer.feed(.linkDown)
    _ = peer.presses(.lap, id: 2)
    _ = peer.presses(.lap, id: 3)
    #expect(peer.feed(.inquire(.cancel(MessageID(high: 4, low: 2)), 2)) == ["commit: bury commands 2"])
    #expect(peer.commit() == ["lap cancelled 0", "answer 2: done"])
    peer.now = peer.now + .seconds(31 * 86_400)
    peer.forgetSent()
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 2, received: [.commands: StreamMark(sequence: 1, id: MessageID(high: 4, low: 1))])
    #expect(
      peer.commits().filter { !$0.hasPrefix("commit") } == [
        "lap expired 0", "send no commands 2...3",
      ])
  }
}
