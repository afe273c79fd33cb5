import RunCore
import Testing

@Suite("A hub accepts, judges and answers")
struct HubControlTests {
  @Test("A press is pending once it is durable, and judged once its window has settled and that is durable")
  func press() {
    var hub = HubStage.with("watch")
    #expect(hub.presses("watch", .start) == ["commit: commands to 1, accept start window"])
    #expect(hub.commits() == ["publish watch: start", "publish watch: start pending", "watch ← commands to 1"])
    hub.now = .zero + .milliseconds(500)
    #expect(hub.core.deadline == hub.now)
    #expect(hub.feed(.deadline) == ["commit: start at 0.0s, window, judge start applied 1, clock"])
    // The hub shows nothing before it is durable.
    #expect(hub.core.authoritative.phase == .idle)
    #expect(hub.says("watch", .beat(1)) == ["watch ← pong 1 at 1.0.1"])
    #expect(hub.says("watch", .query) == ["watch ← state 1.0.1 idle"])
    #expect(hub.feed(.subscribed(.snapshots)) == ["publish 1.0.1 idle"])
    #expect(
      hub.hello("widget") == ["widget ← welcome 1, 1.0.1 idle", "publish widget here"])
    #expect(
      hub.commits() == [
        "show 1.1.2 running", "publish 1.1.2 running", "publish watch: start applied 1",
        "watch ← 1: start applied 1",
      ])
  }

  @Test("A welcome states no watermark that is not durable")
  func watermarkOfWelcome() {
    var hub = HubStage.with("watch")
    _ = hub.presses("watch", .start)
    #expect(hub.hello("watch", nonce: 2) == [])
    #expect(hub.commitsAll().last == "watch ← welcome 2, commands 1, 1.0.1 idle")
    #expect(hub.hello("watch", nonce: 3) == ["watch ← welcome 3, commands 1, 1.0.1 idle"])
  }

  @Test("A command that is sent again does not reach the window; it is acknowledged again")
  func resend() {
    var hub = HubStage.with("watch")
    let start = hub.command(.start, by: "watch")
    _ = hub.sends("watch", start, sequence: 1)
    // While the commit is in flight, its acknowledgement answers the resend.
    #expect(hub.sends("watch", start, sequence: 1) == [])
    #expect(hub.commits() == ["publish watch: start", "publish watch: start pending", "watch ← commands to 1"])
    hub.now = .zero + .milliseconds(400)
    #expect(hub.sends("watch", start, sequence: 1, age: .milliseconds(400)) == ["watch ← commands to 1"])
    // The resend did not extend the window.
    #expect(hub.core.deadline == .zero + .milliseconds(500))
    hub.passes(to: .zero + .milliseconds(500))
    // The verdict is sent on the hub's own stream, and not again for each resend.
    #expect(hub.sends("watch", start, sequence: 1) == ["watch ← commands to 1"])
  }

  @Test("A verdict that is not acknowledged is sent again after 2, 4, 8 … seconds and in the next session")
  func verdictStream() {
    var hub = HubStage.with("watch", debounce: .zero)
    hub.isTerse = false
    _ = hub.presses("watch", .start)
    #expect(hub.commits().last == "watch ← 1: start applied 1")
    var before = hub.now
    for wait in [2, 4, 8] as [Int64] {
      while !hub.feed(.deadline).contains("watch ← 1: start applied 1") {
        hub.commitsAll()
        hub.now = hub.core.deadline!
      }
      #expect((wait * 750...wait * 1250).contains((hub.now - before).nanoseconds / 1_000_000))
      before = hub.now
    }
    hub.commitsAll()
    #expect(hub.hello("watch", nonce: 2).contains("watch ← 1: start applied 1"))
    _ = hub.says("watch", .delivery(.acknowledge(.verdicts, through: 1)))
    hub.passes(.seconds(1))
    #expect(!hub.hello("watch", nonce: 3).contains { $0.contains("applied") })
    #expect(hub.durable.map(NodeLines.line).contains("acknowledged verdicts 1"))
  }

  @Test("A hub ignores frames after a gap in a stream, and the sender goes back")
  func gap() {
    var hub = HubStage.with("watch")
    let commands = [hub.command(.start, by: "watch"), hub.command(.pause, by: "watch")]
    #expect(hub.sends("watch", commands[1], sequence: 2) == ["note"])
    #expect(hub.sends("watch", commands[0], sequence: 1) == ["commit: commands to 1, accept start window"])
    #expect(hub.sends("watch", commands[1], sequence: 2) == [])
    #expect(hub.sends("watch", commands[1], sequence: .max) == ["note"])
    #expect(hub.commits().last == "commit: commands to 2, accept pause window")
  }

  @Test("A command that arrives by two streams counts once, and both senders get its verdict")
  func sameCommandByAnotherStream() {
    var hub = HubStage.with("watch", "widget")
    let start = hub.command(.start, by: "watch")
    _ = hub.sends("watch", start)
    hub.commitsAll()
    #expect(hub.sends("widget", start) == ["commit: commands to 1, claim"])
    #expect(hub.commits() == ["widget ← commands to 1"])
    #expect(
      hub.passes(.milliseconds(500)) == [
        "commit: start at 0.0s, window, judge start applied 1, clock", "show 1.1.2 running",
        "publish 1.1.2 running", "publish watch: start applied 1", "watch ← 1: start applied 1",
        "widget ← 1: start applied 1",
      ])
    // Once it is judged, the verdict is owed to a sender that sends it again.
    #expect(hub.sends("watch", start, sequence: 2) == ["commit: commands to 2"])
    #expect(hub.commits() == ["watch ← 2: start applied 1"])
    #expect(hub.durable.filter { if case .judge = $0 { true } else { false } }.count == 1)
  }

  @Test("With the window off acceptance, verdict and snapshot share one commit")
  func windowOff() {
    var hub = HubStage.with("watch", debounce: .zero)
    #expect(
      hub.presses("watch", .start) == [
        "commit: commands to 1, start at 0.0s, judge start applied 1, clock"
      ])
    #expect(
      hub.commits() == [
        "publish watch: start", "publish watch: start pending", "show 1.1.2 running", "publish 1.1.2 running",
        "publish watch: start applied 1", "watch ← 1: start applied 1",
      ])
  }

  @Test("While one commit is in flight the next batch gathers, in order")
  func groupCommit() {
    var hub = HubStage.with("watch", "widget")
    #expect(hub.presses("watch", .start) == ["commit: commands to 1, accept start window"])
    #expect(hub.presses("widget", .start) == [])
    #expect(hub.presses("watch", .lap) == [])
    #expect(
      hub.commits() == [
        "publish watch: start", "publish watch: start pending", "watch ← commands to 1",
        "commit: commands to 1, accept start window, commands to 2, accept lap window",
      ])
    #expect(
      hub.commits() == [
        "publish widget: start", "publish widget: start pending", "publish watch: lap", "publish watch: lap pending",
        "watch ← commands to 2", "widget ← commands to 1",
      ])
  }

  @Test("A commit that failed is tried again every second, and nothing leaves before it is durable")
  func commitFailed() {
    var hub = HubStage.with("watch")
    _ = hub.presses("watch", .start)
    let id = hub.inFlight!.id
    #expect(hub.feed(.commitFailed(id)) == [])
    #expect(hub.presses("watch", .lap) == [])
    hub.now = .zero + .milliseconds(500)
    #expect(hub.feed(.deadline) == [])
    hub.now = .zero + .seconds(1)
    #expect(hub.core.deadline == hub.now)
    #expect(hub.feed(.deadline) == ["commit: commands to 1, accept start window"])
    #expect(hub.feed(.commitFailed(id)) == [])
    hub.now = .zero + .seconds(2)
    #expect(hub.feed(.deadline) == ["commit: commands to 1, accept start window"])
    #expect(
      hub.commitsAll().filter { $0.hasPrefix("watch ←") || $0.hasPrefix("show") } == [
        "watch ← commands to 1", "show 1.1.2 running", "watch ← 1: start applied 1", "watch ← 2: lap applied 1",
      ])
  }

  @Test("A completion of a commit that is not in flight changes nothing")
  func strayCompletion() {
    var hub = HubStage.with("watch")
    _ = hub.presses("watch", .start)
    #expect(hub.feed(.committed(99)) == [])
    #expect(hub.feed(.commitFailed(99)) == [])
    #expect(hub.commits().contains("watch ← commands to 1"))
  }

  @Test("A plain request is answered once, with the verdict")
  func request() {
    var hub = HubStage.opened()
    #expect(hub.requests("shell", .start, id: 5) == ["commit: accept start window"])
    // The same request again, because the first requester gave up.
    #expect(hub.requests("again", .start, id: 5) == [])
    #expect(hub.commits() == ["publish shell: start", "publish shell: start pending"])
    hub.now = .zero + .milliseconds(500)
    #expect(hub.feed(.deadline) == ["commit: start at 0.0s, window, judge start applied 1, clock"])
    // Between the judgement and its commit the hub tells nobody.
    #expect(hub.requests("later", .start, id: 5) == [])
    #expect(
      hub.commits() == [
        "show 1.1.2 running", "publish 1.1.2 running", "shell ← start applied 1", "again ← start applied 1",
        "publish shell: start applied 1", "commit: ",
      ])
    #expect(hub.commits() == ["later ← start applied 1"])
    #expect(hub.requests("latest", .start, id: 5) == ["commit: "])
    #expect(hub.commits() == ["latest ← start applied 1"])
  }

  @Test("A press on the hub's own button takes the same path")
  func ownPress() {
    var hub = HubStage.opened()
    let start = hub.command(.start, by: "phone")
    #expect(hub.feed(.press(start)) == ["commit: accept start window"])
    #expect(hub.core.predicted == .running)
    #expect(hub.commits() == ["publish phone: start", "own start pending", "publish phone: start pending"])
    #expect(
      hub.passes(.milliseconds(500)).filter { !$0.hasPrefix("publish") } == [
        "commit: start at 0.0s, window, judge start applied 1, clock", "show 1.1.2 running",
        "own start applied 1",
      ])
  }

  @Test("A press on the hub that is given twice with one id counts once")
  func ownPressTwice() {
    var hub = HubStage.opened()
    let start = hub.command(.start, by: "phone")
    _ = hub.feed(.press(start))
    #expect(hub.feed(.press(start)) == [])
    hub.commitsAll()
    #expect(hub.passes(.milliseconds(500)).filter { $0 == "own start applied 1" }.count == 1)
    #expect(hub.feed(.press(start)) == ["commit: "])
    #expect(hub.commits() == ["own start applied 1"])
  }

  @Test("On the hub a pause right after a start names the run that the start begins")
  func ownStartThenPause() {
    var hub = HubStage.with("watch", debounce: .zero)
    hub.startRun()
    _ = hub.presses("watch", .stop)
    hub.commitsAll()
    var fresh = HubStage.opened()
    for kind in [CommandKind.start, .stop] {
      _ = fresh.feed(.press(fresh.command(kind, by: "phone")))
      fresh.commitsAll()
      _ = fresh.passes(.milliseconds(500))
    }
    _ = fresh.feed(.press(Command(id: CommandID(high: 5, low: 1), kind: .start, source: .phone)))
    _ = fresh.feed(.press(Command(id: CommandID(high: 5, low: 2), kind: .pause, source: .phone)))
    fresh.commitsAll()
    #expect(fresh.core.predicted == .paused)
    #expect(
      fresh.passes(.milliseconds(500)).filter { $0.hasPrefix("own") } == ["own start applied 3", "own pause applied 4"])
  }

  @Test("Press time is arrival less age, and never in the future")
  func pressTime() {
    var hub = HubStage.with("watch", debounce: .zero)
    hub.now = .zero + .seconds(10)
    #expect(
      hub.presses("watch", .start, age: .milliseconds(300)).first?.contains("start at 9.7s") == true)
    hub.commitsAll()
    hub.now = .zero + .seconds(11)
    #expect(
      hub.presses("watch", .pause, age: .milliseconds(-300)).first?.contains("pause at 11.0s") == true)
  }

  @Test("Time spent in a socket's queue counts as age")
  func queueTime() {
    var hub = HubStage.with("watch", debounce: .zero)
    hub.now = .zero + .seconds(10)
    _ = hub.says("watch", .beat(1), sentAt: .zero + .seconds(10))
    hub.now = .zero + .seconds(12)
    let start = hub.command(.start, by: "watch")
    let frame = PeerMessage.command(CommandTransmission(command: start, sequence: 1, age: .zero))
    // Sent one second after the ping, received two seconds after it.
    #expect(hub.says("watch", frame, sentAt: .zero + .seconds(11)).first?.contains("start at 11.0s") == true)
  }

  @Test("Press times of one stream never go back")
  func nonDecreasing() {
    var hub = HubStage.with("watch", debounce: .zero)
    hub.now = .zero + .seconds(20)
    #expect(hub.presses("watch", .start, age: .milliseconds(100)).first?.contains("start at 19.9s") == true)
    hub.commitsAll()
    #expect(hub.presses("watch", .pause, age: .milliseconds(400)).first?.contains("pause at 19.9s") == true)
  }

  @Test("No number that a peer sends stops the hub")
  func oddNumbers() {
    let edges: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    for debounce in [BusDuration.zero, .milliseconds(500)] {
      for age in edges {
        for sentAt in edges {
          var hub = HubStage.with("watch", debounce: debounce, speed: 60)
          hub.now = .zero + .seconds(5)
          for (sequence, kind) in [CommandKind.start, .pause, .lap, .stop].enumerated() {
            var command = hub.command(kind, by: "watch", runID: RunID(high: 9, low: 9))
            if kind == .pause { command.runOffset = BusDuration(nanoseconds: age) }
            let transmission = CommandTransmission(
              command: command, sequence: UInt64(sequence) + 1, age: BusDuration(nanoseconds: age),
              stopFollows: kind == .start)
            _ = hub.says("watch", .command(transmission), sentAt: BusTime(nanoseconds: sentAt))
            let moments: [SampleMoment] = [
              .age(BusDuration(nanoseconds: age)), .runOffset(BusDuration(nanoseconds: sentAt)),
            ]
            for (offset, moment) in moments.enumerated() {
              let sample = SampleTransmission(
                sequence: UInt64(sequence * 2 + offset) + 1, moment: moment, value: .heartRate(bpm: 1e15),
                runID: nil)
              _ = hub.says("watch", .samples([sample]), sentAt: BusTime(nanoseconds: sentAt))
            }
          }
          hub.commitsAll()
          hub.passes(.seconds(30))
          #expect(hub.durable.filter { if case .judge = $0 { true } else { false } }.count == 4)
        }
      }
    }
  }

  @Test("The highest sequence number stops nothing")
  func lastSequence() {
    var hub = HubStage.with("watch")
    #expect(hub.presses("watch", .start).count == 1)
    hub.commitsAll()
    #expect(hub.sends("watch", hub.command(.lap, by: "watch"), sequence: .max) == ["note"])
    #expect(hub.sends("watch", hub.command(.lap, by: "watch"), sequence: 0) == ["watch ← commands to 1"])
  }
}
