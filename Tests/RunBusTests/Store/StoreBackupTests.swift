import Foundation
import RunCore
import Synchronization
import Testing
import TestSupport

@testable import RunBus

@Suite("A copy of a store")
struct StoreBackupTests {
  private let stream = OutboundStreamID(receiver: StoreID(high: 1, low: 1), kind: .messages)

  private func enqueue(_ sequence: UInt64) -> StoreOperation {
    let message = AppMessage(id: MessageID(high: 0, low: sequence), name: "gel", body: [1])
    return .enqueue(OutboxRow(stream: stream, sequence: sequence, item: .message(message), since: .zero))
  }

  @Test("It has what was committed before it, and a commit behind it does not wait for it")
  func beside() async throws {
    let scratch = try ScratchDirectory()
    let store = try NodeStore(directory: scratch.path + "/store")
    try await store.commit([enqueue(1)])
    // The tables are busy until the gate opens, and the copy waits for them.
    let gate = DispatchSemaphore(value: 0)
    store.enqueueReading({ _ in gate.wait() }, orWhenClosed: {})
    let answer = EventLog<InquiryAnswer>()
    store.backUp(to: scratch.path + "/copy") { answer.append($0) }
    try await store.commit([enqueue(2)])
    #expect(answer.events.isEmpty)
    gate.signal()
    #expect(try await answer.wait(for: "the copy") { $0.first } == .done(nil))
    store.close()

    let former = try StoreRestoration.restore(
      scratch.path + "/copy", to: scratch.path + "/other", of: "phone", role: nil)
    #expect(former == nil)
    let restored = try NodeStore(directory: scratch.path + "/other")
    #expect(restored.notices == [])
    #expect(try restored.peerHistory().delivery.rows.map(\.sequence).contains(1))
    restored.close()
  }

  @Test("A store in memory has no copy")
  func memory() async throws {
    #expect(await NodeStore().backUp(to: "/nowhere") == .failed(.noFiles))
  }
}
