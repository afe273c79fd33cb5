import RunCore

@testable import RunBus

/// A wire that leads nowhere: a node on it has its store and its own buttons.
struct NoWire: HubListener, PeerConnector {
  private final class End: HubTransport, PeerTransport {
    let controlEndpoint = "nowhere"
    let eventsEndpoint = "nowhere"
    func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome { .gone }
    func publish(_ bytes: [UInt8], on topic: Topic) {}
    func send(_ bytes: [UInt8]) -> SendOutcome { .full }
    func subscribe(to endpoint: String, topics: [Topic]) {}
    func close() {}
  }

  func listen(
    on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
  ) throws(RunBusError) -> any HubTransport { End() }

  func connect(
    on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void
  ) throws(RunBusError) -> any PeerTransport { End() }
}
