import RunBus
import TestSupport
import Testing

@Suite("A hub and its peers share one run", .timeLimit(.minutes(5)))
struct SharedRunTests {
  @Test("A start on the watch starts a run on the phone and the widget")
  func startIsShared() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place)
      let watch = try bus.peer("watch")
      let widget = try bus.peer("widget", role: .widget)
      try await withRunning([bus.hub, watch, widget]) {
        let seen = await widget.snapshots()
        let verdict = try await within("the verdict") { try await watch.send(Command(.start)) }
        #expect(verdict.outcome == .applied)
        #expect(verdict.revision == 1)
        let snapshot = try await seen.first("the running run") { $0.phase == .running }
        #expect(snapshot.order.revision == 1)
        #expect(snapshot.changedBy?.deviceID == DeviceID("watch"))
        #expect(await bus.hub.authoritative.runID == snapshot.runID)
      }
    }
  }

  @Test("Pause pressed on all three within the window is one transition with three verdicts")
  func pauseCountsOnce() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place)
      let watch = try bus.peer("watch")
      let widget = try bus.peer("widget", role: .widget)
      try await withRunning([bus.hub, watch, widget]) {
        _ = try await within("start") { try await bus.hub.send(Command(.start, .phone)) }
        let seen = await widget.snapshots()
        _ = try await seen.first("the running run") { $0.phase == .running }
        async let first = watch.send(Command(.pause, .watch))
        async let second = widget.send(Command(.pause, .liveActivity))
        async let third = bus.hub.send(Command(.pause, .phone))
        let verdicts = try await [first, second, third]
        #expect(verdicts.filter { $0.outcome == .applied }.count == 1)
        #expect(verdicts.allSatisfy { $0.revision == 2 })
        let snapshot = try await seen.first("the paused run") { $0.phase == .paused }
        #expect(snapshot.order.revision == 2)
      }
    }
  }

  @Test("A late joiner gets the state with its welcome, and snapshots come every three seconds of bus time")
  func lateJoiner() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place, speed: BusSpeed(factor: 30)!)
      try await withRunning([bus.hub]) {
        _ = try await within("start") { try await bus.hub.send(Command(.start, .phone)) }
        let late = try bus.peer("late")
        try await withRunning([late]) {
          let seen = await late.snapshots()
          let first = try await seen.first("the state") { $0.phase == .running }
          let fourth = try await seen.first("three more ticks") { $0.order.tick >= first.order.tick + 3 }
          let elapsed = fourth.metrics.elapsed - first.metrics.elapsed
          #expect(elapsed >= .seconds(6))
        }
      }
    }
  }

  @Test("A watch that was disconnected gets the state when it is back, and its samples arrive")
  func offline() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place, speed: BusSpeed(factor: 30)!)
      let watch = try bus.peer("watch")
      try await withRunning([bus.hub, watch]) {
        let seen = await watch.snapshots()
        let onHub = await bus.hub.snapshots()
        _ = try await within("start") { try await watch.send(Command(.start)) }
        await watch.disconnect()
        try await watch.add(Sample(moment: .at(Loop.now), value: .heartRate(bpm: 140)))
        // The limit is a tenth of a second: clocks agree only within the time a frame takes, which counts thirtyfold
        // here.
        let before = try await onHub.first("the run") { $0.phase == .running }.metrics.elapsed
        _ = try await onHub.first("three seconds of it") { $0.metrics.elapsed >= before + .seconds(3) }
        _ = try await within("pause") { try await bus.hub.send(Command(.pause, .phone)) }
        await watch.reconnect()
        _ = try await seen.first("the paused run") { $0.phase == .paused }
        _ = try await onHub.first("the heart rate") { $0.metrics.heartRateBpm == 140 }
      }
    }
  }

  @Test("An impossible reading is refused when it is recorded, and blocks none after it")
  func impossibleReading() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place)
      let watch = try bus.peer("watch")
      try await withRunning([bus.hub, watch]) {
        let onHub = await bus.hub.snapshots()
        _ = try await within("start") { try await watch.send(Command(.start)) }
        await #expect(throws: RunBusError.self) {
          try await watch.add(Sample(moment: .at(Loop.now), value: .heartRate(bpm: .nan)))
        }
        try await watch.add(Sample(moment: .at(Loop.now), value: .heartRate(bpm: 133)))
        _ = try await onHub.first("the heart rate") { $0.metrics.heartRateBpm == 133 }
      }
    }
  }
}
