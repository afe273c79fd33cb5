import Testing

@testable import RunCore

@Suite("A hub whose store has lost history")
struct HubRegressTests {
  // Once broken: A hub that was restarted on an older copy of its store sent its new store id in a welcome before the
  // id was durable.
  @Test("Each device with more acknowledged than the hub knows resets its streams; other devices continue")
  func beginsAnew() {
    var hub = HubStage.with("tablet", debounce: .zero)
    _ = hub.presses("tablet", .start)
    hub.commitsAll()
    var disk = HubDisk()
    disk.commit(hub.durable)
    // The rest is lost with the disk.
    _ = hub.presses("tablet", .pause)
    hub.commitsAll()
    var next = HubStage.opened(debounce: .zero, history: disk.history, now: hub.now)
    var watch = next.greeting("watch", nonce: 2)
    watch.hub = HubStage.storeID
    watch.acknowledged = [.commands: 9]
    #expect(next.says("watch", .hello(watch), session: 0) == ["watch ← refused storeRegressed"])
    watch.acknowledged = [:]
    watch.storeID = HubStage.store("anew")
    var lines = next.says("watch", .hello(watch), session: 0)
    var tablet = next.greeting("tablet", nonce: 2)
    tablet.hub = HubStage.storeID
    tablet.acknowledged = [.commands: 1]
    tablet.received[.verdicts] = StreamMark(sequence: 1)
    lines += next.says("tablet", .hello(tablet), session: 0) + next.commitsAll()
    #expect(lines.filter { $0.contains("← welcome") }.count == 2)
  }
}
