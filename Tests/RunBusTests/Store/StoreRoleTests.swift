import Foundation
import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("A store holds the history of a hub or of a peer, and refuses the other role")
struct StoreRoleTests {
  private let phone = DeviceID("phone")

  private func node(_ role: StoreRole, _ store: NodeStore) throws -> any RunBus.Node {
    switch role {
    case .hub:
      Hub(configuration: HubConfiguration(deviceID: phone), listeners: [NoWire()], store: store, loop: try Loop())
    case .peer:
      Peer(
        configuration: PeerConfiguration(deviceID: phone, role: .watch), connector: NoWire(), store: store,
        loop: try Loop())
    }
  }

  /// Lets a node run until it answers, and ends it in good order.
  private func live(_ role: StoreRole, on store: NodeStore) async throws {
    let node = try node(role, store)
    let running = Task { try await node.run() }
    _ = try? await node.outbox.entries()
    running.cancel()
    try await running.value
  }

  @Test("A node refuses a store that a node of the other role has used", arguments: [StoreRole.hub, .peer])
  func refused(role: StoreRole) async throws {
    let other: StoreRole = role == .hub ? .peer : .hub
    let scratch = try ScratchDirectory()
    try await live(role, on: try NodeStore(directory: scratch.path))
    let before = try scratch.contents()

    let error = await #expect(throws: RunBusError.self) {
      try await node(other, try NodeStore(directory: scratch.path)).run()
    }
    #expect(error?.code == .storeMismatch)
    let sentence = "the store in \(scratch.path) holds the history of a \(role), and this node is a \(other)"
    #expect(error?.message.hasPrefix(sentence) == true, "\(error?.message ?? "")")
    #expect(try scratch.contents() == before)
    // The role that has used it goes on.
    let store = try NodeStore(directory: scratch.path)
    #expect(store.role == role)
    try await live(role, on: store)
  }

  @Test("A store in memory refuses the other role, too", arguments: [StoreRole.hub, .peer])
  func memory(role: StoreRole) throws {
    let store = NodeStore()
    try store.claim(for: role)
    try store.claim(for: role)
    let error = #expect(throws: RunBusError.self) { try store.claim(for: role == .hub ? .peer : .hub) }
    #expect(error?.code == .storeMismatch && error?.message.hasPrefix("the store holds") == true)
  }

  @Test("An opening for the other role sets nothing aside, even if the store is damaged", arguments: [false, true])
  func opening(isDamaged: Bool) async throws {
    let scratch = try ScratchDirectory()
    let store = try NodeStore(directory: scratch.path)
    try store.claim(for: .hub)
    var generator = OperationGenerator(seed: 1)
    try await store.commit((0..<60).flatMap { _ in generator.batch() })
    store.close()
    if isDamaged {
      // The last pages, which are none of the tables' descriptions and not the role. A single one may be free.
      let path = scratch.file("node.sqlite")
      var bytes = try Data(contentsOf: URL(filePath: path))
      let page = bytes.count - 8 * StoreSchema.pageSize..<bytes.count
      bytes.replaceSubrange(page, with: Data(repeating: 0xA5, count: page.count))
      try bytes.write(to: URL(filePath: path))
    }
    let before = try scratch.contents()
    let error = #expect(throws: RunBusError.self) {
      try NodeStore(directory: scratch.path, device: nil, role: .peer, options: StoreOptions())
    }
    #expect(error?.code == .storeMismatch)
    #expect(try scratch.contents() == before)
    let again = try NodeStore(directory: scratch.path, device: nil, role: .hub, options: StoreOptions())
    #expect(again.notices.isEmpty == !isDamaged, "\(again.notices)")
    // What is read back of a damaged store keeps the role.
    #expect(again.role == .hub)
  }

  @Test("Files of a store that was killed have the role, too")
  func killed() throws {
    let (scratch, files) = (try ScratchDirectory(), try ScratchDirectory())
    let store = try NodeStore(directory: scratch.path)
    try store.claim(for: .peer)
    try files.takeFiles(of: scratch)
    let error = #expect(throws: RunBusError.self) {
      try NodeStore(directory: files.path, device: nil, role: .hub, options: StoreOptions())
    }
    #expect(error?.code == .storeMismatch)
    #expect(try NodeStore(directory: files.path).role == .peer)
  }

  @Test("The node of a device that does not run is the one whose history its store holds")
  func stopped() async throws {
    for role in [StoreRole.hub, .peer, nil] {
      let scratch = try ScratchDirectory()
      let environment = ["XDG_RUNTIME_DIR": scratch.path, "XDG_STATE_HOME": scratch.file("state")]
      let location = try BusLocation(bus: "a", address: nil, environment: environment)
      let store = try NodeStore(directory: location.stateDirectory(for: phone))
      if let role { try store.claim(for: role) }
      store.close()
      let node = try StoppedNode(of: phone, on: location)
      defer { node.close() }
      // Only a hub knows peers.
      if role == .hub {
        #expect(try await node.ask(.peers) == [])
      } else {
        let error = await #expect(throws: RunBusError.self) { try await node.ask(.peers) }
        #expect(error?.failure?.code == .notHere)
      }
    }
  }
}
