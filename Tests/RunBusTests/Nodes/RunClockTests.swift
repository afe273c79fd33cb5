import Foundation
import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("The clock of a node, read without a call into it")
struct RunClockTests {
  private func snapshot(_ phase: RunPhase) -> Snapshot {
    Snapshot(
      order: SnapshotOrder(term: 1, revision: 1, tick: 1), phase: phase, runID: nil, changedBy: nil,
      startedAt: .zero, capturedAt: .zero + .seconds(100),
      metrics: RunMetrics(elapsed: .seconds(100), active: .seconds(80)), goal: RunGoal(time: .seconds(150)))
  }

  @Test("An instant is converted at the speed of the bus")
  func conversion() throws {
    let speed = try #require(BusSpeed(factor: 60))
    let (before, real) = (ContinuousClock.now, Loop.now)
    let line = BusClock(realAnchor: real, busAnchor: .zero + .seconds(100), speed: speed)
    let (holder, loop) = (RunClockHolder(), try Loop())
    holder.update(snapshot(.running), line)
    let clock = holder.value(on: loop)
    let node = try #require(clock.clock)
    // An instant has attoseconds and a bus time nanoseconds: each of the two is cut by one at most, at sixty times the speed.
    let span = node.busTime(of: before + .seconds(2)) - node.busTime(of: before)
    #expect(abs((span - .seconds(120)).nanoseconds) <= 60)
    let ahead = before + .seconds(3600)
    let time = node.busTime(of: ahead)
    #expect(clock.elapsed(at: ahead) == snapshot(.running).elapsed(at: time))
    #expect(clock.active(at: ahead) == snapshot(.running).active(at: time))
    #expect(clock.remaining(at: before) ?? .zero > .seconds(40) && clock.remaining(at: ahead) == .zero)
    var completed = snapshot(.completed)
    completed.order = SnapshotOrder(term: 1, revision: 2, tick: 2)
    holder.update(completed, line)
    let over = holder.value(on: loop)
    #expect(over.elapsed(at: ahead) == .seconds(100) && over.active(at: ahead) == .seconds(80))
    #expect(over.remaining(at: ahead) == .seconds(50))
  }

  @Test("A node that has not met its bus has no clock; hub and peer then show the same run")
  func nodes() async throws {
    let (transport, loop) = (InProcessBus(), try Loop())
    let hub = Hub(
      configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: .zero),
      listeners: [transport.listener], store: NodeStore(), loop: loop)
    let watch = Peer(
      configuration: PeerConfiguration(deviceID: DeviceID("watch"), role: .watch), connector: transport.connector,
      store: NodeStore(), loop: loop)
    #expect(hub.runClock.elapsed() == nil && hub.runClock.remaining() == nil && watch.clock == nil)
    try await withRunning([hub, watch]) {
      _ = try await within("start") { try await hub.send(Command(.start, .phone)) }
      _ = try await watch.snapshots().first("a running run") { $0.phase == .running }
      for node in [hub, watch] as [any Node] {
        let clock = node.runClock
        #expect(clock.snapshot.phase == .running)
        let now = ContinuousClock.now
        let elapsed = try #require(clock.elapsed(at: now))
        #expect(clock.elapsed(at: now + .seconds(10)) == elapsed + .seconds(10))
        #expect(clock.active(at: now + .seconds(10)) == (clock.active(at: now) ?? .zero) + .seconds(10))
        let (own, inAnHour) = (try #require(clock.clock), Date() + 3600)
        #expect(own.busTime(of: inAnHour) > own.busTime(of: now) + .seconds(3000))
      }
      // Transit makes the peer's clock late, never early.
      let now = ContinuousClock.now
      let theirs = try #require(watch.clock).busTime(of: now)
      let hubs = try #require(hub.clock).busTime(of: now)
      #expect(theirs - hubs < .milliseconds(1))
      _ = try await within("stop") { try await hub.send(Command(.stop, .phone)) }
      _ = try await watch.snapshots().first("a completed run") { $0.phase == .completed }
      let far = ContinuousClock.now + .seconds(1000)
      #expect(watch.runClock.active(at: far) == hub.runClock.active(at: far))
    }
  }
}
