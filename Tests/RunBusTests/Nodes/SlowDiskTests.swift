import Foundation
import Synchronization
import TestSupport
import Testing

@testable import RunBus

@Suite("A hub whose disk is slow", .timeLimit(.minutes(5)))
struct SlowDiskTests {
  /// Delays every commit while it is shut.
  private final class Gate: Sendable {
    private let lock = Mutex(false)
    var isShut: Bool { lock.withLock { $0 } }
    func set(shut: Bool) { lock.withLock { $0 = shut } }
    /// Bounded, so that a failed test does not hang the store's thread.
    func pass() {
      for _ in 0..<6000 where isShut { pauseThread(milliseconds: 10) }
    }
  }

  @Test("A commit that does not end delays no hello, no durable snapshot and no other peer")
  func otherPeersGoOn() async throws {
    try await withTestBus { place in
      let gate = Gate()
      var options = StoreOptions()
      options.beforeCommit = { _ in gate.pass() }
      let bus = try RunningBus(place, store: NodeStore(options: options))
      let watch = try bus.peer("watch")
      let widget = try bus.peer("widget", role: .widget)
      try await withRunning([bus.hub, watch, widget]) {
        _ = try await within("start") { try await watch.send(Command(.start)) }
        _ = try await widget.snapshots().first("the running run") { $0.phase == .running }
        gate.set(shut: true)
        let pause = Command(.pause)
        let receipts = await watch.receipts(for: pause.id)
        async let verdict = watch.send(pause)
        _ = try await receipts.first("durable on the watch") { $0.stage == .queued }
        // All of this happens while the hub's commit is delayed.
        await widget.disconnect()
        await widget.reconnect()
        _ = try await widget.reachabilities().first("the widget is welcomed") { $0.isReachable }
        #expect(await widget.authoritative.phase == .running)
        let peers = try await widget.peers()
        #expect(peers.map(\.deviceID.rawValue) == ["watch", "widget"])
        #expect(gate.isShut)
        gate.set(shut: false)
        #expect(try await verdict.outcome == .applied)
      }
    }
  }
}

/// Sleeps on the store's thread, where nothing else waits.
private func pauseThread(milliseconds: UInt32) { Thread.sleep(forTimeInterval: Double(milliseconds) / 1000) }
