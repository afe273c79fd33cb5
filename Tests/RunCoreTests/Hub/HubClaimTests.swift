import Testing

@testable import RunCore

@Suite("One command that several stores send")
struct HubClaimTests {
  /// The devices to which the hub's stream has sent the verdict.
  private func told(_ lines: [String]) -> [String] {
    lines.filter { $0.contains("start applied") && !$0.contains("commit:") && $0.contains("←") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
  }

  private func disk(of hub: HubStage) -> HubDisk {
    var disk = HubDisk()
    disk.commit(hub.durable)
    return disk
  }

  // Once broken: A device that stated the id of another device's pending command got its verdict, and the first sender
  // got none, because the hub moved the command to the stream that sent it last.
  @Test("When another device states the id of a pending command, both get its verdict")
  func stated() {
    var hub = HubStage.with("watch", "wrong")
    let start = hub.command(.start, by: "watch")
    _ = hub.sends("watch", start)
    hub.commitsAll()
    _ = hub.sends("wrong", start)
    hub.commitsAll()
    #expect(told(hub.passes(.seconds(1))) == ["watch", "wrong"])
    #expect(disk(of: hub).verdicts.count == 1)
  }

  @Test("Both get its verdict also when the hub dies between accepting and judging the command")
  func statedBeforeDeath() {
    var hub = HubStage.with("watch", "wrong")
    let start = hub.command(.start, by: "watch")
    for name in ["watch", "wrong"] {
      _ = hub.sends(name, start)
      hub.commitsAll()
    }
    let held = disk(of: hub).history
    #expect(held.claims == [start.id: [HubStage.store("wrong")]])
    var next = HubStage.opened(history: held, now: hub.now)
    var lines: [String] = []
    for name in ["watch", "wrong"] { lines += next.hello(name, nonce: 2) }
    lines += next.commitsAll()
    lines += next.passes(.seconds(1))
    #expect(told(lines).sorted() == ["watch", "wrong"])
    #expect(disk(of: next).history.claims.isEmpty)
  }

  @Test("Another kind or run under the id of a pending command does not change that command")
  func otherContent() {
    var hub = HubStage.with("watch", "wrong")
    let start = hub.command(.start, by: "watch", id: 5)
    _ = hub.sends("watch", start)
    hub.commitsAll()
    _ = hub.sends("wrong", hub.command(.stop, by: "wrong", id: 5, runID: RunID(high: 9, low: 77)))
    hub.commitsAll()
    #expect(told(hub.passes(.seconds(1))) == ["watch", "wrong"])
    #expect(hub.core.authoritative.phase == .running)
  }

  @Test("The hub's own button and a request get their verdict though another device states its id")
  func ownAndRequest() {
    var hub = HubStage.with("wrong")
    let own = hub.command(.start, by: "phone")
    _ = hub.feed(.press(own))
    hub.commitsAll()
    _ = hub.sends("wrong", own)
    hub.commitsAll()
    #expect(hub.passes(.seconds(1)).contains("own start applied 1"))

    let lap = hub.command(.lap, by: "shell")
    _ = hub.shell("shell", lap)
    hub.commitsAll()
    _ = hub.sends("wrong", lap)
    hub.commitsAll()
    #expect(hub.passes(.seconds(1)).contains("shell ← lap applied 1"))
  }

  @Test("Stores beyond the bound are refused and send the command again later; none that waits is forgotten")
  func bounded() {
    let names = (0...CommandBook.claimsMax).map { "wrong\($0)" }
    var hub = HubStage.with("watch")
    for name in names { _ = hub.hello(name) }
    hub.commitsAll()
    let start = hub.command(.start, by: "watch")
    _ = hub.sends("watch", start)
    hub.commitsAll()
    var answers: [String] = []
    for name in names {
      answers += hub.sends(name, start, sequence: 1).filter { $0.contains("refused") }
      hub.commitsAll()
    }
    #expect(answers == ["\(names.last!) ← refused busy"])
    #expect(told(hub.passes(.seconds(1))).sorted() == (["watch"] + names.dropLast()).sorted())
    #expect(told(hub.sends(names.last!, start, sequence: 1) + hub.commitsAll()) == [names.last!])
  }

  // Once broken: The seventeenth connection that waited for one command's verdict displaced the first, because the list
  // of those who wait for a verdict dropped its oldest entry.
  @Test("Requests beyond the bound are refused, and the first one gets its answer")
  func requests() {
    var hub = HubStage.opened()
    for asker in 0..<16 {
      _ = hub.requests("shell\(asker)", .start, id: 5)
      hub.commitsAll()
    }
    #expect(hub.requests("shell16", .start, id: 5) == ["shell16 ← refused busy"])
    #expect(told(hub.passes(.seconds(1))).first == "shell0")
  }

  @Test("A device with a new store gets the verdicts on what its old store sent, and nothing is owed to the old one")
  func newStore() {
    var hub = HubStage.with("watch")
    let start = hub.command(.start, by: "watch")
    _ = hub.sends("watch", start)
    hub.commitsAll()
    var anew = hub.greeting("watch", nonce: 2)
    anew.storeID = HubStage.store("anew")
    _ = hub.says("watch", .hello(anew), session: 0)
    _ = hub.sends("watch", start, sequence: 1)
    hub.commitsAll()
    #expect(told(hub.passes(.seconds(1))) == ["watch"])
    #expect(hub.core.commands.verdictStores == [HubStage.store("anew")])
  }
}
