import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("What is owed stays owed until it is acknowledged")
struct StoreDeliveryTests {
  private let hub = OutboundStreamID(receiver: StoreID(high: 1, low: 1), kind: .messages)
  private let presses = OutboundStreamID(receiver: StoreID(high: 1, low: 1), kind: .commands)
  private let other = OutboundStreamID(receiver: StoreID(high: 2, low: 2), kind: .messages)

  /// A store on disk that is opened anew for every look, and one in memory.
  private func onBoth(_ body: (_ store: TwoStores) async throws -> Void) async throws {
    let stores = try TwoStores()
    try await body(stores)
    #expect(stores.notices == [])
  }

  private func message(_ number: UInt64) -> OutboxItem {
    .message(AppMessage(id: MessageID(high: 0, low: number), name: "gel", body: [UInt8(truncatingIfNeeded: number)]))
  }
  private func row(_ stream: OutboundStreamID, _ sequence: UInt64, tries: UInt32 = 0) -> OutboxRow {
    OutboxRow(
      stream: stream, sequence: sequence, item: message(sequence),
      since: BusTime(nanoseconds: Int64(truncatingIfNeeded: sequence)),
      tries: tries)
  }
  private func enqueue(_ stream: OutboundStreamID, _ sequences: ClosedRange<UInt64>) -> [StoreOperation] {
    sequences.map { .enqueue(row(stream, $0)) }
  }

  @Test("An acknowledgement takes the rows with it, but those of commands, and its mark never falls")
  func acknowledge() async throws {
    try await onBoth { store in
      try await store.commit(enqueue(hub, 1...5) + enqueue(presses, 1...3))
      try await store.commit([.acknowledge(hub, through: 3), .acknowledge(presses, through: 2)])
      try await store.commit([.acknowledge(hub, through: 2)])
      var delivery = try store.delivery()
      #expect(delivery.rows.filter { $0.stream == hub }.map(\.sequence) == [4, 5])
      #expect(delivery.rows.filter { $0.stream == presses }.map(\.sequence) == [1, 2, 3])
      #expect(delivery.acknowledged == [hub: 3, presses: 2])
      try await store.commit([.remove(presses, sequence: 1), .acknowledge(hub, through: 1 << 39)])
      delivery = try store.delivery()
      #expect(delivery.rows.map(\.sequence) == [2, 3])
      #expect(delivery.acknowledged[hub] == 1 << 39)
    }
  }

  @Test("A buried row keeps its place and nothing else of what it was")
  func tombstone() async throws {
    try await onBoth { store in
      try await store.commit(enqueue(hub, 1...3) + [.countTries(hub, from: 2, through: 9)])
      try await store.commit([
        .tombstone(hub, sequence: 2), .tombstone(hub, sequence: 99), .tombstone(other, sequence: 1),
      ])
      let rows = try store.delivery().rows
      #expect(rows.map(\.sequence) == [1, 2, 3])
      #expect(rows.map(\.item) == [message(1), nil, message(3)])
      #expect(rows.map(\.tries) == [0, 1, 1])
      #expect(rows[1].mark == StreamMark(sequence: 2))
    }
  }

  @Test("What is rebound is numbered from one in its order, as often tried as before, and its mark is forgotten")
  func renumber() async throws {
    try await onBoth { store in
      try await store.commit(enqueue(hub, 1...6) + [.acknowledge(hub, through: 2), .tombstone(hub, sequence: 4)])
      try await store.commit([.countTries(hub, from: 3, through: 5), .renumber(hub, to: other)])
      let delivery = try store.delivery()
      #expect(delivery.rows.map(\.stream) == Array(repeating: other, count: 4))
      #expect(delivery.rows.map(\.sequence) == [1, 2, 3, 4])
      #expect(delivery.rows.map(\.item) == [message(3), nil, message(5), message(6)])
      #expect(delivery.rows.map(\.tries) == [1, 1, 1, 0])
      #expect(delivery.acknowledged == [:])
      // The stream that was left begins anew.
      try await store.commit(enqueue(hub, 1...1))
      #expect(try store.delivery().rows.map(\.sequence) == [1, 1, 2, 3, 4])
    }
  }

  @Test("A stream under a new sender's store is renumbered in place")
  func rebindInPlace() async throws {
    try await onBoth { store in
      try await store.commit(
        enqueue(hub, 1...6) + [.acknowledge(hub, through: 4), .countTries(hub, from: 5, through: 6)])
      try await store.commit([.setStoreID(StoreID(high: 9, low: 9)), .renumber(hub, to: hub)])
      let delivery = try store.delivery()
      #expect(delivery.rows.map(\.sequence) == [1, 2])
      #expect(delivery.rows.map(\.item) == [message(5), message(6)])
      #expect(delivery.rows.map(\.tries) == [1, 1])
      #expect(delivery.acknowledged == [:])
      try await store.commit([.acknowledge(hub, through: 1), .enqueue(row(hub, 3))])
      #expect(try store.delivery().rows.map(\.sequence) == [2, 3])
    }
  }

