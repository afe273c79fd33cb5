import Foundation
import Synchronization
import Testing

@testable import RunBus

@Suite("Waiting for a store or a hub")
struct WithinTests {
  private struct Trouble: Error {}

  @Test("A result, an error and the end of the patience come through")
  func outcomes() async throws {
    #expect(try await within(.seconds(60)) { 7 } == 7)
    await #expect(throws: Trouble.self) { try await within(.seconds(60)) { () throws -> Int in throw Trouble() } }
    #expect(try await within(.milliseconds(1)) { try await Task.sleep(for: .seconds(600)) } == nil)
  }

  // Once broken: On a full disk the list of records never came, and 32 requests for it blocked the page, because a read
  // that cannot be cancelled was waited for.
  @Test("An operation that cannot be cancelled, like a store on a full disk, is not waited for")
  func stuck() async throws {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    let stuck = Task { for await _ in stream {} }
    #expect(try await within(.milliseconds(1)) { await stuck.value } == nil)
    continuation.finish()
  }
}
