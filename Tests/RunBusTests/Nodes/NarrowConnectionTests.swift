import RunBus
import RunCore
import Synchronization
import TestSupport
import Testing

/// Both ends of a connection within this process that carries small frames. It notes the largest of either direction.
private final class NarrowBus: Sendable {
  static let limits = ConnectionLimits(frameBytesMax: 40_960)
  let bus = InProcessBus()
  let largest = Mutex(0)

  func note(_ bytes: [UInt8]) { largest.withLock { $0 = max($0, bytes.count) } }
}

private struct NarrowListener: HubListener {
  let narrow: NarrowBus
  var limits: ConnectionLimits { NarrowBus.limits }

  func listen(
    on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
  ) throws(RunBusError) -> any HubTransport {
    try narrow.bus.listener.listen(on: loop) { event in
      if case .frame(_, let bytes, _) = event { narrow.note(bytes) }
      deliver(event)
    }
  }
}

private struct NarrowConnector: PeerConnector {
  let narrow: NarrowBus
  var limits: ConnectionLimits { NarrowBus.limits }

  func connect(
    on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void
  ) throws(RunBusError) -> any PeerTransport {
    try narrow.bus.connector.connect(on: loop) { event in
      if case .frame(let bytes) = event { narrow.note(bytes) }
      deliver(event)
    }
  }
}

@Suite("A connection that carries small frames", .timeLimit(.minutes(2)))
struct NarrowConnectionTests {
  @Test("Messages that waited for the hub arrive in frames of its size")
  func messages() async throws {
    let narrow = NarrowBus()
    let hub = Hub(
      configuration: HubConfiguration(deviceID: DeviceID("phone")), listeners: [NarrowListener(narrow: narrow)],
      store: NodeStore(), loop: try Loop())
    let peer = Peer(
      configuration: PeerConfiguration(deviceID: DeviceID("watch"), role: .watch),
      connector: NarrowConnector(narrow: narrow), store: NodeStore(), loop: try Loop())
    let messages = (0..<10).map { AppMessage(id: .random(), name: "\($0)", body: [UInt8](repeating: 7, count: 11_000)) }
    try await withRunning([peer]) {
      for message in messages { try await peer.messages.post(message, by: .queued) }
      let last = peer.messages.receipts(for: messages[9].id)
      try await withRunning([hub]) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await hub.messages.handle { _ in } }
          _ = try await last.first("processed") { $0.stage == .processed }
          group.cancelAll()
        }
      }
    }
    let largest = narrow.largest.withLock { $0 }
    // Two messages fit into a frame, and a third one would not.
    #expect(largest > 22_000 && largest <= NarrowBus.limits.frameBytesMax)
  }
}
