import Foundation
import Logging
import RunCore
import Synchronization
import TestSupport
import Testing

@testable import RunBus

@Suite("Damage that the opening check does not see", .timeLimit(.minutes(60)))
struct StoreLateDamageTests {
  /// How many stores are damaged at random: `RUNBUS_SOAK_DAMAGE` (`make soak DAMAGE=2000`).
  private static let stores = getenv("RUNBUS_SOAK_DAMAGE").flatMap { Int(String(cString: $0)) } ?? 100

  // Once broken: One byte in the list of migrations made every start say "written by a newer RunBus"; one in the header
  // made it say "cannot be written".
  @Test(
    "Random bytes anywhere in a store: its node runs, and no start ends with an error",
    arguments: DamagedNode.Role.allCases)
  func randomBytes(role: DamagedNode.Role) async throws {
    let node = DamagedNode(role: role, loop: try Loop())
    let files = try await node.makeFiles()
    var setAside = 0
    for seed in 1...UInt64(max(1, Self.stores / 2)) {
      let copy = try ScratchDirectory()
      try copy.takeFiles(of: files)
      var generator = DamageGenerator(seed: seed)
      try generator.damage(copy)
      var wasSetAside = false
      for life in 1...2 {
        do {
          _ = try await node.live(on: copy.path)
        } catch {
          Issue.record("\(role), seed \(seed), life \(life): \(error)")
        }
        wasSetAside = try copy.names().contains("damaged-1")
      }
      if wasSetAside { setAside += 1 }
      let names = try copy.names().filter { !$0.hasPrefix("damaged-") }
      #expect(Set(names) == ["lock", "node.sqlite"], "\(role), seed \(seed)")
    }
    print(
      "\(role): \(setAside) of \(max(1, Self.stores / 2)) damaged stores were set aside, all others ran as they were")
    #expect(setAside > 0)
  }

  /// Changes a text in the database of a closed store.
  private func replace(_ old: String, with new: String, in directory: ScratchDirectory) throws {
    let path = directory.file("node.sqlite")
    var bytes = try Data(contentsOf: URL(filePath: path))
    let range = try #require(bytes.range(of: Data(old.utf8)))
    bytes.replaceSubrange(range, with: Data(new.utf8))
    try bytes.write(to: URL(filePath: path))
  }

  /// The files of a node of before, closed in good order.
  private func closedFiles(_ node: DamagedNode) async throws -> ScratchDirectory {
    let files = try await node.makeFiles()
    try NodeStore(directory: files.path).close()
    return files
  }

