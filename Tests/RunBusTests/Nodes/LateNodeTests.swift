import RunBus
import TestSupport
import Testing

@Suite("Presses made out of reach", .timeLimit(.minutes(5)))
struct LateNodeTests {
  /// A run on a fast bus, a pause on a watch out of reach, three minutes of bus time, and the watch's return.
  private func pausedOutOfReach(
    meanwhile: @escaping @Sendable (Hub) async throws -> Void,
    check: @escaping @Sendable (Verdict, Snapshot) throws -> Void
  ) async throws {
    try await withTestBus { place in
      // Without a window, because half a second of bus time is less than a busy machine takes for a step.
      let bus = try RunningBus(place, debounce: .zero, speed: BusSpeed(factor: 60)!)
      let watch = try bus.peer("watch")
      try await withRunning([bus.hub, watch]) {
        let onHub = await bus.hub.snapshots()
        _ = try await within("start") { try await bus.hub.send(Command(.start, .phone)) }
        let seen = await watch.snapshots()
        _ = try await seen.first("the running run") { $0.phase == .running }
        await watch.disconnect()
        let pause = Command(.pause)
        let receipts = await watch.receipts(for: pause.id)
        async let verdict = watch.send(pause)
        _ = try await receipts.first("the press is durable") { $0.stage == .queued }
        #expect(await watch.predicted == .paused)
        let pressed = await bus.hub.authoritative.metrics.elapsed
        try await meanwhile(bus.hub)
        _ = try await onHub.first("three minutes") { $0.metrics.elapsed >= pressed + .seconds(180) }
        await watch.reconnect()
        let judged = try await verdict
        let last = try await seen.first("the state after it") { $0.order.revision >= judged.revision }
        try check(judged, last)
      }
    }
  }

  @Test("A pause pressed three minutes ago makes those three minutes inactive")
  func amends() async throws {
    try await pausedOutOfReach(meanwhile: { _ in }) { verdict, snapshot in
      #expect(verdict.outcome == .applied)
      #expect(snapshot.phase == .paused)
      // Only the time before the press is active; the machine's own delays count sixtyfold here.
      #expect(snapshot.metrics.elapsed - snapshot.metrics.active >= .seconds(170))
    }
  }

  @Test("The same pause is refused as stale if somebody else has changed the run meanwhile")
  func isRefused() async throws {
    try await pausedOutOfReach(
      meanwhile: { hub in
        _ = try await within("pause") { try await hub.send(Command(.pause, .phone)) }
        _ = try await within("resume") { try await hub.send(Command(.resume, .phone)) }
      },
      check: { verdict, snapshot in
        #expect(verdict.outcome == .rejected(.staleRevision))
        #expect(snapshot.phase == .running)
      })
  }

  @Test("A run that was started, paused and stopped out of reach arrives whole, and the present run continues")
  func wholeRun() async throws {
    try await withTestBus { place in
      let store = try NodeStore(directory: place.directory + "/phone")
      // Without a window, because half a second of bus time is less than a busy machine takes for a step.
      let bus = try RunningBus(place, debounce: .zero, speed: BusSpeed(factor: 30)!, store: store)
      let watch = try bus.peer("watch")
      try await withRunning([bus.hub, watch]) {
        let seen = await watch.snapshots()
        _ = try await seen.first("the state") { $0.order.term == 1 }
        await watch.disconnect()
        let onHub = await bus.hub.snapshots()
        _ = try await within("the phone's own run") { try await bus.hub.send(Command(.start, .phone)) }
        let own = try await onHub.first("its run") { $0.phase == .running }.runID
        let receipts = await watch.ownReceipts()
        // A press counts from when it is made, and a busy machine may begin a task late.
        func isMade(_ kind: CommandKind) async throws {
          _ = try await receipts.first("\(kind) in the outbox") { $0.kind == kind && $0.stage == .queued }
        }
        async let start = watch.send(Command(.start))
        try await isMade(.start)
        // Apart from each other, so that each is judged alone: a second of bus time is a thirtieth of a real one.
        _ = try await onHub.first("some time") { $0.metrics.elapsed >= .seconds(9) }
        async let pause = watch.send(Command(.pause))
        try await isMade(.pause)
        _ = try await onHub.first("more time") { $0.metrics.elapsed >= .seconds(18) }
        async let stop = watch.send(Command(.stop))
        try await isMade(.stop)
        _ = try await onHub.first("still more time") { $0.metrics.elapsed >= .seconds(180) }
        await watch.reconnect()
        for verdict in try await [start, pause, stop] {
          #expect(verdict.outcome == .applied)
          #expect(verdict.runID != own)
        }
        #expect(await bus.hub.authoritative.runID == own)
        #expect(await bus.hub.authoritative.phase == .running)
      }
      let again = try NodeStore(directory: place.directory + "/phone")
      defer { again.close() }
      let records = try again.history().records
      #expect(records.map(\.isConflicted) == [true])
      #expect(records.first?.deviceID == DeviceID("watch"))
    }
  }
}
