import Testing

@testable import RunCore

@Suite("A hub opens, welcomes and refuses")
struct HubLifeTests {
  @Test("A hub makes its term durable before it opens its sockets")
  func opening() {
    var hub = HubStage()
    #expect(hub.feed(.started) == ["commit: term 1, clock"])
    #expect(hub.core.authoritative == .none)
    #expect(hub.commits() == ["show 1.0.1 idle", "publish 1.0.1 idle", "open"])
    #expect(hub.feed(.opened(eventsEndpoint: "events")) == [])
    #expect(hub.core.deadline == nil)
  }

  @Test("A hello is answered at once with the state, and the device's presence is published")
  func welcome() {
    var hub = HubStage.opened()
    #expect(
      hub.hello("watch", nonce: 7) == ["watch ← welcome 7, 1.0.1 idle", "publish watch here"])
  }

  @Test("A late joiner has the whole state in its welcome")
  func lateJoiner() {
    var hub = HubStage.with("watch")
    hub.startRun()
    #expect(
      hub.hello("widget") == ["widget ← welcome 1, 1.1.2 running", "publish widget here"])
  }

  @Test("Another wire version is refused with a text that says which side is older")
  func version() {
    var hub = HubStage.opened()
    let frame = PeerFrame(session: 0, sentAt: .zero, message: .hello(hub.greeting("watch", version: 1)))
    guard case .send(let answer, _) = hub.act(.frame(.named("watch"), frame)).first,
      case .refused(let refusal) = answer.message
    else {
      Issue.record("no refusal")
      return
    }
    #expect(refusal.code == .versionMismatch)
    #expect(refusal.message == "this hub speaks wire version 3, watch speaks 1: update the older")
  }

  @Test("A hello of which only the version can be read is refused for its version, not as malformed")
  func foreign() {
    var hub = HubStage.opened()
    guard case .send(let answer, _) = hub.act(.foreign(.named("watch"), version: 9)).first,
      case .refused(let refusal) = answer.message
    else {
      Issue.record("no refusal")
      return
    }
    #expect(refusal.code == .versionMismatch)
    #expect(refusal.message == "this hub speaks wire version 3, the peer speaks 9: update the older")
  }

  @Test("A peer that sends frames before a hello is told to say hello")
  func unknownSession() {
    var hub = HubStage.opened()
    #expect(hub.says("watch", .beat(1)) == ["watch ← refused unknownSession"])
  }

  @Test("Frames of an earlier session are dropped, and a peer that still uses it is told")
  func olderSession() {
    var hub = HubStage.with("watch")
    let older = hub.session(of: "watch")
    _ = hub.hello("watch", nonce: 2)
    #expect(hub.session(of: "watch") > older)
    #expect(hub.says("watch", .beat(1), session: older) == ["note", "watch ← refused unknownSession"])
    #expect(hub.says("watch", .beat(2)) == ["watch ← pong 2 at 1.0.1"])
  }

  @Test("A hello that arrives twice opens one session")
  func repeatedHello() {
    var hub = HubStage.with("watch")
    let session = hub.session(of: "watch")
    #expect(hub.hello("watch") == ["watch ← welcome 1, 1.0.1 idle"])
    #expect(hub.session(of: "watch") == session)
  }

  @Test("A watch that comes back on another connection has one session")
  func movedConnection() {
    var hub = HubStage.with("watch")
    var hello = hub.greeting("watch")
    hello.nonce = 2
    let frame = PeerFrame(session: 0, sentAt: .zero, message: .hello(hello))
    #expect(
      hub.feed(.frame(.named("elsewhere"), frame)) == ["elsewhere ← welcome 2, 1.0.1 idle"])
    #expect(hub.says("watch", .beat(1)) == ["watch ← refused unknownSession"])
    #expect(hub.feed(.gone(.named("watch"))) == [])
    #expect(hub.feed(.gone(.named("elsewhere"))) == ["publish watch gone"])
  }

  @Test("A hub makes a higher term durable before it welcomes a peer that has seen a term above its own")
  func termSeen() {
    var hub = HubStage.opened()
    #expect(hub.hello("watch", termSeen: 8) == ["publish watch here", "commit: term 9, clock"])
    #expect(hub.hello("widget", termSeen: 8) == ["publish widget here"])
    #expect(
      hub.commits() == [
        "show 9.0.2 idle", "publish 9.0.2 idle", "watch ← welcome 1, 9.0.2 idle",
      ])
    #expect(hub.commits() == ["widget ← welcome 1, 9.0.2 idle"])
  }

  // Once broken: One hello with `term_seen = 2^62 - 1` raised the hub's term durably, after which every node refused
  // the hub, because the hub believed every term below 2^62.
  @Test("No term that a peer claims to have seen can lock anybody out")
  func termSeenAtTheEnd() {
    var hub = HubStage.opened()
    for lie in [HubTerm.seenMax + 1, HubTerm.limit, (1 << 62) - 1, 1 << 62, .max] {
      #expect(hub.hello("watch", termSeen: lie) == ["watch ← refused malformed"])
    }
    #expect(hub.core.authoritative.order.term == 1)
    _ = hub.hello("watch", termSeen: HubTerm.seenMax)
    hub.commitsAll()
    #expect(hub.core.authoritative.order.term == HubTerm.seenMax + 1)
    // Every peer now accepts this hub's snapshots, and states their term in its next hello.
    var disk = HubDisk()
    disk.commit(hub.durable)
    var next = HubStage.opened(history: disk.history)
    #expect(next.hello("widget", termSeen: HubTerm.seenMax + 1).contains { $0.hasPrefix("widget ← welcome") })
    #expect(next.core.authoritative.order.isPossible)
  }

  @Test("Numbers of sessions and record changes grow from term to term, up to the last one")
  func numbers() {
    let terms = [1, 2, HubTerm.seenMax, HubTerm.limit - 1] as [UInt64]
    let clock = BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime)
    let sessions = terms.map { SessionTable(term: $0, clock: clock).opened() }
    #expect(sessions == sessions.sorted() && Set(sessions).count == terms.count)
    #expect(sessions.map(HubTerm.of(session:)) == terms)
    #expect(sessions.allSatisfy { HubTerm.count(of: $0) == 1 })
    let changes = terms.map(HubTerm.changes(in:))
    #expect(changes == changes.sorted() && Set(changes).count == terms.count)
    // A billion changes of the last start stay within the bound of counters.
    #expect(HubTerm.changes(in: HubTerm.limit - 1) + (1 << 30 - 1) < 1 << 62)
    #expect(HubTerm.changes(in: .max) == HubTerm.changes(in: HubTerm.limit - 1))
    // A damaged store may hold a number that is no term: the hub counts from 1 again, and devices forget what they
    // saw.
    #expect([HubTerm.limit - 1, HubTerm.limit, .max].map(HubTerm.next(after:)) == [1, 1, 1])
  }

  @Test("In the last of 2^32 terms a hub welcomes, numbers its sessions, and refuses the term above")
  func lastTerm() {
    var history = HubHistory()
    history.term = HubTerm.limit - 2
    var hub = HubStage.opened(history: history)
    #expect(hub.core.authoritative.order.term == HubTerm.limit - 1)
    #expect(hub.hello("watch", termSeen: HubTerm.limit) == ["watch ← refused malformed"])
    #expect(hub.hello("watch", termSeen: HubTerm.limit - 1).contains { $0.hasPrefix("watch ← welcome") })
    #expect(hub.session(of: "watch") == (HubTerm.limit - 1) << 32 | 1)
    #expect(hub.core.authoritative.order.isPossible)
  }

  @Test("A term has 2^32 - 1 sessions; then no further one is opened, and none gets a number of the next term")
  func lastSession() {
    let clock = BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime)
    var table = SessionTable(term: 7, clock: clock, opened: HubTerm.sessionCountMax - 1)
    #expect(!table.isFull)
    table.open(
      HubStage.opened().greeting("watch"), sentAt: .zero, on: .named("watch"), isRunOn: false, at: .zero)
    #expect(table[.named("watch")]?.number == 7 << 32 | HubTerm.sessionCountMax)
    #expect(table.isFull)
  }

  @Test("A hub raises its term at most sixteen times a minute; an honest device is welcomed when it asks again")
  func raisedTooOften() {
    var hub = HubStage.opened()
    var answers: [String] = []
    for count in 1...40 as ClosedRange<UInt64> {
      let lines = hub.hello("liar", nonce: count, termSeen: hub.core.term + 1)
      answers += lines.filter { $0.contains("refused") }
      hub.commitsAll()
    }
    #expect(answers == Array(repeating: "liar ← refused busy", count: 40 - TermRaises.most))
    let term = hub.core.term
    #expect(hub.hello("watch", termSeen: term + 5) == ["watch ← refused busy"])
    hub.passes(.seconds(60))
    _ = hub.hello("watch", nonce: 2, termSeen: term + 5)
    #expect(hub.commitsAll().contains { $0.hasPrefix("watch ← welcome") })
  }

  @Test("A query is answered with the published state, a subscription with a publication")
  func query() {
    var hub = HubStage.with("watch")
    #expect(hub.says("watch", .query) == ["watch ← state 1.0.1 idle"])
    #expect(hub.feed(.subscribed(.snapshots)) == ["publish 1.0.1 idle"])
    #expect(hub.feed(.subscribed(.feed)) == [])
  }

  // Once broken: A thousand peers that joined received half a million snapshots, because the hub answered each
  // subscription with a publication to everybody.
  @Test("When a thousand peers subscribe at once, the state is published twice and not a thousand times")
  func manySubscriptions() {
    var hub = HubStage.with("watch", debounce: .zero)
    #expect(hub.feed(.subscribed(.snapshots)) == ["publish 1.0.1 idle"])
    for _ in 1...1000 { #expect(hub.feed(.subscribed(.snapshots)) == []) }
    #expect(hub.core.deadline == hub.now + .milliseconds(100))
    #expect(hub.passes(.milliseconds(99)) == [])
    #expect(hub.passes(.milliseconds(1)) == ["publish 1.0.1 idle"])
    #expect(hub.passes(.milliseconds(500)) == [])
    // Subscribers that wait have seen what is published meanwhile.
    for _ in 1...2 { _ = hub.feed(.subscribed(.snapshots)) }
    _ = hub.presses("watch", .start)
    #expect(hub.commitsAll().contains("publish 1.1.2 running"))
    #expect(hub.passes(.seconds(1)) == [])
  }

  @Test("A malformed frame is answered and changes nothing")
  func garbage() {
    var hub = HubStage.with("watch")
    #expect(hub.feed(.malformed(.named("stranger"), "no frame")) == ["stranger ← refused malformed"])
    #expect(hub.feed(.malformed(.named("watch"), "no frame")) == ["watch ← refused malformed"])
    #expect(hub.says("watch", .beat(1)) == ["watch ← pong 1 at 1.0.1"])
  }

  @Test("A REQ socket can only send requests")
  func requestSockets() {
    var hub = HubStage.opened()
    let hello = PeerFrame(session: 0, sentAt: .zero, message: .hello(hub.greeting("shell")))
    #expect(hub.feed(.frame(.named("shell", isRequest: true), hello)) == ["shell ← refused malformed"])
  }

  @Test("An ending hub commits what it has gathered and then says goodbye")
  func ending() {
    var hub = HubStage.with("watch")
    hub.startRun()
    #expect(hub.beats("watch", 150, from: 1) == [])
    #expect(hub.feed(.ending) == ["commit: watch 150 bpm at 0.5s, samples to 1, clock"])
    #expect(hub.commits() == ["watch ← goodbye", "ended"])
  }

  @Test("The goodbye is behind all that the last commit releases, and nothing comes after it")
  func lastWord() {
    var hub = HubStage.with("watch")
    hub.startRun()
    _ = hub.sends("watch", hub.command(.lap, by: "watch"))
    #expect(hub.feed(.ending) == [])
    // Asked for while the hub ends, the report waits for the same commit as the goodbye.
    #expect(hub.says("watch", .inquire(.report)) == [])
    var told = hub.commitsAll()
    #expect(told.suffix(2) == ["watch ← goodbye", "ended"], "\(told)")
    #expect(told.contains { $0.hasPrefix("watch ← answer") }, "\(told)")
    // What the driver had queued by then.
    told = hub.says("watch", .inquire(.peers)) + hub.says("watch", .beat(9)) + hub.feed(.deadline)
    #expect(told == [])
  }

  @Test("A hub whose disk is full still ends")
  func endingOnAFullDisk() {
    var hub = HubStage.with("watch")
    _ = hub.presses("watch", .start)
    let failing = hub.inFlight!.id
    #expect(hub.feed(.ending) == [])
    #expect(hub.feed(.commitFailed(failing)) == ["note", "watch ← goodbye", "ended"])
  }
}

extension SessionTable {
  /// The number of the first session of a table.
  fileprivate func opened() -> UInt64 {
    var table = self
    let hello = Hello(
      deviceID: DeviceID("watch"), role: .watch, nodeID: NodeID(high: 3, low: 1), storeID: StoreID(high: 2, low: 1),
      nonce: 1, termSeen: 0)
    let connection = ConnectionID.named("watch")
    table.open(hello, sentAt: .zero, on: connection, isRunOn: false, at: .zero)
    return table[connection]?.number ?? 0
  }
}
