import RunCore
import Testing

@Suite("A hub knows who is there")
struct HubPresenceTests {
  @Test("Whoever is silent for three beats is unreachable, and reachable again with the next word")
  func silence() {
    var hub = HubStage.with("watch", "widget")
    hub.now = .zero + .seconds(20)
    #expect(hub.says("widget", .ping(1)) == ["widget ← pong 1 at 1.0.1"])
    #expect(hub.passes(to: .zero + .seconds(29)) == [])
    #expect(hub.passes(to: .zero + .seconds(30)) == ["publish watch gone"])
    hub.now = .zero + .seconds(31)
    #expect(hub.says("watch", .ping(1)) == ["publish watch here", "watch ← pong 1 at 1.0.1"])
    #expect(hub.passes(to: .zero + .seconds(70)) == ["publish widget gone", "publish watch gone"])
  }

  @Test("Whoever came back and falls silent again is unreachable again, in time")
  func silentAgain() {
    var hub = HubStage.with("watch")
    #expect(hub.passes(to: .zero + .seconds(40)) == ["publish watch gone"])
    #expect(hub.says("watch", .query).first == "publish watch here")
    #expect(hub.passes(to: .zero + .seconds(71)) == ["publish watch gone"])
  }

  @Test("A run that begins quickens the beat, and makes nobody silent who kept the slow one")
  func quickening() {
    var hub = HubStage.with("watch", "widget")
    hub.now = .zero + .seconds(9)
    hub.startRun()
    // The widget spoke nine and a half seconds ago, which was in time.
    let began = hub.now
    #expect(!hub.passes(to: began + .milliseconds(5900)).contains("publish widget gone"))
    #expect(hub.passes(to: began + .milliseconds(6100)).contains("publish widget gone"))
  }

  @Test("A silent peer whose time to be forgotten comes while a run begins leaves no deadline that nothing comes of")
  func forgettingWhileARunBegins() {
    var hub = HubStage.with("watch")
    _ = hub.passes(to: .zero + .seconds(597))
    hub.startRun()
    hub.now = .zero + .seconds(600)
    _ = hub.feed(.deadline)
    #expect(hub.core.deadline.map { $0 > hub.now } ?? true)
  }

  @Test("A goodbye is heard at once")
  func goodbye() {
    var hub = HubStage.with("watch")
    #expect(hub.says("watch", .goodbye) == ["publish watch gone"])
    #expect(hub.says("watch", .ping(1)) == ["watch ← refused unknownSession"])
  }

  @Test("A device is there as long as one of its sessions is")
  func twoSessions() {
    var hub = HubStage.with("watch")
    var second = hub.greeting("watch")
    second.storeID = StoreID(high: 8, low: 8)
    let frame = PeerFrame(session: 0, sentAt: .zero, message: .hello(second))
    #expect(hub.feed(.frame(.named("second"), frame)).count == 1)
    #expect(hub.feed(.gone(.named("watch"))) == [])
    #expect(hub.feed(.gone(.named("second"))) == ["publish watch gone"])
  }

  @Test("A sender of one command never appears, and leaves nothing behind but its verdict")
  func oneShot() {
    var hub = HubStage.opened(debounce: .zero)
    #expect(hub.hello("shell", isOneShot: true) == ["shell ← welcome 1, 1.0.1 idle"])
    let start = hub.command(.start, by: "shell")
    #expect(
      hub.sends("shell", start) == ["commit: start at 0.0s, judge start applied 1, clock"])
    #expect(hub.commits().contains("shell ← start applied 1"))
    #expect(hub.sends("shell", start, sequence: 1) == ["commit: "])
    #expect(hub.commits() == ["shell ← start applied 1"])
    #expect(hub.beats("shell", 150, from: 1) == ["note"])
    #expect(hub.says("shell", .goodbye) == [])
    _ = hub.hello("shell", nonce: 2, isOneShot: true)
    #expect(!hub.passes(.seconds(100)).contains { $0.contains("shell") })
    #expect(hub.says("shell", .ping(1)) == ["shell ← refused unknownSession"])
  }

  @Test("A command of an unknown kind uses up its place, durably, before it is answered")
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
    // What its sender presses next is heard.
    #expect(
      hub.sends("watch", hub.command(.start, by: "watch"), sequence: 2) == [
        "commit: commands to 2, accept start window"
      ])
    #expect(hub.feed(unsupported(nil, session: 0)) == ["watch ← refused malformed"])
    let request = UnsupportedCommand(session: 0, sequence: nil, reply: [9])
    #expect(hub.feed(.unsupported(.named("script", isRequest: true), request)) == ["script ← bytes [9]"])
    #expect(
      hub.feed(.unsupported(.named("stranger"), UnsupportedCommand(session: 0, sequence: 1, reply: [])))
        == ["stranger ← refused unknownSession"])
  }

  @Test("A table full of sessions makes room for the next by forgetting who has been silent for longest")
  func fullTable() {
    var hub = HubStage.opened()
    for number in 0..<4096 { _ = hub.hello("peer\(number)") }
    #expect(hub.hello("watch") == ["watch ← refused busy"])
    // The same peer again needs no more room.
    #expect(hub.hello("peer7", nonce: 2).first?.hasPrefix("peer7 ← welcome") == true)
    hub.now = .zero + .seconds(29)
    for number in 1..<4096 { _ = hub.says("peer\(number)", .ping(1)) }
    #expect(hub.passes(to: .zero + .seconds(31)) == ["publish peer0 gone"])
    #expect(hub.hello("watch").first?.hasPrefix("watch ← welcome") == true)
    #expect(hub.says("peer0", .ping(1)) == ["peer0 ← refused unknownSession"])
  }
}
