import Foundation
import RunBus
import TestSupport
import Testing

@Suite("A node's clock", .timeLimit(.minutes(5)))
struct NodeClockTests {
  @Test("Dates and instants of a bus time are as far from now as the bus time, by the speed of the bus")
  func speed() async throws {
    let nodes = try InProcessNodes(speed: BusSpeed(factor: 60)!)
    let watch = nodes.peer()
    try await withRunning([nodes.hub, watch]) {
      try await watch.isConnected()
      for node in [nodes.hub, watch] as [any RunBus.Node] {
        let clock = try #require(node.clock)
        #expect(clock.speed == BusSpeed(factor: 60))
        let minuteAgo = clock.busTime - .seconds(3600)
        #expect(abs(clock.date(of: minuteAgo).timeIntervalSince(clock.date) + 60) < 1e-5)
        #expect(clock.instant(of: minuteAgo).duration(to: clock.instant) == .seconds(60))
        #expect(clock.busTime(of: clock.instant.advanced(by: .seconds(-60))) == minuteAgo)
        let back = clock.busTime(of: clock.date.addingTimeInterval(-60))
        #expect(abs((back - minuteAgo).nanoseconds) < 100_000)
        #expect(clock.busTime(of: clock.date) == clock.busTime)
        #expect(clock.date(of: clock.busTime) == clock.date)
      }
    }
  }

  // Once broken: The clock of a node and the clock of the run could name two bus times for one instant, because each
  // converted by a reading of its own.
  @Test("The clocks of hub and peer name the same moment for a bus time")
  func agreement() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    try await withRunning([nodes.hub, watch]) {
      try await watch.isConnected()
      let (hub, peer) = (try #require(nodes.hub.clock), try #require(watch.clock))
      let time = hub.busTime + .seconds(10)
      // They differ by the transit of the snapshot and by the time between the two readings of the wall clock.
      #expect(abs(hub.date(of: time).timeIntervalSince(peer.date(of: time))) < 60)
      #expect(abs(BusDuration(hub.instant(of: time).duration(to: peer.instant(of: time))).seconds) < 60)
    }
  }

  @Test("A hub that does not run and a peer without a snapshot know no bus time")
  func unknown() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    #expect(nodes.hub.clock == nil)
    #expect(watch.clock == nil)
    try await withRunning([watch]) { #expect(watch.clock == nil) }
  }
}
