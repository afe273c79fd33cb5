import RunCore
import Testing

@Suite("What a hub owes")
struct HubDeliveryTests {
  private func verdicts(_ lines: [String]) -> [String] {
    lines.filter { $0.contains("←") && $0.contains(": start applied") }
  }

  @Test("A verdict is owed until it is acknowledged, over sessions and restarts")
  func verdictWaits() {
    var hub = HubStage.with("watch", debounce: .zero)
    hub.isTerse = false
    _ = hub.presses("watch", .start)
    let told = verdicts(hub.commitsAll())
    #expect(told.count == 1)
    // Nothing was acknowledged: it is sent again, in the same session and in the next.
    #expect(verdicts(hub.passes(.seconds(4))) == told)
    var disk = HubDisk()
    disk.commit(hub.durable)
    var next = HubStage.opened(debounce: .zero, history: disk.history, now: hub.now + .seconds(3 * 86_400))
    next.isTerse = false
    var again = next.hello("watch", nonce: 2)
    again += next.commitsAll()
    #expect(verdicts(again).count == 1)
    _ = next.says("watch", .delivery(.acknowledge(.verdicts, through: 1)))
    next.passes(.seconds(1))
    disk.commit(next.durable)
    #expect(disk.history.delivery.rows.isEmpty)
    #expect(verdicts(next.passes(.seconds(60))).isEmpty)
  }

  @Test("A verdict that goes out again is counted, and so is a press that comes again, by its number or by its id")
  func repeats() {
    var hub = HubStage.with("watch", "widget", debounce: .zero)
    hub.isTerse = false
    let start = hub.command(.start, by: "watch")
    _ = hub.sends("watch", start, sequence: 1)
    _ = hub.commitsAll()
    #expect(hub.core.takeTally().isEmpty)
    _ = hub.sends("watch", start, sequence: 1)
    #expect(hub.core.takeTally().duplicates == 1)
    _ = hub.sends("widget", start, sequence: 1)
    _ = hub.commitsAll()
    #expect(hub.core.takeTally().duplicates == 1)
    hub.passes(.seconds(4))
    #expect(hub.core.takeTally().retransmissions > 0)
  }

  @Test("A peer that acknowledges no verdicts gets no more commands accepted until it does; others are not affected")
  func neverAcknowledges() {
    var hub = HubStage.with("watch", "widget", debounce: .zero)
    hub.isTerse = false
    for _ in 0..<1024 {
      _ = hub.presses("watch", .lap)
      hub.commitsAll()
    }
    #expect(hub.presses("watch", .lap) == ["note", "watch ← refused busy"])
    #expect(verdicts(hub.presses("widget", .start) + hub.commitsAll()).count == 1)
    _ = hub.says("watch", .delivery(.acknowledge(.verdicts, through: 600)))
    let stop = hub.command(.stop, by: "watch")
    let lines = hub.sends("watch", stop, sequence: 1025)
    #expect(lines.last?.contains("commands to 1025, stop at 0.0s, judge stop applied 2") == true)
  }

