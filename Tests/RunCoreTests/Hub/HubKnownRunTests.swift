import RunCore
import Testing

/// Runs that the control state has forgotten and of which the hub keeps a record.
@Suite("A run of which only a record is left")
struct HubKnownRunTests {
  /// A hub with a record of run 9, which its control state does not know.
  private func hub() -> HubStage {
    var hub = HubStage.with("watch", debounce: .zero)
    hub.now = .zero + .seconds(100)
    _ = hub.sends("watch", hub.command(.start, by: "watch", runID: .number(9)))
    hub.commitsAll()
    _ = hub.presses("watch", .stop)
    hub.commitsAll()
    var disk = HubDisk()
    disk.commit(hub.durable)
    var history = disk.history
    history.transitions = []
    history.windows = []
    history.verdicts = []
    history.journal = []
    var next = HubStage.opened(debounce: .zero, history: history, now: hub.now)
    _ = next.hello("watch", nonce: 2)
    _ = next.hello("widget")
    next.commitsAll()
    return next
  }

  @Test("is not begun again, nor does its id become an alias of another run")
  func start() {
    var hub = hub()
    let start = hub.command(.start, by: "widget", id: 77, runID: .number(9))
    _ = hub.sends("widget", start, sequence: 1)
    #expect(hub.commitsAll().contains { $0.contains("start illegal while") })
    let other = hub.command(.start, by: "widget", id: 78, runID: .number(10))
    _ = hub.sends("widget", other, sequence: 2)
    #expect(hub.commitsAll().contains { $0.contains("start applied") })
    let again = hub.command(.start, by: "widget", id: 79, runID: .number(9))
    _ = hub.sends("widget", again, sequence: 3)
    #expect(hub.commitsAll().contains { $0.contains("start illegal while") })
    #expect(!hub.durable.contains { if case .setAlias = $0 { true } else { false } })
  }

  @Test("is not rewritten by a whole run with its id")
  func wholeRun() {
    var hub = hub()
    let kept = hub.core.authoritative
    for (place, kind) in [(1, .start), (2, .stop)] as [(UInt64, CommandKind)] {
      let command = hub.command(kind, by: "widget", id: 80 + place, runID: .number(9))
      _ = hub.says(
        "widget",
        .command(CommandTransmission(command: command, sequence: place, age: .seconds(50), stopFollows: kind == .start))
      )
      hub.commitsAll()
    }
    hub.passes(.seconds(120))
    #expect(!hub.durable.contains { if case .keepRecord = $0 { true } else { false } })
    #expect(hub.core.authoritative.order.revision == kept.order.revision)
  }

  // Once broken: Because of `stop_follows` the hub held a command of a one-shot until the sender's device came with
  // another store, because the hub accepted the flag from a sender that has no stream.
  @Test("A request has no stream in which a stop could follow: its start is judged at once")
  func request() {
    var hub = HubStage.opened()
    hub.now = .zero + .seconds(600)
    hub.commitsAll()
    _ = hub.shell("shell", hub.command(.start, by: "shell"), age: .seconds(60))
    #expect(hub.commitsAll().contains { $0.contains("start applied") })
  }
}
