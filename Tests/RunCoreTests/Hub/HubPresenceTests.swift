import RunCore
import Testing

@Suite("A hub knows which devices are reachable")
struct HubPresenceTests {
  @Test("A device is unreachable after three beats of silence, and reachable again with its next frame")
  func silence() {
    var hub = HubStage.with("watch", "widget")
    hub.now = .zero + .seconds(20)
    #expect(hub.says("widget", .beat(1)) == ["widget ← pong 1 at 1.0.1"])
    #expect(hub.passes(to: .zero + .seconds(29)) == [])
    #expect(hub.passes(to: .zero + .seconds(30)) == ["publish watch gone"])
    hub.now = .zero + .seconds(31)
    #expect(hub.says("watch", .beat(1)) == ["publish watch here", "watch ← pong 1 at 1.0.1"])
    #expect(hub.passes(to: .zero + .seconds(70)) == ["publish widget gone", "publish watch gone"])
  }

  @Test("A device that came back and falls silent again is unreachable again in time")
  func silentAgain() {
    var hub = HubStage.with("watch")
    #expect(hub.passes(to: .zero + .seconds(40)) == ["publish watch gone"])
    #expect(hub.says("watch", .query).first == "publish watch here")
    #expect(hub.passes(to: .zero + .seconds(71)) == ["publish watch gone"])
  }

  @Test("A device's own ping says how long it may be silent, whatever the run does")
  func statedIntervals() {
    var hub = HubStage.with("watch", "widget")
    hub.startRun()
    let began = hub.now
    _ = hub.says("watch", .beat(1, within: .seconds(2)))
    _ = hub.says("widget", .beat(1, within: .seconds(20)))
    #expect(!hub.passes(to: began + .milliseconds(5900)).contains("publish watch gone"))
    #expect(hub.passes(to: began + .milliseconds(6100)).contains("publish watch gone"))
    #expect(!hub.passes(to: began + .milliseconds(59_900)).contains("publish widget gone"))
    #expect(hub.passes(to: began + .milliseconds(60_100)).contains("publish widget gone"))
  }

  @Test("A peer that is welcomed during a run pings two seconds later, so six seconds are its first silence")
  func firstSilence() {
    var hub = HubStage.with("watch")
    hub.startRun()
    _ = hub.hello("widget")
    hub.commitsAll()
    let joined = hub.now
    #expect(!hub.passes(to: joined + .milliseconds(5900)).contains("publish widget gone"))
    #expect(hub.passes(to: joined + .milliseconds(6100)).contains("publish widget gone"))
  }

  // Once broken: A hub used a whole core for up to six seconds, because a session that had been silent for ten minutes
  // was due to be forgotten while a run began.
  @Test("A silent peer that is to be forgotten while a run begins leaves no deadline without an effect")
  func forgettingWhileARunBegins() {
    var hub = HubStage.with("watch")
    _ = hub.passes(to: .zero + .seconds(597))
    hub.startRun()
    hub.now = .zero + .seconds(600)
    _ = hub.feed(.deadline)
    #expect(hub.core.deadline.map { $0 > hub.now } ?? true)
  }

  @Test("A goodbye makes its device unreachable at once")
  func goodbye() {
    var hub = HubStage.with("watch")
    #expect(hub.says("watch", .goodbye) == ["publish watch gone"])
    #expect(hub.says("watch", .beat(1)) == ["watch ← refused unknownSession"])
  }

  @Test("A device is reachable as long as one of its sessions is")
  func twoSessions() {
    var hub = HubStage.with("watch")
    var second = hub.greeting("watch")
    second.storeID = StoreID(high: 8, low: 8)
    let frame = PeerFrame(session: 0, sentAt: .zero, message: .hello(second))
    #expect(hub.feed(.frame(.named("second"), frame)).count == 1)
    #expect(hub.feed(.gone(.named("watch"))) == [])
    #expect(hub.feed(.gone(.named("second"))) == ["publish watch gone"])
  }

  // Once broken: When a device said hello on a second connection and the hub refused that hello, the device stayed
  // *here* for the others, although it had no session any more.
  @Test("A hello that is refused ends its store's session, and the loss of the device is published")
  func refusedHello() {
    var hub = HubStage.with("watch")
    var hello = hub.greeting("watch", nonce: 2)
    hello.hub = HubStage.storeID
    hello.acknowledged[.commands] = 9
    let frame = PeerFrame(session: 0, sentAt: .zero, message: .hello(hello))
    #expect(hub.feed(.frame(.named("second"), frame)) == ["second ← refused storeRegressed", "publish watch gone"])
    #expect(hub.says("watch", .beat(1)) == ["watch ← refused unknownSession"])
    // With a new store it is here again.
    hello = hub.greeting("watch", nonce: 3)
    hello.storeID = StoreID(high: 2, low: 99)
    let again = hub.feed(.frame(.named("second"), PeerFrame(session: 0, sentAt: .zero, message: .hello(hello))))
    #expect(again.contains("publish watch here"))
  }

  @Test("A command of an unknown kind uses its sequence number, durably, before it is answered")
  func unsupported() {
    var hub = HubStage.with("watch")
    let session = hub.session(of: "watch")
    func unsupported(_ sequence: UInt64?, session: UInt64) -> HubCore.Event {
      .unsupported(.named("watch"), UnsupportedCommand(session: session, sequence: sequence, reply: [7]))
    }
    #expect(hub.feed(unsupported(2, session: session)) == ["note"])
    #expect(hub.feed(unsupported(1, session: session)) == ["commit: commands to 1"])
    #expect(hub.commits() == ["watch ← bytes [7]", "watch ← commands to 1"])
    #expect(hub.feed(unsupported(1, session: session)) == ["commit: "])
    #expect(hub.commits() == ["watch ← bytes [7]"])
    #expect(hub.feed(unsupported(2, session: session - 1)) == ["note"])
    // The sender's next command is accepted.
    #expect(
      hub.sends("watch", hub.command(.start, by: "watch"), sequence: 2) == [
        "commit: commands to 2, accept start window"
      ])
    // In a request it has no number.
    #expect(hub.feed(unsupported(nil, session: 0)) == ["watch ← bytes [7]"])
    let request = UnsupportedCommand(session: 0, sequence: nil, reply: [9])
    #expect(hub.feed(.unsupported(.named("script", isRequest: true), request)) == ["script ← bytes [9]"])
    #expect(
      hub.feed(.unsupported(.named("stranger"), UnsupportedCommand(session: 0, sequence: 1, reply: [])))
        == ["stranger ← refused unknownSession"])
  }

  @Test("A full table of sessions drops the one that has been silent for longest")
  func fullTable() {
    var hub = HubStage.opened()
    for number in 0..<4096 { _ = hub.hello("peer\(number)") }
    #expect(hub.hello("watch") == ["watch ← refused busy"])
    // Another session of the same peer needs no more room.
    #expect(hub.hello("peer7", nonce: 2).first?.hasPrefix("peer7 ← welcome") == true)
    hub.now = .zero + .seconds(29)
    for number in 1..<4096 { _ = hub.says("peer\(number)", .beat(1)) }
    #expect(hub.passes(to: .zero + .seconds(31)) == ["publish peer0 gone"])
    #expect(hub.hello("watch").first?.hasPrefix("watch ← welcome") == true)
    #expect(hub.says("peer0", .beat(1)) == ["peer0 ← refused unknownSession"])
  }
}
