import Foundation
import RunBus
import RunCore
import TestSupport
import Testing

@Suite("A node that runs while a body uses it", .serialized, .timeLimit(.minutes(5)))
struct WithNodeTests {
  private struct Mistake: Error, Equatable {}

  private static func hub(on bus: InProcessBus = InProcessBus()) throws -> Hub {
    Hub(
      configuration: HubConfiguration(deviceID: "phone", debounce: .zero), listeners: [bus.listener],
      store: NodeStore(), loop: try Loop())
  }

  /// Whether a node has ended in good order: it runs once.
  private static func hasEnded(_ hub: Hub) async -> Bool {
    do {
      try await hub.ready()
      return false
    } catch { return (error as? RunBusError)?.code == .closed }
  }

  @Test("It is ready when the body begins, and has ended when the value is there")
  func value() async throws {
    let hub = try Self.hub()
    let verdict = try await withNode(hub) { try await hub.send(Command(.start, source: .phone)) }
    #expect(verdict.outcome == .applied)
    #expect(await Self.hasEnded(hub))
  }

  @Test("What the body throws is thrown, after the end of the node")
  func mistake() async throws {
    let hub = try Self.hub()
    await #expect(throws: Mistake.self) { try await withNode(hub) { throw Mistake() } }
    #expect(await Self.hasEnded(hub))
  }

  @Test("A node that cannot begin ends the body with its error")
  func refused() async throws {
    let bus = InProcessBus()
    try await withNode(try Self.hub(on: bus)) {
      let second = try Self.hub(on: bus)
      await #expect(throws: RunBusError.self) { try await withNode(second) { try await Task.sleep(for: .seconds(60)) } }
    }
  }

  @Test("A cancelled task and SIGTERM end the node in good order, the second time, too", arguments: [false, true])
  func told(bySignal: Bool) async throws {
    for _ in 0..<2 {
      let hub = try Self.hub()
      let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        try await withNode(hub) {
          beginning.yield()
          try await Task.sleep(for: .seconds(600))
        }
      }
      for await _ in begun { break }
      if bySignal { kill(getpid(), SIGTERM) } else { task.cancel() }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(await Self.hasEnded(hub))
    }
  }
}
