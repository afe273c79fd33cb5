import Foundation
import RunBus
import TestSupport

/// A hub and peers in this process, over real sockets in a place of their own.
final class RunningBus: Sendable {
  let hub: Hub
  let loop: Loop
  let directory: String
  private let bus: TestBus

  init(
    _ bus: TestBus, debounce: BusDuration = .milliseconds(500), speed: BusSpeed = .realTime,
    store: NodeStore = NodeStore()
  ) throws {
    self.bus = bus
    directory = bus.runtimeDirectory
    loop = try Loop()
    hub = Hub(
      configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: debounce, speed: speed),
      listeners: [ZeroMQListener(control: "ipc://\(directory)/c", events: "ipc://\(directory)/e")],
      store: store, loop: loop)
  }

  func peer(
    _ name: String, role: NodeRole = .watch, topics: [Topic] = [.snapshots],
    store: NodeStore = NodeStore()
  ) throws -> Peer {
    Peer(
      configuration: PeerConfiguration(
        deviceID: DeviceID(name)!, role: role, topics: topics),
      connector: ZeroMQConnector(control: "ipc://\(directory)/c"), store: store, loop: try Loop())
  }
}

/// Runs a hub and peers while a body uses them, and ends them all.
func withRunning(
  _ nodes: [any Node], _ body: @escaping @Sendable () async throws -> Void
) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for node in nodes { group.addTask { try await node.run() } }
    try await body()
    group.cancelAll()
    try await group.waitForAll()
  }
}

extension Command {
  init(_ kind: CommandKind, _ source: ControlSource = .watch, run: RunID? = nil) {
    let run = run ?? (kind == .start ? .random() : nil)
    self.init(id: .random(), kind: kind, source: source, runID: run)
  }
}
