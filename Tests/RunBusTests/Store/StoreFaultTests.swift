import Foundation
import RunCore
import Synchronization
import Testing

@testable import RunBus

@Suite("A store that fails says so and keeps nothing half-written")
struct StoreFaultTests {
  /// Fails the batches that set this term.
  private func failing(_ term: UInt64, with fault: StoreFault) -> StoreOptions {
    StoreOptions(beforeCommit: { operations throws(StoreFault) in
      if operations.contains(.setTerm(term)) { throw fault }
    })
  }
  private func append(_ position: UInt64, to run: UInt64) -> StoreOperation {
    let change = Author(source: .phone, deviceID: phone, commandID: CommandID(high: 0, low: position))
    let transition = Transition(kind: .start, revision: position, change: change)
    return .append(
      RunID(high: 0, low: run), LedgerEntry(time: .zero, position: position, event: .transition(transition)))
  }
  private let phone: DeviceID
  init() throws { phone = DeviceID("phone") }

  @Test("A failing commit leaves nothing, and what follows a full disk is written")
  func failingCommit() async throws {
    let scratch = try ScratchDirectory()
    let options = failing(13, with: .full)
    for store in [
      try NodeStore(directory: scratch.path, device: nil, options: options), NodeStore(options: options),
    ] {
      try await store.commit([.setTerm(1), append(1, to: 1)])
      let before = ComparableHistory(try store.history())
      await #expect(throws: StoreFault.full) {
        try await store.commit([
          .setAlias(RunID(high: 0, low: 2), of: RunID(high: 0, low: 1)), append(2, to: 9), .setTerm(13),
        ])
      }
      #expect(ComparableHistory(try store.history()) == before)
      // The run of the failed batch is new again.
      try await store.commit([append(2, to: 9), .setTerm(2)])
      let history = try store.history()
      #expect(history.lastPosition == 2)
      #expect(history.transitions.map(\.runID.low) == [1, 9])
      #expect(try store.termSeen() == 2)
    }
  }

  @Test("After a failure of the disk nothing is tried again")
  func broken() async throws {
    let scratch = try ScratchDirectory()
    let fault = StoreFault.broken("fsync: Input/output error")
    let store = try NodeStore(directory: scratch.path, device: nil, options: failing(13, with: fault))
    try await store.commit([.setTerm(1)])
    for term in [13, 2] as [UInt64] {
      await #expect(throws: fault) { try await store.commit([.setTerm(term)]) }
    }
    #expect(try store.termSeen() == 1)
  }

  @Test("A full disk rolls the batch back and is told as such")
  func diskFull() async throws {
    let scratch = try ScratchDirectory()
    var store = try NodeStore(directory: scratch.path, device: nil, options: StoreOptions(pagesMax: 80))
    var position: UInt64 = 0
    var fault: StoreFault?
    while fault == nil, position < 100_000 {
      let batch = (1...200).map { append(position + $0, to: 1) }
      do {
        try await store.commit(batch)
        position += 200
      } catch {
        fault = error
      }
    }
    #expect(fault == .full)
    #expect(fault?.isTemporary == true)
    store.close()
    // What was told to be durable waits in the log.
    store = try NodeStore(directory: scratch.path)
    #expect(try store.history().lastPosition == position)
    try await store.commit([.setTerm(4)])
    #expect(try store.termSeen() == 4)
  }

  @Test("A batch that contradicts the store is refused whole")
  func contradiction() async throws {
    let scratch = try ScratchDirectory()
    let store = try NodeStore(directory: scratch.path)
    try await store.commit([append(1, to: 1)])
    await #expect(throws: StoreFault.self) { try await store.commit([.setTerm(9), append(1, to: 1)]) }
    #expect(try store.termSeen() == 0)
  }

  @Test("Closing waits for what was handed over; afterwards commits are told that it is closed")
  func closing() async throws {
    let scratch = try ScratchDirectory()
    let gate = DispatchSemaphore(value: 0)
    let options = StoreOptions(beforeCommit: { _ throws(StoreFault) in gate.wait() })
    let store = try NodeStore(directory: scratch.path, device: nil, options: options)
    let results = Mutex<[Bool]>([])
    for term in 1...UInt64(3) {
      store.commit([.setTerm(term)]) { result in
        results.withLock { $0.append((try? result.get()) != nil) }
      }
    }
    for _ in 0..<3 { gate.signal() }
    store.close()
    #expect(results.withLock { $0 } == [true, true, true])
    store.close()
    await #expect(throws: StoreFault.closed) { try await store.commit([.setTerm(4)]) }
    #expect(#expect(throws: RunBusError.self) { try store.history() }?.code == .closed)
    #expect(try scratch.names() == ["lock", "node.sqlite"])
    #expect(try NodeStore(directory: scratch.path).termSeen() == 3)
  }

  @Test("A store can be read, closed and let go inside a completion")
  func insideCompletion() async throws {
    let scratch = try ScratchDirectory()
    let store = try NodeStore(directory: scratch.path)
    let term = await withCheckedContinuation { continuation in
      store.commit([.setTerm(8)]) { _ in
        let term = try? store.termSeen()
        store.close()
        continuation.resume(returning: term)
      }
    }
    #expect(term == 8)
    store.close()
    #expect(try NodeStore(directory: scratch.path).termSeen() == 8)
  }
}