  @Test("What is rebound comes after what is already there")
  func rebindBehind() async throws {
    try await onBoth { store in
      try await store.commit(enqueue(hub, 1...2) + enqueue(other, 1...3) + [.renumber(hub, to: other)])
      #expect(try store.delivery().rows.map(\.item) == [message(1), message(2), message(3), message(1), message(2)])
      #expect(try store.delivery().rows.map(\.sequence) == [1, 2, 3, 4, 5])
    }
  }

  @Test("What is dropped is owed no more, and its stream begins anew")
  func drop() async throws {
    try await onBoth { store in
      try await store.commit(enqueue(hub, 1...4) + [.acknowledge(hub, through: 1)] + enqueue(other, 1...1))
      try await store.commit([.drop(hub), .drop(presses)])
      #expect(try store.delivery().rows == [row(other, 1)])
      #expect(try store.delivery().acknowledged == [:])
      try await store.commit(enqueue(hub, 1...1))
      #expect(try store.delivery().rows.map(\.stream) == [hub, other])
    }
  }

  @Test("A reboot moves what is owed and makes it uncertain, up to the ends of time")
  func shift() async throws {
    try await onBoth { store in
      var late = row(hub, 1)
      late.since = BusTime(nanoseconds: 1 << 62 - 1)
      var early = row(hub, 2)
      early.since = BusTime(nanoseconds: -(1 << 62) + 1)
      try await store.commit([.enqueue(late), .enqueue(early), .enqueue(row(hub, 3))])
      try await store.commit([.shiftRows(by: BusDuration(nanoseconds: 5))])
      #expect(try store.delivery().rows.map(\.since.nanoseconds) == [1 << 62, -(1 << 62) + 6, 8])
      try await store.commit([.shiftRows(by: BusDuration(nanoseconds: -(1 << 62)))])
      let rows = try store.delivery().rows
      #expect(rows.map(\.since.nanoseconds) == [0, -(1 << 62), -(1 << 62) + 8])
      #expect(rows.map(\.isUncertain) == [true, true, true])
    }
  }

  @Test("A new store id names the store from its next opening on")
  func newStoreID() async throws {
    let scratch = try ScratchDirectory()
    var store = try NodeStore(directory: scratch.path)
    let (node, first, next) = (store.nodeID, store.storeID, StoreID(high: 3, low: 4))
    try await store.commit([.setStoreID(next)])
    #expect(store.storeID == first)
    store.close()
    store = try NodeStore(directory: scratch.path)
    #expect(store.storeID == next)
    #expect(store.nodeID == node)
  }

  @Test("A row that does not decode is a tombstone, so that its stream has no hole, and is named")
  func undecodableItem() async throws {
    let scratch = try ScratchDirectory()
    var store = try NodeStore(directory: scratch.path)
    try await store.commit(enqueue(hub, 1...4))
    store.close()
    try RawDatabase.execute(
      """
      UPDATE outbox SET item = x'00' WHERE position % 256 = 2;
      UPDATE outbox SET since = 'never' WHERE position % 256 = 3;
      """, at: scratch.file("node.sqlite"))
    store = try NodeStore(directory: scratch.path)
    let rows = try store.history().delivery.rows
    #expect(rows.map(\.sequence) == [1, 2, 3, 4])
    #expect(rows.map(\.item) == [message(1), nil, nil, message(4)])
    #expect(store.notices.count == 1)
    #expect(store.notices.first?.contains("2 row(s) of outbox") == true)
    #expect(try store.peerHistory().delivery.rows == rows)
    #expect(store.notices.count == 1)
  }

  @Test("A place that no stream has is refused", arguments: [0, 1 << 40, .max] as [UInt64])
  func impossiblePlace(sequence: UInt64) async throws {
    let scratch = try ScratchDirectory()
    for store in [try NodeStore(directory: scratch.path), NodeStore()] {
      await #expect(throws: StoreFault.self) {
        try await store.commit([.setTerm(7), .enqueue(row(hub, sequence))])
      }
      #expect(try store.termSeen() == 0)
    }
  }
}

/// The same told to a file and to memory; what they tell is compared at every look.
private final class TwoStores {
  private let scratch: ScratchDirectory
  private var disk: NodeStore
  private let memory = NodeStore()

  init() throws {
    scratch = try ScratchDirectory()
    disk = try NodeStore(directory: scratch.path)
  }

  var notices: [String] { disk.notices + memory.notices }

  func commit(_ operations: [StoreOperation]) async throws {
    try await disk.commit(operations)
    try await memory.commit(operations)
  }

  func delivery() throws -> ComparableDelivery {
    let delivery = ComparableDelivery(try memory.peerHistory().delivery)
    #expect(ComparableDelivery(try disk.history().delivery) == delivery)
    disk.close()
    disk = try NodeStore(directory: scratch.path)
    #expect(ComparableDelivery(try disk.peerHistory().delivery) == delivery)
    return delivery
  }
}