  // Once broken: A damaged store was set aside with everything in it, records of runs and unsent presses included,
  // because the new store began empty.
  @Test("One bit in the description of a table: the store is set aside at the first press, and all of it is read back")
  func changedColumn() async throws {
    let node = DamagedNode(role: .phone, loop: try Loop())
    let files = try await closedFiles(node)
    var store = try NodeStore(directory: files.path)
    let before = ComparableHistory(try store.history())
    store.close()
    // The column "press" of "accepted".
    try replace("position INTEGER NOT NULL, press BLOB", with: "position INTEGER NOT NULL, prass BLOB", in: files)
    store = try NodeStore(directory: files.path)
    #expect(store.notices == [])
    await #expect(throws: StoreFault.self) {
      var generator = OperationGenerator(seed: 1)
      try await store.commit([.accept(generator.press(), .window)])
    }
    let fault = StoreFault.damaged("as found")
    let other = try store.replaced(because: fault, readsBack: true)
    #expect(other.storeID != store.storeID)
    #expect(other.notices.count == 1 && other.notices[0].contains("could be read back"), "\(other.notices)")
    #expect(!other.notices[0].contains("lost"), "\(other.notices)")
    let after = ComparableHistory(try other.history())
    #expect(after.term == before.term && after.lastPosition == before.lastPosition)
    #expect(after.journal == before.journal && after.transitions == before.transitions)
    #expect(after.verdicts == before.verdicts && after.accepted == before.accepted)
    #expect(after.records == before.records && !after.records.isEmpty)
    #expect(after.delivery.watermarks.isEmpty)
    other.close()
    // A whole life on it.
    #expect(try await node.live(on: files.path) == [])
  }

  @Test("What a watch still owed is read back in order, numbered from 1, for whichever hub it meets")
  func outbox() async throws {
    let node = DamagedNode(role: .watch, loop: try Loop())
    let files = try await closedFiles(node)
    let store = try NodeStore(directory: files.path)
    try await store.commit([
      .setHub(StoreID(high: 1, low: 2), DeviceID("phone")),
      .renumber(
        OutboundStreamID(receiver: .none, kind: .commands),
        to: OutboundStreamID(receiver: StoreID(high: 1, low: 2), kind: .commands)),
      .remove(OutboundStreamID(receiver: StoreID(high: 1, low: 2), kind: .commands), sequence: 2),
    ])
    let before = try store.peerHistory().delivery.rows.filter { $0.stream.kind == .commands }
    #expect(before.map(\.sequence).prefix(2) == [1, 3])
    let other = try store.replaced(because: .damaged("as found"), readsBack: true)
    let history = try other.peerHistory()
    let after = history.delivery.rows.filter { $0.stream.kind == .commands }
    #expect(history.hub == nil && history.delivery.acknowledged.isEmpty)
    #expect(after.map(\.item) == before.map(\.item))
    #expect(after.map(\.sequence) == Array(1...UInt64(before.count)))
    #expect(after.allSatisfy { $0.stream.receiver == .none })
    other.close()
  }

  @Test("A start that was cut short while a store was replaced is finished by the next one")
  func cutShort() async throws {
    let node = DamagedNode(role: .phone, loop: try Loop())
    let (files, other) = (try await closedFiles(node), try await closedFiles(node))
    let expected = try {
      let store = try NodeStore(directory: other.path); defer { store.close() }; return store.storeID
    }()
    // The new file is complete; of the old one the log has gone, or all, or nothing.
    for gone in [[], ["node.sqlite"]] {
      let copy = try ScratchDirectory()
      try copy.takeFiles(of: files)
      try FileManager.default.copyItem(atPath: other.file("node.sqlite"), toPath: copy.file("salvaged.sqlite"))
      try Data("half of".utf8).write(to: URL(filePath: copy.file("salvage.tmp")))
      for name in gone { try FileManager.default.removeItem(atPath: copy.file(name)) }
      let store = try NodeStore(directory: copy.path)
      #expect(store.storeID == expected)
      #expect(try copy.names().contains("damaged-1") == gone.isEmpty)
      #expect(!(try copy.names().contains("salvaged.sqlite")))
      store.close()
    }
  }

  @Test("A store that is damaged again after it was read back begins empty; a third time ends the node")
  func again() async throws {
    let scratch = try ScratchDirectory()
    let count = Mutex(0)
    let options = StoreOptions(beforeCommit: { operations throws(StoreFault) in
      guard operations.contains(where: { if case .judge = $0 { true } else { false } }) else { return }
      count.withLock { $0 += 1 }
      throw .damaged("said by a test")
    })
    let store = try NodeStore(directory: scratch.path, device: nil, options: options)
    let hub = Hub(
      configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: .zero), listeners: [NoWire()],
      store: store,
      loop: try Loop())
    let running = Task { try await hub.run() }
    _ = try await hub.snapshots().first("the hub") { _ in true }
    let error = await #expect(throws: RunBusError.self) { try await hub.send(Command(.start, source: .phone)) }
    #expect(error?.code == .store)
    await #expect(throws: RunBusError.self) { try await running.value }
    #expect(count.withLock { $0 } == 3)
    #expect(try scratch.names() == ["damaged-1", "damaged-2", "lock", "node.sqlite"])
  }
}
