@testable import RunCore
import Testing

@Suite("What the identity of a connection may do")
struct HubIdentityTests {
  private static let watch = DeviceID("watch")
  private static let link = ConnectionIdentity.link(watch)
  private static func key(_ byte: UInt8) -> ConnectionIdentity {
    .key(KeyFingerprint(Array(repeating: byte, count: KeyFingerprint.byteCount))!)
  }

  private func message(_ id: UInt64) -> AppMessage { AppMessage(id: MessageID(high: 7, low: id), name: "m", body: []) }

  private func disk(of hub: HubStage) -> HubDisk {
    var disk = HubDisk()
    disk.commit(hub.durable)
    return disk
  }

  /// A hub that the watch has met by a link.
  private func met() -> HubStage {
    var hub = HubStage.opened()
    _ = hub.says("watch", .hello(hub.greeting("watch")), session: 0, by: Self.link)
    hub.commitsAll()
    return hub
  }

  @Test("A name belongs to the identity that used it last; nobody's names are free, and the owner may use every name")
  func names() {
    let users: [ConnectionIdentity?] = [nil, .anyone, Self.key(1), Self.key(2), Self.link, .localOwner]
    func joins(_ identity: ConnectionIdentity) -> [Bool] { users.map { identity.mayJoin(as: Self.watch, of: $0) } }
    #expect(joins(.localOwner) == [true, true, true, true, true, true])
    #expect(joins(Self.key(1)) == [true, true, true, false, false, false])
    #expect(joins(Self.link) == [true, true, true, true, true, true])
    #expect(joins(.link(DeviceID("band"))) == [false, false, false, false, false, false])
    #expect(joins(.anyone) == [true, true, false, false, false, false])
    func presses(_ identity: ConnectionIdentity) -> [Bool] { users.map { identity.mayPress(as: Self.watch, of: $0) } }
    #expect(presses(.link(DeviceID("band"))) == [true, true, false, false, false, false])
    #expect(presses(.anyone) == joins(.anyone) && presses(Self.key(1)) == joins(Self.key(1)))
  }

  @Test(
    "An identity is one word that can be read again",
    arguments: [
      .localOwner, .anyone, .link(watch), key(0), key(0xa7),
      .candidate(KeyFingerprint(Array(repeating: 7, count: KeyFingerprint.byteCount))!),
    ] as [ConnectionIdentity])
  func description(identity: ConnectionIdentity) {
    #expect(ConnectionIdentity(identity.description) == identity)
  }

  @Test(
    "Other words are no identities",
    arguments: ["", "owner", "link:", "link:No", "key:", "key:" + String(repeating: "0", count: 63) + "g", "any:one"])
  func noIdentity(word: String) { #expect(ConnectionIdentity(word) == nil) }

  @Test("A stranger cannot use the name of a linked device, or get what is owed to it, also after a restart")
  func borrowedName() {
    var hub = met()
    _ = hub.says("watch", .goodbye, by: Self.link)
    _ = hub.feed(.post(message(1), .queued, to: Self.watch))
    hub.commitsAll()
    func tries(_ hub: inout HubStage) -> [String] {
      var hello = hub.greeting("watch")
      hello.storeID = StoreID(high: 2, low: 99)
      return hub.says("stranger", .hello(hello), session: 0, by: .anyone)
    }
    #expect(tries(&hub) == ["stranger ← refused forbidden"])
    var next = HubStage.opened(history: disk(of: hub).history, now: hub.now)
    #expect(tries(&next) == ["stranger ← refused forbidden"])
    var hello = next.greeting("watch", nonce: 2)
    hello.hub = HubStage.storeID
    let lines = next.says("watch", .hello(hello), session: 0, by: Self.link) + next.commitsAll()
    #expect(lines.contains("watch ← messages 1"), "\(lines)")
  }

  @Test("A store belongs to the identity that first said hello with it, also after a restart")
  func borrowedStore() {
    let hub = met()
    var history = disk(of: hub).history
    history.members = .paired(1, as: "thief")
    var next = HubStage.opened(history: history, now: hub.now)
    for (name, identity) in [("thief", Self.key(1)), ("guest", .anyone)] {
      var hello = next.greeting(name)
      hello.storeID = HubStage.store("watch")
      #expect(next.says(name, .hello(hello), session: 0, by: identity) == ["\(name) ← refused storeRegressed"])
      hello.storeID = HubStage.store("of \(name)")
      let lines = next.says(name, .hello(hello), session: 0, by: identity) + next.commitsAll()
      #expect(lines.contains { $0.hasPrefix("\(name) ← welcome") }, "\(lines)")
    }
  }

  // Once broken: A member that said hello with the id of the hub's store, which every welcome tells, passed for the
  // hub's own buttons: its commands used up the slots of the phone, the phone's stop went to a run that it had
  // invented, and the phone's app got its receipts.
  @Test("The hub's own store belongs to the hub: no device can use its id, which every welcome tells")
  func hubStore() {
    for identity in [.anyone, Self.key(1), .localOwner] as [ConnectionIdentity] {
      var history = HubHistory()
      if case .key = identity { history.members = .paired(1, as: "thief") }
      var hub = HubStage.opened(history: history)
      var hello = hub.greeting("thief")
      hello.storeID = HubStage.storeID
      let lines = hub.says("thief", .hello(hello), session: 0, by: identity)
      #expect(lines == ["thief ← refused storeRegressed"])
    }
  }

  @Test("A store that the hub has forgotten has no owner")
  func forgottenStore() {
    var hub = met()
    _ = hub.says("watch", .goodbye, by: Self.link)
    hub.core.inTurn(at: hub.now) { $0.giveUp(HubStage.store("watch"), in: &$1) }
    hub.passes(.seconds(1))
    hub.commitsAll()
    #expect(hub.core.mail.owner(of: HubStage.store("watch")) == nil)
    #expect(disk(of: hub).history.storeOwners.isEmpty)
  }

  @Test("A name that an unknown sender has used goes to a device with an identity, and what is owed to it goes along")
  func freeName() {
    var hub = HubStage.opened()
    _ = hub.says("watch", .hello(hub.greeting("watch")), session: 0, by: .anyone)
    hub.commitsAll()
    _ = hub.says("watch", .goodbye, by: .anyone)
    _ = hub.feed(.post(message(1), .queued, to: Self.watch))
    hub.commitsAll()
    let settings = hub.core.settings
    hub.core.members = Membership(
      .paired(1, as: "watch"), hubName: settings.deviceID, bus: settings.bus, clock: settings.clock,
      listProof: settings.listProof)
    var hello = hub.greeting("watch")
    hello.storeID = StoreID(high: 2, low: 99)
    let lines = hub.says("paired", .hello(hello), session: 0, by: Self.key(1)) + hub.commitsAll()
    #expect(lines.contains("paired ← messages 1"), "\(lines)")
    #expect(disk(of: hub).history.devices.map(\.identity) == [Self.key(1)])
    #expect(
      hub.says("stranger", .hello(hub.greeting("watch", nonce: 3)), session: 0, by: .anyone)
        == ["stranger ← refused forbidden"])
  }

