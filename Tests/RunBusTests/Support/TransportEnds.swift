import Foundation
import RunCore
import TestSupport
import Testing

@testable import RunBus

/// A way to carry frames, and a place for it that nobody else uses.
enum TransportKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case inProcess
  case bridge
  #if ZeroMQ && canImport(CZMQ)
    case ipc
    case tcp
    /// TCP with keys.
    case curve
  #endif

  var testDescription: String { rawValue }

  /// Runs a test with a bus of this kind.
  func withPlace(_ body: @Sendable (TransportPlace) async throws -> Void) async throws {
    try await withTestBus { bus in
      switch self {
      case .inProcess:
        let inside = InProcessBus()
        try await body(
          TransportPlace(directory: bus.runtimeDirectory, listener: inside.listener) { _ in inside.connector })
      case .bridge:
        let bridges = BridgeBus()
        try await body(
          TransportPlace(directory: bus.runtimeDirectory, listener: bridges.listener) { _ in bridges.connector() })
      #if ZeroMQ && canImport(CZMQ)
        case .ipc:
          let path = "ipc://" + bus.runtimeDirectory
          try await body(
            TransportPlace(
              directory: bus.runtimeDirectory,
              listener: ZeroMQListener(control: path + "/control.sock", events: path + "/events.sock")
            ) { ZeroMQConnector(control: $0) })
        case .tcp:
          try await body(
            TransportPlace(
              directory: bus.runtimeDirectory,
              listener: ZeroMQListener(control: "tcp://127.0.0.1:*", events: "tcp://127.0.0.1:0")
            ) { ZeroMQConnector(control: $0) })
        case .curve:
          let (hub, peer) = (try KeyPair(), try KeyPair())
          let keys = ListenerKeys(own: hub, admitted: AdmittedKeys([peer.publicKey]))
          try await body(
            TransportPlace(
              directory: bus.runtimeDirectory,
              listener: ZeroMQListener(control: "tcp://127.0.0.1:*", events: "tcp://127.0.0.1:0", keys: keys)
            ) { ZeroMQConnector(control: $0, keys: ConnectorKeys(own: peer, hub: hub.publicKey)) })
      #endif
      }
    }
  }
}

/// Where a test's hub listens and how its peers get there.
struct TransportPlace: Sendable {
  let directory: String
  let listener: any HubListener
  let connector: @Sendable (_ controlEndpoint: String) -> any PeerConnector

  /// The place as it is once a hub has been there: with the port that the system chose, if it chose one.
  func bound(to hub: HubEnd) async -> TransportPlace {
    #if ZeroMQ && canImport(CZMQ)
      if let listener = listener as? ZeroMQListener, listener.control.hasPrefix("tcp") {
        var again = listener
        again.control = await hub.controlEndpoint
        again.events = await hub.eventsEndpoint
        return TransportPlace(directory: directory, listener: again, connector: connector)
      }
    #endif
    return self
  }

  func hub(on loop: Loop? = nil) async throws -> HubEnd {
    let hub = HubEnd(try loop ?? Loop())
    try await hub.listen(listener)
    return hub
  }

  func peer(of hub: HubEnd, on loop: Loop? = nil) async throws -> PeerEnd {
    let peer = PeerEnd(try loop ?? Loop())
    try await peer.connect(connector(await hub.controlEndpoint))
    return peer
  }

  /// A hub and a peer whose link stands.
  func pair(on loop: Loop? = nil) async throws -> (HubEnd, PeerEnd) {
    let hub = try await hub(on: loop)
    let peer = try await peer(of: hub, on: loop)
    try await peer.log.linkUp()
    return (hub, peer)
  }
}

/// A hub's transport with an actor around it, as the real one has.
actor HubEnd {
  nonisolated let loop: Loop
  nonisolated let log = EventLog<HubTransportEvent>()
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var transport: (any HubTransport)?
  /// Answers every frame with itself, from within its delivery.
  var isEcho = false

  init(_ loop: Loop) { self.loop = loop }

  var controlEndpoint: String { transport?.controlEndpoint ?? "" }
  var eventsEndpoint: String { transport?.eventsEndpoint ?? "" }

  func listen(_ listener: any HubListener) throws {
    transport = try listener.listen(on: loop) { [weak self] event in
      self?.assumeIsolated { $0.receive(event) }
    }
  }
  private func receive(_ event: HubTransportEvent) {
    log.append(event)
    if isEcho, case .frame(let connection, let bytes, _) = event { _ = transport?.send(bytes, to: connection) }
  }
  func echo() { isEcho = true }
  func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome {
    transport?.send(bytes, to: connection) ?? .gone
  }
  func publish(_ bytes: [UInt8], on topic: Topic) { transport?.publish(bytes, on: topic) }
  func close() { transport?.close() }
  func drop() { transport = nil }
  #if ZeroMQ && canImport(CZMQ)
    func cutConnections() { (transport as? ZeroMQHub)?.cutConnections() }
  #endif
}

