import RunBus
import RunBusTesting
import Testing

@Suite("A watch that is opened again", .timeLimit(.minutes(1)))
struct RestartedWatchTests {
  @Test("Its first snapshot is the last one that it showed, with its numbers, and is stale until the phone is heard")
  func order() async throws {
    try await TestBus.run { bus in
      let phone = try await bus.hub(Device.phone)
      let watch = try await bus.peer(Device.watch, role: .watch)
      _ = try await bus.advance { try await phone.send(Command(.start, source: .phone)) }
      try await phone.add(Sample(moment: .at(bus.now), value: .heartRate(bpm: 142)))
      try await bus.advance(by: .seconds(60))
      let shown = await watch.authoritative
      #expect(shown.order.tick > 20 && shown.metrics.heartRateBpm == 142)
      bus.cut(Device.watch)
      let again = try await bus.restart(watch)
      #expect(await again.snapshots().first { _ in true } == shown)
      #expect(await again.viewState == ViewState(age: nil, isStale: true, isHubOffDuty: false))
      #expect(await again.views().first { _ in true }?.isStale == true)
      bus.restore(Device.watch)
      try await bus.advance(by: .seconds(5))
      #expect(await again.authoritative.order > shown.order)
      #expect(await again.viewState.isStale == false)
    }
  }
}
