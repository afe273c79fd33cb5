import RunBus
import RunCore
import TestSupport
import Testing

@Suite("A bridge", .timeLimit(.minutes(2)))
struct FrameBridgeTests {
  /// The ends of one link, with their nodes' transports.
  private static func ends(_ link: BridgedLink) async throws -> (hub: HubEnd, peer: PeerEnd) {
    let (hub, peer) = (HubEnd(try Loop()), PeerEnd(try Loop()))
    try await hub.listen(link.hub.listener)
    try await peer.connect(link.peer.connector)
    return (hub, peer)
  }

  @Test("A link that drops ends the connection on both sides, and its return makes a new one")
  func drop() async throws {
    let link = BridgedLink(isReachable: false)
    let (hub, peer) = try await Self.ends(link)
    #expect(await peer.send([1]) == .gone)
    for bridge in [link.hub, link.peer] { bridge.setReachable(true) }
    try await peer.log.linkUp()
    #expect(await peer.send([1]) == .sent)
    let old = try await hub.log.frame([1])
    for bridge in [link.hub, link.peer] { bridge.setReachable(false) }
    try await peer.log.linkDown()
    #expect(await hub.send([2], to: old) == .gone)
    for bridge in [link.peer, link.hub] { bridge.setReachable(true) }
    try await peer.log.linkUp(2)
    try await repeating {
      _ = await peer.send([3])
    } until: {
      let connection = try await hub.log.frame([3])
      #expect(connection != old)
    }
    #expect(await hub.send([2], to: old) == .gone)
    await peer.close()
    await hub.close()
  }

  @Test("Only one end notices that the link has dropped, and both agree afterwards", arguments: [true, false])
  func oneSide(_ isHub: Bool) async throws {
    let link = BridgedLink()
    let (hub, peer) = try await Self.ends(link)
    try await peer.log.linkUp()
    let bridge = isHub ? link.hub : link.peer
    bridge.setReachable(false)
    bridge.setReachable(true)
    try await repeating {
      _ = await peer.send([3])
    } until: {
      try await peer.log.linkUp(2)
      let connection = try await hub.log.frame([3])
      await hub.echo()
      try await peer.log.frame([3])
      #expect(!connection.isRequest)
    }
    await peer.close()
    await hub.close()
  }

  @Test("Bytes that no bridge sends are dropped and counted, and the connection goes on")
  func garbage() async throws {
    let link = BridgedLink()
    let (hub, peer) = try await Self.ends(link)
    try await peer.log.linkUp()
    let tooLong = [2] + [UInt8](repeating: 7, count: ConnectionLimits.full.frameBytesMax + 2)
    var generator = SeededGenerator(seed: 7)
    for bridge in [link.hub, link.peer] {
      var wrong: [[UInt8]] = [[], [0], [200, 1, 2], tooLong, [1, 9]]
      // Unknown kinds with random content.
      for _ in 0..<500 {
        let count = Int.random(in: 0...40, using: &generator)
        wrong.append(
          [.random(in: 10...255, using: &generator)] + (0..<count).map { _ in .random(in: 0...255, using: &generator) })
      }
      for bytes in wrong { #expect(bridge.receive(bytes)) }
      #expect(bridge.unreadableMessages == UInt64(wrong.count))
    }
    // What only the other end sends is wrong, too.
    link.hub.receive([9])
    link.peer.receive([4])
    #expect(await peer.send([1]) == .sent)
    let connection = try await hub.log.frame([1])
    #expect(await hub.send([2], to: connection) == .sent)
    try await peer.log.frame([2])
    #expect(link.hub.unreadableMessages == 506 && link.peer.unreadableMessages == 506)
    await peer.close()
    await hub.close()
  }

  @Test("Random messages of its kinds do not stop a bridge")
  func wrongOrder() async throws {
    let link = BridgedLink()
    let (hub, peer) = try await Self.ends(link)
    try await peer.log.linkUp()
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<2000 {
      let count = Int.random(in: 0...12, using: &generator)
      let bytes =
        [UInt8.random(in: 1...9, using: &generator)]
        + (0..<count).map { _ in .random(in: 0...3, using: &generator) }
      (Bool.random(using: &generator) ? link.hub : link.peer).receive(bytes)
    }
    try await repeating {
      _ = await peer.send([7, 7, 7])
    } until: {
      try await hub.log.frame([7, 7, 7])
    }
    await peer.close()
    await hub.close()
  }

  @Test("A frame that is too long is not sent")
  func oversize() async throws {
    let link = BridgedLink()
    let (hub, peer) = try await Self.ends(link)
    try await peer.log.linkUp()
    let most = ConnectionLimits.full.frameBytesMax
    #expect(await peer.send([UInt8](repeating: 1, count: most + 1)) == .gone)
    #expect(await peer.send([UInt8](repeating: 1, count: most)) == .sent)
    let connection = try await hub.log.frame([UInt8](repeating: 1, count: most))
    #expect(await hub.send([UInt8](repeating: 1, count: most + 1), to: connection) == .gone)
    await peer.close()
    await hub.close()
  }

  @Test("A bridge serves one node at a time")
  func oneNode() async throws {
    let link = BridgedLink()
    let (hub, peer) = try await Self.ends(link)
    await #expect(throws: RunBusError.self) { try await PeerEnd(hub.loop).connect(link.hub.connector) }
    await #expect(throws: RunBusError.self) { try await HubEnd(hub.loop).listen(link.peer.listener) }
    await peer.close()
    await hub.close()
    let (next, nextPeer) = try await Self.ends(link)
    try await nextPeer.log.linkUp()
    await nextPeer.close()
    await next.close()
  }

  @Test("The identity of the other end is that of its device, or what the app states")
  func identity() async throws {
    let watch = DeviceID("watch")
    let link = BridgedLink(device: watch)
    let (hub, peer) = try await Self.ends(link)
    try await peer.log.linkUp()
    #expect(await peer.send([1]) == .sent)
    let identity = try await hub.log.wait(for: "a frame") { events in
      events.lazy.compactMap { if case .frame(_, _, let identity) = $0 { identity } else { nil } }.first
    }
    #expect(identity == .link(watch))
    #expect(FrameBridge { _ in .gone }.identity == .anyone)
    #expect(FrameBridge(device: watch, identity: .localOwner) { _ in .gone }.identity == .localOwner)
    await peer.close()
    await hub.close()
  }

  @Test("Both ends of a link can be read as streams")
  func streams() async throws {
    let (toHub, hubLink) = AsyncStream.makeStream(of: [UInt8].self)
    let (toPeer, peerLink) = AsyncStream.makeStream(of: [UInt8].self)
    let (reachable, state) = AsyncStream.makeStream(of: Bool.self)
    let (reachableToo, stateToo) = AsyncStream.makeStream(of: Bool.self)
    let hubBridge = FrameBridge(
      send: { bytes in
        peerLink.yield(bytes)
        return .sent
      }, receive: toHub, reachable: reachable)
    let peerBridge = FrameBridge(
      send: { bytes in
        hubLink.yield(bytes)
        return .sent
      }, receive: toPeer, reachable: reachableToo)
    let (hub, peer) = (HubEnd(try Loop()), PeerEnd(try Loop()))
    try await hub.listen(hubBridge.listener)
    try await peer.connect(peerBridge.connector)
    for state in [state, stateToo] { state.yield(true) }
    try await peer.log.linkUp()
    #expect(await peer.send([1]) == .sent)
    try await hub.log.frame([1])
    await peer.close()
    await hub.close()
  }
}
