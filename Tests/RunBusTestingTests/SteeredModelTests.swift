import Foundation
import RunBus
import RunBusTesting
import RunBusUI
import Testing

@Suite("The model of a screen in a test with steered time", .timeLimit(.minutes(5)))
@MainActor struct SteeredModelTests {
  // Once broken: In a test with steered time a press counted late now and then, or its stage was a turn behind, because
  // `RunModel` handed presses over through a stream, and streams wake their readers by way of the shared pool of
  // threads.
  @Test("The node has a press when press() returns, so that a test has no races", arguments: 0..<10)
  func presses(_: Int) async throws {
    let bus = try TestBus()
    let phone = try await bus.hub(Device.phone)
    let model = RunModel(phone, source: .phone)
    let following = Task { await model.run() }
    try await bus.settle()
    for kind in [CommandKind.start, .pause, .resume, .pause, .resume, .stop] {
      let pressedAt = try #require(await phone.busNow)
      model.press(kind)
      try await bus.settle()
      #expect(model.presses.last?.stage == .pending)
      try await bus.advance(by: .seconds(2))
      #expect(model.presses.last?.stage == .judged(.applied))
      #expect(model.phase == model.predictedPhase)
      if kind == .start { #expect(model.snapshot.startedAt == pressedAt) }
    }
    following.cancel()
    try await bus.end(phone)
  }
}
