import RunBus
import Synchronization

/// Delivers to one node, on its loop and in a later turn.
private final class Inbox<Event: Sendable>: Sendable {
  /// The most frames that wait for the node: more than a burst of presses, at most 16 MiB.
  private static var waitingMax: Int { 256 }
  private let waiting: Mutex<Int?> = Mutex(0)
  private let loop: Loop
  private let deliver: @Sendable (Event) -> Void

  init(on loop: Loop, deliver: @escaping @Sendable (Event) -> Void) {
    self.loop = loop
    self.deliver = deliver
  }

  /// Changes of the connection and subscriptions are not bounded: they are few, and a lost one is never repeated.
  func put(_ event: Event, isBounded: Bool = true) -> SendOutcome {
    let outcome = waiting.withLock { count -> SendOutcome in
      guard let present = count else { return .gone }
      guard present < Self.waitingMax || !isBounded else { return .full }
      count = present + 1
      return .sent
    }
    guard outcome == .sent else { return outcome }
    loop.submit { [self] in
      let isOpen = waiting.withLock { count in
        count = count.map { $0 - 1 }
        return count != nil
      }
      if isOpen { deliver(event) }
    }
    return .sent
  }

  func close() { waiting.withLock { $0 = nil } }
}

/// A wire between a hub and one peer in the same process: the least that a transport has to do.
final class Wire: Sendable {
  fileprivate struct State {
    var hub: Inbox<HubTransportEvent>?
    var peer: Inbox<PeerTransportEvent>?
    var topics: Set<Topic> = []
    /// Each connection has a number of its own, so that no frame reaches a later one.
    var connection: UInt64 = 0

    var id: ConnectionID {
      ConnectionID(route: withUnsafeBytes(of: connection.bigEndian) { Array($0) }, isRequest: false)
    }

    mutating func connect() {
      guard hub != nil, let peer else { return }
      connection += 1
      topics = []
      _ = peer.put(.linkUp, isBounded: false)
    }
  }
  fileprivate let state = Mutex(State())
}

extension Wire: HubListener {
  func listen(
    on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
  ) throws(RunBusError) -> any HubTransport {
    let isTaken = state.withLock { state in
      guard state.hub == nil else { return false }
      state.hub = Inbox(on: loop, deliver: deliver)
      state.connect()
      return true
    }
    guard isTaken else { throw RunBusError(.busHeld, "the wire has a hub already") }
    return HubEnd(wire: self)
  }
}

private final class HubEnd: HubTransport {
  private let wire: Wire
  private var isOpen = true
  let controlEndpoint = "wire:control"
  let eventsEndpoint = "wire:events"

  init(wire: Wire) { self.wire = wire }

  func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome {
    wire.state.withLock { state in
      guard let peer = state.peer, state.id.route == connection.route else { return .gone }
      return peer.put(.frame(bytes))
    }
  }

  func publish(_ bytes: [UInt8], on topic: Topic) {
    wire.state.withLock { state in
      if state.topics.contains(topic) { _ = state.peer?.put(.event(topic, bytes)) }
    }
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    wire.state.withLock { state in
      state.hub?.close()
      state.hub = nil
      _ = state.peer?.put(.linkDown(reason: "the hub has closed the wire"), isBounded: false)
    }
  }
}

extension Wire: PeerConnector {
  func connect(
    on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void
  ) throws(RunBusError) -> any PeerTransport {
    let isTaken = state.withLock { state in
      guard state.peer == nil else { return false }
      state.peer = Inbox(on: loop, deliver: deliver)
      state.connect()
      return true
    }
    guard isTaken else { throw RunBusError(.addressInUse, "the wire has a peer already") }
    return PeerEnd(wire: self)
  }
}

private final class PeerEnd: PeerTransport {
  private let wire: Wire
  private var isOpen = true

  init(wire: Wire) { self.wire = wire }

  func send(_ bytes: [UInt8]) -> SendOutcome {
    wire.state.withLock { state in
      state.hub?.put(.frame(state.id, bytes, by: .localOwner)) ?? .gone
    }
  }

  func subscribe(to endpoint: String, topics: [Topic]) {
    wire.state.withLock { state in
      for topic in topics where !state.topics.contains(topic) {
        _ = state.hub?.put(.subscribed(topic), isBounded: false)
      }
      state.topics = Set(topics)
    }
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    wire.state.withLock { state in
      state.peer?.close()
      state.peer = nil
    }
  }
}