  // Once broken: The hub owed a store more than 1,024 verdicts, because the store's commands that waited to be judged
  // were not counted.
  @Test("Pending commands count as owed verdicts: a store is never owed more than 1,024")
  func owedWithThoseToCome() {
    var hub = HubStage.with("watch")
    hub.isTerse = false
    var taken = 0
    for _ in 0..<1200 {
      taken += hub.presses("watch", .lap).contains("watch ← refused busy") ? 0 : 1
      hub.commitsAll()
      if taken % 200 == 0 { hub.passes(.seconds(3)) }
    }
    hub.passes(.seconds(3))
    #expect(
      hub.durable.count { if case .enqueue(let row) = $0 { row.stream.kind == .verdicts } else { false } } == 1024)
  }

  // Once broken: Verdicts that stores do not acknowledge were bounded for each store but not in total: 5,120 stores of
  // invented devices could use 2.5 GiB, because there was only a bound for each store.
  @Test("When the room for all owed verdicts is used up, each store has its share and no more")
  func owedByAll() {
    var hub = HubStage.opened(debounce: .zero, owedVerdictsMax: 300)
    hub.isTerse = false
    func fill(_ name: String) -> Int {
      _ = hub.hello(name)
      hub.commitsAll()
      for taken in 0..<500 {
        if hub.presses(name, .lap).contains("\(name) ← refused busy") { return taken }
        hub.commitsAll()
      }
      return 500
    }
    #expect(fill("one") == 300)
    #expect(fill("two") == 16)
    #expect(fill("three") == 16)
  }

  // Once broken: A tombstone was acknowledged only when it was resent, after two seconds, because its mark names the
  // command before it, and the hub regarded the verdict of that command as the acknowledgement of both.
  @Test("A chain whose stop was cancelled falls apart, and its commands are judged")
  func chainLosesItsStop() {
    var hub = HubStage.with("watch")
    hub.now = .zero + .seconds(600)
    let start = hub.command(.start, by: "watch")
    let transmission = CommandTransmission(command: start, sequence: 1, age: .seconds(300), stopFollows: true)
    _ = hub.says("watch", .command(transmission))
    hub.commitsAll()
    #expect(hub.core.authoritative.phase == .idle)
    _ = hub.says("watch", .delivery(.tombstones(.commands, from: 2, through: 2)))
    let lines = hub.commitsAll()
    #expect(lines.contains("watch ← 1: start applied 1"), "\(lines)")
    // The verdict of the start does not acknowledge the sequence number after it.
    #expect(lines.contains("watch ← commands to 2"), "\(lines)")
    #expect(hub.core.authoritative.phase == .running)
    #expect(hub.core.authoritative.metrics.elapsed == .seconds(300))
    var disk = HubDisk()
    disk.commit(hub.durable)
    #expect(disk.history.accepted.isEmpty)
  }

  /// One hub dies during a burst of presses and restarts after a while; the other one survives.
  @Test(
    "Killed at any moment of an open window, a hub judges what it had accepted as if nothing had happened",
    arguments: 0..<60 as Range<UInt64>)
  func killedAtAnyMoment(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let burst = (0..<6).map { _ in AcceptedCommand(using: &generator) }
    for moment in 1...burst.count {
      var living = HubStage.with("watch", "widget")
      for press in burst[..<moment] {
        living.passes(press.gap)
        _ = living.presses(press.name, press.kind)
        living.commitsAll()
      }
      living.passes(.milliseconds(Int64(generator.next() % 300)))
      var disk = HubDisk()
      disk.commit(living.durable)
      var reborn = HubStage(
        history: disk.history, now: living.now + .milliseconds(Int64(generator.next() % 10_000)))
      _ = reborn.feed(.started)
      reborn.commitsAll()
      reborn.passes(.seconds(3))
      living.passes(.seconds(3))
      var other = disk
      other.commit(reborn.durable)
      disk = HubDisk()
      disk.commit(living.durable)
      #expect(disk.verdicts.count == moment)
      for (id, verdict) in disk.verdicts {
        #expect(summary(verdict) == summary(other.verdicts[id]), "seed \(seed), killed after press \(moment)")
      }
      let (one, two) = (living.core.authoritative, reborn.core.authoritative)
      #expect(one.phase == two.phase && one.order.revision == two.order.revision && one.changedBy == two.changedBy)
    }
  }

  private struct AcceptedCommand {
    let name: String
    let kind: CommandKind
    let gap: BusDuration

    init(using generator: inout SeededGenerator) {
      name = generator.next() % 2 == 0 ? "watch" : "widget"
      kind = CommandKind.allCases[Int(generator.next() % UInt64(CommandKind.allCases.count))]
      gap = .milliseconds(Int64(generator.next() % 250))
    }
  }

  /// A verdict without the hub's term.
  private func summary(_ verdict: Verdict?) -> String {
    guard let verdict else { return "none" }
    return "\(verdict.kind) \(verdict.outcome) \(verdict.revision) \(verdict.runID?.low ?? 0) "
      + "\(verdict.effectiveAt?.nanoseconds ?? -1)"
  }
}