  @Test("A session belongs to its connection and identity")
  func session() {
    var hub = met()
    #expect(hub.says("watch", .query, by: .anyone) == ["watch ← refused unknownSession"])
    let unknown = UnsupportedCommand(session: hub.session(of: "watch"), sequence: 1, reply: [])
    #expect(hub.feed(.unsupported(.named("watch"), unknown, by: .anyone)) == ["watch ← refused unknownSession"])
    #expect(hub.says("watch", .query, by: Self.link).count == 1)
    #expect(hub.says("watch", .query, by: Self.link) != ["watch ← refused unknownSession"])
  }

  @Test("A stranger cannot press as the hub or as a device of another identity")
  func requests() {
    var hub = met()
    for name in ["phone", "watch"] {
      #expect(hub.requests(name, .start, id: 1, by: .anyone) == ["\(name) ← refused forbidden"])
    }
    #expect(hub.requests("watch", .start, id: 1, by: .link(DeviceID("band"))) == ["watch ← refused forbidden"])
    #expect(hub.requests("script", .start, id: 1, by: .anyone) != ["script ← refused forbidden"])
    #expect(hub.requests("phone", .lap, id: 2, by: .localOwner) != ["phone ← refused forbidden"])
  }

  @Test("A stranger is not told what the hub holds for the devices")
  func holdings() {
    var history = HubHistory()
    history.members = .paired(1, as: "band")
    var hub = HubStage.opened(history: history)
    _ = hub.says("watch", .hello(hub.greeting("watch")), session: 0, by: .anyone)
    hub.commitsAll()
    func answers(_ inquiry: Inquiry, by identity: ConnectionIdentity, as name: String) -> Bool {
      hub.act(
        .frame(
          .named(name), PeerFrame(session: hub.session(of: name), sentAt: .zero, message: .inquire(inquiry)),
          by: identity)
      ).contains {
        if case .send(let frame, _) = $0, case .answer(.failed) = frame.message { false } else { true }
      }
    }
    #expect(!answers(.outbox, by: .anyone, as: "watch") && !answers(.quarantine, by: .anyone, as: "watch"))
    #expect(answers(.peers, by: .anyone, as: "watch"))
    _ = hub.says("band", .hello(hub.greeting("band")), session: 0, by: Self.key(1))
    hub.commitsAll()
    #expect(answers(.outbox, by: Self.key(1), as: "band") && answers(.quarantine, by: Self.key(1), as: "band"))
  }

  @Test("Devices of unknown senders are forgotten before others")
  func forgotten() {
    var hub = HubStage.opened()
    _ = hub.says("watch", .hello(hub.greeting("watch")), session: 0, by: Self.link)
    hub.commitsAll()
    _ = hub.says("watch", .goodbye, by: Self.link)
    hub.passes(.seconds(1))
    for number in 0...HubCore.absentMax {
      _ = hub.says("d\(number)", .hello(hub.greeting("d\(number)")), session: 0, by: .anyone)
      _ = hub.says("d\(number)", .goodbye, by: .anyone)
      hub.commitsAll()
    }
    #expect(hub.core.mail.devices.count <= HubCore.absentMax)
    #expect(hub.core.mail.devices[Self.watch]?.identity == Self.link)
  }

  @Test("A welcome names the events endpoint of its listener, and routes of two listeners are two connections")
  func listeners() {
    var hub = HubStage.opened()
    _ = hub.feed(.opened(eventsEndpoint: "far", listener: 1))
    func endpoint(at listener: Int, _ name: String) -> String? {
      let connection = ConnectionID(route: [7], isRequest: false, listener: listener)
      let frame = PeerFrame(session: 0, sentAt: .zero, message: .hello(hub.greeting(name)))
      var actions = hub.act(.frame(connection, frame))
      while let id = hub.takeInFlight() { actions += hub.act(.committed(id)) }
      for case .send(let frame, connection) in actions {
        if case .welcome(let welcome) = frame.message { return welcome.eventsEndpoint }
      }
      return nil
    }
    #expect(endpoint(at: 0, "watch") == "events" && endpoint(at: 1, "band") == "far")
    #expect(hub.core.sessions.sessions.count == 2)
  }
}
