import Foundation
import RunBus
import RunCore
import TestSupport
import Testing

@Suite("Every transport")
struct TransportTests {
  @Test("A frame reaches the hub and its answer comes back", arguments: TransportKind.allCases)
  func roundTrip(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let (hub, peer) = try await place.pair()
      #expect(await peer.send([1, 2, 3]) == .sent)
      let connection = try await hub.log.frame([1, 2, 3])
      #expect(!connection.isRequest)
      #expect(await hub.send([4], to: connection) == .sent)
      try await peer.log.frame([4])
      await peer.close()
      await hub.close()
    }
  }

  @Test("A hello can be sent in the very call that reports the link", arguments: TransportKind.allCases)
  func hello(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let hub = try await place.hub()
      await hub.echo()
      for number in 0..<20 as Range<UInt8> {
        let peer = PeerEnd(try Loop(), hello: [7, number])
        try await peer.connect(place.connector(await hub.controlEndpoint))
        try await peer.log.frame([7, number])
        #expect(await peer.helloOutcome == .sent)
        await peer.close()
      }
      await hub.close()
    }
  }

  @Test(
    "A hub's last frame arrives even if its peer reads only after the hub is gone", arguments: TransportKind.allCases)
  func lastWord(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let (hub, late) = try await place.pair()
      let witnesses = [try await place.peer(of: hub), try await place.peer(of: hub)]
      for witness in witnesses { try await witness.log.linkUp() }
      #expect(await late.send([1]) == .sent)
      let connection = try await hub.log.frame([1])
      let gate = LoopGate()
      async let standing: Void = late.standStill(behind: gate)
      await gate.isClosed()
      #expect(await hub.send([9], to: connection) == .sent)
      await hub.close()
      // They share the thread that reads their sockets.
      for witness in witnesses { try await witness.log.linkDown() }
      gate.open()
      await standing
      try await late.log.frame([9])
      try await late.log.linkDown()
      for peer in witnesses + [late] { await peer.close() }
    }
  }

  @Test("A burst arrives whole and in order", arguments: TransportKind.allCases)
  func burst(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let (hub, peer) = try await place.pair()
      await hub.echo()
      let frames = (0..<200 as Range<UInt8>).map { [UInt8](repeating: $0, count: 1 + Int($0) * 40) }
      for frame in frames { #expect(await peer.send(frame) == .sent) }
      try await peer.log.frame(frames[199])
      #expect(EventLog<PeerTransportEvent>.frames(peer.log.events) == frames)
      #expect(hub.log.frames.map(\.bytes) == frames)
      await peer.close()
      await hub.close()
    }
  }

  @Test(
    "A hub and two peers share one loop, and a send never calls back", arguments: TransportKind.allCases)
  func oneLoop(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let loop = try Loop()
      let (hub, first) = try await place.pair(on: loop)
      let second = try await place.peer(of: hub, on: loop)
      try await second.log.linkUp()
      await hub.echo()
      #expect(await first.send([1]) == .sent)
      #expect(await second.send([2]) == .sent)
      try await first.log.frame([1])
      try await second.log.frame([2])
      #expect(Set(hub.log.frames.map(\.connection)).count == 2)
      #expect(EventLog<PeerTransportEvent>.frames(first.log.events) == [[1]])
      await first.close()
      await second.close()
      await hub.close()
    }
  }

  @Test("A send to a connection that is gone, or never existed, reports it as gone", arguments: TransportKind.allCases)
  func gone(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let (hub, peer) = try await place.pair()
      #expect(await hub.send([1], to: ConnectionID(route: [9, 9, 9], isRequest: false)) == .gone)
      #expect(await hub.send([1], to: ConnectionID(route: [], isRequest: false)) == .gone)
      #expect(await peer.send([1]) == .sent)
      let connection = try await hub.log.frame([1])
      await peer.close()
      #expect(await peer.send([1]) == .gone)
      try await within("the hub to notice") {
        while await hub.send([2], to: connection) != .gone { await Task.yield() }
      }
      await hub.close()
    }
  }

  @Test(
    "A peer that does not read fills its queue, loses no sent frame, and is served again when it reads",
    arguments: TransportKind.allCases)
  func full(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let (hub, peer) = try await place.pair()
      #expect(await peer.send([1]) == .sent)
      let connection = try await hub.log.frame([1])
      let gate = DispatchSemaphore(value: 0)
      peer.loop.submit { gate.wait() }
      var sent = 0
      // Far more than both queues and the system's buffers hold.
      while sent < 10_000 {
        let head = [UInt8(sent & 255), UInt8(sent >> 8)]
        let outcome = await hub.send(head + [UInt8](repeating: 0, count: 16_000), to: connection)
        guard outcome == .sent else {
          #expect(outcome == .full)
          break
        }
        sent += 1
      }
      #expect(sent < 10_000)
      gate.signal()
      let count = sent
      try await peer.log.wait(for: "all that was sent") { events in
        EventLog<PeerTransportEvent>.frames(events).count >= count ? true : nil
      }
      let numbers = EventLog<PeerTransportEvent>.frames(peer.log.events).map { Int($0[0]) | Int($0[1]) << 8 }
      #expect(numbers == Array(0..<sent))
      try await within("room") {
        while await hub.send([5], to: connection) != .sent { await Task.yield() }
      }
      try await peer.log.frame([5])
      await peer.close()
      await hub.close()
    }
  }

  @Test("A peer reconnects to its hub by itself, with a new connection", arguments: TransportKind.allCases)
  func reconnect(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let (hub, peer) = try await place.pair()
      let again = await place.bound(to: hub)
      #expect(await peer.send([1]) == .sent)
      let old = try await hub.log.frame([1])
      await hub.close()
      try await peer.log.linkDown()
      #expect(await peer.send([2]) == .gone)
      let next = try await again.hub()
      try await peer.log.linkUp(2)
      #expect(await peer.send([3]) == .sent)
      let new = try await next.log.frame([3])
      #expect(old != new)
      #expect(await next.send([4], to: old) == .gone)
      #expect(next.log.frames.map(\.bytes) == [[3]])
      await peer.close()
      await next.close()
    }
  }

  @Test("A peer may start before its hub")
  func peerFirst() async throws {
    try await TransportKind.allCases.first { $0.rawValue == "ipc" }?.withPlace { place in
      let peer = PeerEnd(try Loop())
      try await peer.connect(place.connector("ipc://" + place.directory + "/control.sock"))
      let hub = try await place.hub()
      try await peer.log.linkUp()
      await peer.close()
      await hub.close()
    }
  }

  @Test("The hub sees every subscription, and subscribers receive only their topics", arguments: TransportKind.allCases)
  func subscriptions(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let (hub, peer) = try await place.pair()
      let other = try await place.peer(of: hub)
      try await other.log.linkUp()
      await hub.publish([0], on: .snapshots)
      await peer.subscribe(to: await hub.eventsEndpoint, topics: [.snapshots])
      try await hub.log.subscriptions(1, to: .snapshots)
      await other.subscribe(to: await hub.eventsEndpoint, topics: [.snapshots, .feed])
      try await hub.log.subscriptions(2, to: .snapshots)
      try await hub.log.subscriptions(1, to: .feed)
      await hub.publish([1], on: .feed)
      await hub.publish([2], on: .snapshots)
      try await peer.log.published([2])
      try await other.log.published([2])
      #expect(EventLog<PeerTransportEvent>.published(peer.log.events).map(\.bytes) == [[2]])
      #expect(EventLog<PeerTransportEvent>.published(other.log.events).map(\.bytes) == [[1], [2]])
      #expect(EventLog<PeerTransportEvent>.published(other.log.events).map(\.topic) == [.feed, .snapshots])
      for end in [peer, other] { await end.close() }
      await hub.close()
    }
  }

  @Test("A new subscription replaces the old one", arguments: TransportKind.allCases)
  func resubscription(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let (hub, peer) = try await place.pair()
      let endpoint = await hub.eventsEndpoint
      await peer.subscribe(to: endpoint, topics: [.snapshots])
      await peer.subscribe(to: endpoint, topics: [.snapshots])
      try await hub.log.subscriptions(1, to: .snapshots)
      await peer.subscribe(to: endpoint, topics: [.feed])
      try await hub.log.subscriptions(1, to: .feed)
      await hub.publish([1], on: .snapshots)
      await hub.publish([2], on: .feed)
      try await peer.log.published([2])
      #expect(EventLog<PeerTransportEvent>.published(peer.log.events).map(\.bytes) == [[2]])
      await peer.close()
      await hub.close()
    }
  }

  @Test("A second hub is told that the bus is held, and the first is not disturbed", arguments: TransportKind.allCases)
  func secondHub(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let (hub, peer) = try await place.pair()
      let again = await place.bound(to: hub)
      let error = await #expect(throws: RunBusError.self) { _ = try await again.hub() }
      #expect(error?.code == (kind == .inProcess ? .busHeld : .addressInUse))
      #expect(await peer.send([1]) == .sent)
      try await hub.log.frame([1])
      await peer.close()
      await hub.close()
      // The bus is free now.
      try await again.hub().close()
    }
  }

  @Test("Closing twice, or releasing without closing, leaves nothing behind", arguments: TransportKind.allCases)
  func leftovers(_ kind: TransportKind) async throws {
    try await kind.withPlace { place in
      let (hub, peer) = try await place.pair()
      let again = await place.bound(to: hub)
      await peer.close()
      await peer.close()
      await hub.close()
      await hub.close()
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory) == [])
      let (dropped, droppedPeer) = try await again.pair()
      await droppedPeer.drop()
      await dropped.drop()
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory) == [])
      let next = try await again.hub()
      await next.close()
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory) == [])
    }
  }
}