/// A peer's transport with an actor around it.
actor PeerEnd {
  nonisolated let loop: Loop
  nonisolated let log = EventLog<PeerTransportEvent>()
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var transport: (any PeerTransport)?
  /// Goes out in the moment in which the link stands, as a hello does.
  private var hello: [UInt8]?
  private(set) var helloOutcome: SendOutcome?

  init(_ loop: Loop, hello: [UInt8]? = nil) {
    self.loop = loop
    self.hello = hello
  }

  func connect(_ connector: any PeerConnector) throws {
    transport = try connector.connect(on: loop) { [weak self] event in
      self?.assumeIsolated { $0.receive(event) }
    }
  }
  private func receive(_ event: PeerTransportEvent) {
    if case .linkUp = event, let hello { helloOutcome = transport?.send(hello) }
    log.append(event)
  }
  func send(_ bytes: [UInt8]) -> SendOutcome { transport?.send(bytes) ?? .gone }
  func subscribe(to endpoint: String, topics: [Topic]) { transport?.subscribe(to: endpoint, topics: topics) }
  func close() { transport?.close() }
  func drop() { transport = nil }
  /// Reads nothing until the gate opens.
  func standStill(behind gate: LoopGate) { gate.wait() }
}

/// Holds a loop up.
final class LoopGate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  private let (stream, begun) = AsyncStream.makeStream(of: Void.self)

  fileprivate func wait() {
    begun.yield()
    semaphore.wait()
  }
  /// Returns when the loop stands still.
  func isClosed() async { for await _ in stream { break } }
  func open() { semaphore.signal() }
}

extension EventLog<HubTransportEvent> {
  /// All frames so far.
  var frames: [(connection: ConnectionID, bytes: [UInt8])] { Self.frames(events) }

  static func frames(_ events: [HubTransportEvent]) -> [(connection: ConnectionID, bytes: [UInt8])] {
    events.compactMap { event in
      if case .frame(let connection, let bytes, _) = event { (connection, bytes) } else { nil }
    }
  }

  /// Waits for a frame; says from whom.
  @discardableResult
  func frame(_ bytes: [UInt8]) async throws -> ConnectionID {
    try await wait(for: "a frame at the hub") { events in
      Self.frames(events).first { $0.bytes == bytes }?.connection
    }
  }
  /// Waits until somebody has subscribed to a topic so many times.
  func subscriptions(_ count: Int, to topic: Topic) async throws {
    try await wait(for: "subscription \(count) to \(topic)") { events in
      events.filter { if case .subscribed(topic) = $0 { true } else { false } }.count >= count ? true : nil
    }
  }
}

extension EventLog<PeerTransportEvent> {
  static func frames(_ events: [PeerTransportEvent]) -> [[UInt8]] {
    events.compactMap { if case .frame(let bytes) = $0 { bytes } else { nil } }
  }
  static func published(_ events: [PeerTransportEvent]) -> [(topic: Topic, bytes: [UInt8])] {
    events.compactMap { if case .event(let topic, let bytes) = $0 { (topic, bytes) } else { nil } }
  }
  /// Waits until the link has come up so many times.
  func linkUp(_ count: Int = 1) async throws {
    try await wait(for: "link up \(count)") { events in
      events.filter { if case .linkUp = $0 { true } else { false } }.count >= count ? true : nil
    }
  }
  func linkDown() async throws {
    try await wait(for: "link down") { events in
      events.contains { if case .linkDown = $0 { true } else { false } } ? true : nil
    }
  }
  /// Waits until the link was reported to be down for a reason that contains a word.
  func linkDown(_ word: String) async throws {
    try await wait(for: "link down: \(word)") { events in
      events.contains { if case .linkDown(let reason) = $0 { reason.contains(word) } else { false } } ? true : nil
    }
  }
  func frame(_ bytes: [UInt8]) async throws {
    try await wait(for: "a frame at the peer") { Self.frames($0).contains(bytes) ? true : nil }
  }
  func published(_ bytes: [UInt8]) async throws {
    try await wait(for: "an event") { events in
      Self.published(events).contains { $0.bytes == bytes } ? true : nil
    }
  }
}
