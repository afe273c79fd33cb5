import Simulation
import Testing

@testable import RunCore

@Suite("A run pressed out of reach waits for its stop only as long as the stop can come")
struct LostChainTests {
  /// A watch that was out of reach sends a start that says that its stop follows, and then reconnects with another
  /// store, while its old session still exists.
  private func replaced() -> HubStage {
    var hub = HubStage.opened()
    hub.passes(to: .zero + .seconds(60))
    _ = hub.hello("watch")
    hub.commitsAll()
    let start = hub.command(.start, by: "watch", runID: RunID(high: 9, low: 7))
    _ = hub.says(
      "watch", .command(CommandTransmission(command: start, sequence: 1, age: .seconds(50), stopFollows: true)))
    hub.commitsAll()
    let anew = Hello(
      version: wireVersion, deviceID: DeviceID("watch"), role: .watch, nodeID: NodeID(high: 3, low: 1),
      storeID: HubStage.store("anew"), nonce: 1, termSeen: 0)
    _ = hub.feed(
      .frame(.named("anew"), PeerFrame(session: 0, sentAt: hub.clock.real(at: hub.now), message: .hello(anew))))
    hub.commitsAll()
    return hub
  }

  // Once broken: Presses of a held whole run were never judged, because the store of a device was deleted, and the
  // device came back while its old session was still open.
  @Test("The hub judges its presses when the session of the lost store ends")
  func sessionEnds() {
    var hub = replaced()
    #expect(hub.core.commands.unjudged.count == 1)
    _ = hub.feed(.gone(.named("watch")))
    hub.commitsAll()
    #expect(hub.core.commands.unjudged.isEmpty)
  }

  @Test("The hub judges its presses after a restart")
  func nextLife() {
    let hub = replaced()
    var disk = HubDisk()
    disk.commit(hub.durable)
    #expect(disk.history.accepted.count == 1)
    let next = HubStage.opened(history: disk.history, now: hub.now + .seconds(1))
    #expect(next.core.commands.unjudged.isEmpty)
  }

  // Once broken: A start was never judged: the hub held it for its stop, because the watch said that its stop follows
  // while the commit of the stop was under way; the disk failed, and the watch died.
  @Test("A peer says that a stop follows once that stop is durable, not before")
  func announced() {
    var peer = PeerStage.up()
    let run = RunID(high: 9, low: 7)
    _ = peer.feed(
      .press(Command(id: CommandID(high: 4, low: 1), kind: .start, source: .watch, runID: run)))
    peer.commits()
    _ = peer.feed(.press(Command(id: CommandID(high: 4, low: 2), kind: .stop, source: .watch, runID: run)))
    peer.now = peer.now + .seconds(4)
    #expect(announcements(&peer) == [false])
    peer.commits()
    peer.now = peer.now + .seconds(8)
    #expect(announcements(&peer) == [true])
  }

  /// The `stopFollows` marks of the commands that are sent again.
  private func announcements(_ peer: inout PeerStage) -> [Bool] {
    peer.core.receive(.deadline, at: peer.now).compactMap { action in
      guard case .send(let frame) = action, case .command(let sent) = frame.message, sent.command.kind == .start
      else { return nil }
      return sent.stopFollows
    }
  }
}
