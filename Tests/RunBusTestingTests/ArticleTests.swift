import RunBus
import RunBusTesting
import Testing

/// What the example app does with the bus: it pauses the run while its person is on the phone.
private struct CallPause {
  let node: any Node

  func callBegan() async throws -> Verdict {
    try await node.send(Command(.pause, source: .watch))
  }
}

// The article "Testing your app" shows these tests.
@Suite("The tests of the article", .timeLimit(.minutes(1)))
struct ArticleTests {
  @Test("A call on a watch out of reach pauses the run as of the call")
  func call() async throws {
    try await TestBus.run { bus in
      let phone = try await bus.hub("phone")
      let watch = try await bus.peer("watch", role: .watch)
      let app = CallPause(node: watch)
      _ = try await bus.advance { try await phone.send(Command(.start, source: .phone)) }
      bus.cut("watch")
      try await bus.advance(by: .seconds(10))
      let calledAt = try #require(await phone.busNow)
      async let verdict = app.callBegan()
      try await bus.advance(by: .seconds(60))
      #expect(await phone.authoritative.phase == .running)
      bus.restore("watch")
      try await bus.advance(by: .seconds(1))
      #expect(try await verdict.outcome == .applied)
      #expect(try await verdict.effectiveAt == calledAt)
      #expect(await phone.authoritative.phase == .paused)
    }
  }

  @Test("A phone that is opened again goes on with its run")
  func openedAgain() async throws {
    try await TestBus.run { bus in
      let phone = try await bus.hub("phone")
      _ = try await bus.advance { try await phone.send(Command(.start, source: .phone)) }
      try await phone.add(Sample(moment: .at(bus.now), value: .heartRate(bpm: 142)))
      try await bus.advance(by: .seconds(3))
      let again = try await bus.restart(phone)
      #expect(await again.authoritative.phase == .running)
      #expect(await again.authoritative.metrics.heartRateBpm == 142)
    }
  }
}
