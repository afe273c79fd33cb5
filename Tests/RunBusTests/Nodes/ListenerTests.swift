import Foundation
import RunBus
import TestSupport
import Testing

@Suite("A hub with several listeners")
struct ListenerTests {
  @Test("Peers at different listeners share one run, and what one of them presses reaches the others")
  func sharedRun() async throws {
    try await withTestBus { bus in
      let inside = InProcessBus()
      let directory = bus.runtimeDirectory
      let hub = Hub(
        configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: .zero),
        listeners: [
          ZeroMQListener(control: "ipc://\(directory)/c", events: "ipc://\(directory)/e"), inside.listener,
          ZeroMQListener(control: "tcp://127.0.0.1:*", events: "tcp://127.0.0.1:*"),
        ], store: NodeStore(), loop: try Loop())
      try await withRunning([hub]) {
        _ = try await hub.snapshots().first("the hub") { _ in true }
        let endpoints = await hub.controlEndpoints
        #expect(endpoints.count == 3)
        let connectors: [any PeerConnector] = [
          ZeroMQConnector(control: endpoints[0]), inside.connector, ZeroMQConnector(control: endpoints[2]),
        ]
        let peers = try zip(["watch", "widget", "band"], connectors).map { name, connector in
          Peer(
            configuration: PeerConfiguration(deviceID: DeviceID(name)!, role: .watch), connector: connector,
            store: NodeStore(), loop: try Loop())
        }
        try await withRunning(peers) {
          let orders: [(CommandKind, RunPhase)] = [(.start, .running), (.pause, .paused), (.resume, .running)]
          for (peer, (kind, phase)) in zip(peers, orders) {
            let verdict = try await peer.send(
              Command(kind, .watch, run: kind == .start ? nil : hub.authoritative.runID))
            #expect(verdict.outcome == .applied)
            for other in peers {
              _ = try await other.snapshots().first("\(phase)") {
                $0.phase == phase && $0.order.revision >= verdict.revision
              }
            }
          }
        }
      }
    }
  }

  @Test("A hub whose second address is taken does not start, and leaves the first one free")
  func takenAddress() async throws {
    try await withTestBus { bus in
      let directory = bus.runtimeDirectory
      let first = ZeroMQListener(control: "ipc://\(directory)/c", events: "ipc://\(directory)/e")
      @Sendable func hub(_ name: String, _ listeners: [any HubListener]) throws -> Hub {
        Hub(
          configuration: HubConfiguration(deviceID: DeviceID(name)!), listeners: listeners, store: NodeStore(),
          loop: try Loop())
      }
      let holder = try hub("phone", [ZeroMQListener(control: "tcp://127.0.0.1:*", events: "tcp://127.0.0.1:*")])
      try await withRunning([holder]) {
        _ = try await holder.snapshots().first("the holder") { _ in true }
        let taken = await holder.controlEndpoints[0]
        let second = try hub("tablet", [first, ZeroMQListener(control: taken, events: "tcp://127.0.0.1:*")])
        let error = await #expect(throws: RunBusError.self) { try await second.run() }
        #expect(error?.code == .addressInUse && error?.message.contains(taken) == true)
        let third = try hub("tablet", [first])
        try await withRunning([third]) { _ = try await third.snapshots().first("the hub") { _ in true } }
      }
    }
  }
}
