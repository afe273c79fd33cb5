#if ZeroMQ && canImport(CZMQ)
  import Foundation
  import RunCore
  import TestSupport
  import Testing

  @testable import RunBus

  /// Connections with keys, with real sockets. ``TransportTests`` shows that they carry what other connections carry.
  @Suite("Connections with keys", .timeLimit(.minutes(2)))
  struct CurveTests {
    /// The number of a DEALER (zmq.h), which tests do not import.
    private static let dealer: CInt = 5

    /// A hub that lets some keys in, and peers with a key each.
    private struct Place {
      let pair: KeyPair
      let admitted: AdmittedKeys
      let hub: HubEnd
      let endpoint: String

      init(_ keys: [KeyPair]) async throws {
        pair = try KeyPair()
        admitted = AdmittedKeys(Set(keys.map(\.publicKey)))
        hub = HubEnd(try Loop())
        try await hub.listen(
          ZeroMQListener(
            control: "tcp://127.0.0.1:*", events: "tcp://127.0.0.1:*", keys: ListenerKeys(own: pair, admitted: admitted)
          ))
        endpoint = await hub.controlEndpoint
      }

      /// A peer that sends its hello as soon as the link stands.
      func peer(_ own: KeyPair, expecting hub: KeyFingerprint? = nil, hello: [UInt8]) async throws -> PeerEnd {
        let peer = PeerEnd(try Loop(), hello: hello)
        try await peer.connect(
          ZeroMQConnector(control: endpoint, keys: ConnectorKeys(own: own, hub: hub ?? pair.publicKey)))
        return peer
      }

      /// The bytes of all frames that have arrived, and who sent them.
      var heard: [[UInt8]: ConnectionIdentity] {
        hub.log.events.reduce(into: [:]) { heard, event in
          if case .frame(_, let bytes, let identity) = event { heard[bytes] = identity }
        }
      }
    }

    @Test("Each frame has the identity of the key that its connection has proved, the first one included")
    func identities() async throws {
      let (one, two) = (try KeyPair(), try KeyPair())
      let place = try await Place([one, two])
      let peers = [try await place.peer(one, hello: [1]), try await place.peer(two, hello: [2])]
      try await place.hub.log.frame([1])
      try await place.hub.log.frame([2])
      for (number, peer) in peers.enumerated() {
        #expect(await peer.send([UInt8(number) + 11]) == .sent)
        try await place.hub.log.frame([UInt8(number) + 11])
      }
      #expect(
        place.heard == [
          [1]: .key(one.publicKey), [11]: .key(one.publicKey), [2]: .key(two.publicKey), [12]: .key(two.publicKey),
        ])
      for peer in peers { await peer.close() }
      await place.hub.close()
    }

    @Test("A key that is not let in sends nothing and is told so; it is let in as soon as the list has it")
    func unknownKey() async throws {
      let (known, stranger) = (try KeyPair(), try KeyPair())
      let place = try await Place([known])
      let peer = try await place.peer(stranger, hello: [9])
      try await peer.log.linkDown("key")
      let other = try await place.peer(known, hello: [1])
      try await place.hub.log.frame([1])
      #expect(place.heard == [[1]: .key(known.publicKey)])
      place.admitted.replace(by: [known.publicKey, stranger.publicKey])
      try await place.hub.log.frame([9])
      #expect(place.heard[[9]] == .key(stranger.publicKey))
      for peer in [peer, other] { await peer.close() }
      await place.hub.close()
    }

    @Test("A peer sends nothing to a hub that does not hold the expected key")
    func wrongHub() async throws {
      let known = try KeyPair()
      let place = try await Place([known])
      let peer = try await place.peer(known, expecting: try KeyPair().publicKey, hello: [9])
      try await peer.log.linkDown("hub")
      #expect(place.heard.isEmpty)
      await peer.close()
      await place.hub.close()
    }

    @Test("A peer without keys sends nothing to a hub with keys, and hears nothing")
    func plainPeer() async throws {
      let known = try KeyPair()
      let place = try await Place([known])
      let plain = PeerEnd(try Loop(), hello: [9])
      try await plain.connect(ZeroMQConnector(control: place.endpoint))
      try await plain.log.linkDown()
      let peer = try await place.peer(known, hello: [1])
      try await place.hub.log.frame([1])
      #expect(place.heard == [[1]: .key(known.publicKey)])
      for peer in [plain, peer] { await peer.close() }
      await place.hub.close()
    }

    @Test("A peer with keys sends nothing to a hub without keys")
    func plainHub() async throws {
      let hub = HubEnd(try Loop())
      try await hub.listen(ZeroMQListener(control: "tcp://127.0.0.1:*", events: "tcp://127.0.0.1:*"))
      let peer = PeerEnd(try Loop(), hello: [9])
      try await peer.connect(
        ZeroMQConnector(
          control: await hub.controlEndpoint, keys: ConnectorKeys(own: try KeyPair(), hub: try KeyPair().publicKey)))
      try await peer.log.linkDown()
      #expect(hub.log.frames.isEmpty)
      await peer.close()
      await hub.close()
    }

    @Test("Without a handler for the check of keys, no key is let in")
    func noHandler() async throws {
      let (hub, known) = (try KeyPair(), try KeyPair())
      // A context of its own has no handler.
      let context = try ZMQContext()
      let socket = try ZMQSocket(context, type: 6)  // ZMQ_ROUTER
      try socket.set(17, CInt(0))  // ZMQ_LINGER
      try ZMQOptions.applyServer(hub, domain: "none", to: socket)
      try socket.bind("tcp://127.0.0.1:*")
      let peer = PeerEnd(try Loop(), hello: [9])
      try await peer.connect(
        ZeroMQConnector(control: try socket.lastEndpoint(), keys: ConnectorKeys(own: known, hub: hub.publicKey)))
      try await peer.log.linkDown()
      #expect(try socket.receiveParts(max: 3) == nil)
      await peer.close()
    }

    @Test("After its key is taken back, a subscriber hears nothing more; the others are back at the same place")
    func revocation() async throws {
      let (kept, gone) = (try KeyPair(), try KeyPair())
      let place = try await Place([kept, gone])
      let (stays, leaves) = (try await place.peer(kept, hello: [1]), try await place.peer(gone, hello: [2]))
      let events = await place.hub.eventsEndpoint
      for (number, peer) in [stays, leaves].enumerated() {
        try await place.hub.log.frame([UInt8(number) + 1])
        await peer.subscribe(to: events, topics: [.snapshots])
      }
      try await place.hub.log.subscriptions(2, to: .snapshots)
      await place.hub.publish([50], on: .snapshots)
      try await stays.log.published([50])
      try await leaves.log.published([50])

      place.admitted.replace(by: [kept.publicKey])
      await place.hub.cutConnections()
      try await leaves.log.linkDown("key")
      try await stays.log.linkUp(2)
      try await place.hub.log.subscriptions(3, to: .snapshots)
      #expect(await place.hub.controlEndpoint == place.endpoint)
      #expect(await place.hub.eventsEndpoint == events)
      await place.hub.publish([51], on: .snapshots)
      try await stays.log.published([51])
      #expect(await stays.send([3]) == .sent)
      try await place.hub.log.frame([3])
      #expect(EventLog.published(leaves.log.events).map(\.bytes) == [[50]])
      #expect(await leaves.send([4]) == .gone)
      for peer in [stays, leaves] { await peer.close() }
      await place.hub.close()
    }

    @Test(
      "The place of the events is on the peer's own host, or of its own kind",
      arguments: [
        ("tcp://10.0.0.7:7070", "tcp://192.0.2.1:7071", "tcp://10.0.0.7:7071"),
        ("tcp://[fd00::7]:7070", "tcp://0.0.0.0:7071", "tcp://[fd00::7]:7071"),
        ("tcp://10.0.0.7:7070", "tcp://192.0.2.1", nil), ("tcp://10.0.0.7:7070", "tcp://192.0.2.1:0", nil),
        ("tcp://10.0.0.7:7070", "tcp://192.0.2.1:70710", nil), ("tcp://10.0.0.7:7070", "ipc:///tmp/elsewhere", nil),
        ("tcp://10.0.0.7:7070", "inproc://zeromq.zap.01", nil), ("tcp://10.0.0.7:7070", "", nil),
        ("ipc:///run/control.sock", "ipc:///run/events.sock", "ipc:///run/events.sock"),
        ("ipc:///run/control.sock", "tcp://192.0.2.1:7071", nil), ("ipc:///run/control.sock", "inproc://x", nil),
      ] as [(String, String, String?)])
    func eventsEndpoint(_ control: String, _ named: String, _ expected: String?) {
      #expect(ZeroMQConnector(control: control).eventsEndpoint(named: named, at: control) == expected)
    }

    @Test("A peer connects to no other host than the one that it was given, whatever the welcome says")
    func placeOfEvents() async throws {
      let known = try KeyPair()
      let place = try await Place([known])
      let peer = try await place.peer(known, hello: [1])
      try await place.hub.log.frame([1])
      let events = await place.hub.eventsEndpoint
      let port = try #require(events.split(separator: ":").last)
      await peer.subscribe(to: "inproc://zeromq.zap.01", topics: [.feed])
      await peer.subscribe(to: "tcp://192.0.2.1:\(port)", topics: [.feed])
      try await place.hub.log.subscriptions(1, to: .feed)
      await place.hub.publish([7], on: .feed)
      try await peer.log.published([7])
      await peer.close()
      await place.hub.close()
    }
  }
#endif
