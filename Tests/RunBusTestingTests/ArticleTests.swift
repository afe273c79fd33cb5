import RunBus
import RunBusTesting
import RunBusUI
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

// These, too.
@MainActor
@Suite("The tests of the article on the main actor", .timeLimit(.minutes(1)))
struct MainActorArticleTests {
  @Test("The watch's screen shows a press at once, and the clock with the verdict")
  func screen() async throws {
    let bus = try TestBus()
    let phone = try await bus.hub("phone")
    let watch = try await bus.peer("watch", role: .watch)
    let model = RunModel(watch, source: .watch)
    let following = Task { await model.run() }
    try await bus.settle()

    model.press(.start)
    #expect(model.predictedPhase == .running)
    #expect(model.phase == .idle)
    try await bus.advance(by: .seconds(1))
    #expect(model.presses.first?.stage == .judged(.applied))
    #expect(model.phase == .running)
    #expect(model.metrics.distanceMeters == nil)  // no position yet, which is not zero

    try await bus.advance(by: .seconds(60))
    let shown = try #require(model.active(at: bus.date))
    #expect(abs(shown.seconds - 61) < 0.01)
    // The dial goes on until the snapshot with the pause has come, and then stands as of the press.
    model.press(.pause)
    try await bus.advance(by: .milliseconds(400))
    #expect(model.predictedPhase == .paused)
    #expect(try #require(model.active(at: bus.date)) > shown)
    try await bus.advance(by: .milliseconds(200))
    #expect(model.phase == .paused)
    #expect(abs(try #require(model.active(at: bus.date)).seconds - 61) < 0.01)
    #expect(await phone.authoritative.phase == .paused)

    await bus.close()
    await following.value
  }
}
