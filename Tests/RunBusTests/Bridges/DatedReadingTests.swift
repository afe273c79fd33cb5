import Foundation
import RunBus
import TestSupport
import Testing

@Suite("Readings with a date", .timeLimit(.minutes(5)))
struct DatedReadingTests {
  /// Runs a hub and a watch with a run that was started a moment ago.
  private func withRun(_ body: @escaping @Sendable (Hub, Peer) async throws -> Void) async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    try await withRunning([nodes.hub, watch]) {
      try await watch.isConnected()
      _ = try await within("the start") { try await nodes.hub.send(Command(.start, source: .phone)) }
      try await body(nodes.hub, watch)
    }
  }

  @Test("A reading dated now counts in the run, at the hub and from a peer")
  func now() async throws {
    try await withRun { hub, watch in
      for (node, bpm) in [(hub, 120), (watch, 130)] as [(any RunBus.Node, Double)] {
        try await node.add(.heartRate(bpm: bpm), at: Date())
        _ = try await watch.snapshots().first("\(bpm) beats") { $0.metrics.heartRateBpm == bpm }
      }
    }
  }

  @Test("A date in the future counts as now, so that the reading is shown with an age of its own")
  func future() async throws {
    try await withRun { hub, watch in
      try await watch.add([DatedReading(.heartRate(bpm: 140), at: Date(timeIntervalSinceNow: 3600))])
      let snapshot = try await watch.snapshots().first("140 beats") { $0.metrics.heartRateBpm == 140 }
      let moment = try #require(snapshot.metrics.moments.heartRate)
      #expect(moment <= snapshot.metrics.elapsed)
    }
  }

  @Test("A batch is taken in as a whole, or not at all")
  func batch() async throws {
    try await withRun { hub, watch in
      let good = DatedReading(.heartRate(bpm: 150), at: Date())
      let wrong = [
        DatedReading(.heartRate(bpm: .nan), at: Date()), DatedReading(.heartRate(bpm: 150), at: .distantPast),
        DatedReading(.heartRate(bpm: 150), at: Date(timeIntervalSinceReferenceDate: .nan)),
      ]
      for node in [hub, watch] as [any RunBus.Node] {
        for reading in wrong {
          let error = await #expect(throws: RunBusError.self) { try await node.add([good, reading]) }
          #expect(error?.code == .badInput)
        }
        #expect(await !node.hasPendingSamples)
      }
      await watch.disconnect()
      let many = [DatedReading](repeating: good, count: 36_001)
      let error = await #expect(throws: RunBusError.self) { try await watch.add(many) }
      #expect(error?.code == .full)
      #expect(await watch.unacknowledgedSamples == 0)
      try await watch.add([good, good])
      #expect(await watch.unacknowledgedSamples == 2)
    }
  }

  @Test("A reading waits for a node that has not begun, and is refused after its end")
  func notRunning() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    let waiting = Task { try await watch.add(.heartRate(bpm: 120), at: Date()) }
    try await withRunning([watch]) {
      try await within("the reading") { try await waiting.value }
      #expect(await watch.unacknowledgedSamples == 1)
    }
    let error = await #expect(throws: RunBusError.self) { try await watch.add(.heartRate(bpm: 120), at: Date()) }
    #expect(error?.code == .closed)
  }
}
