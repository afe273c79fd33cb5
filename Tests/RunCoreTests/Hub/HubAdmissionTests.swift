import RunCore
import Testing

/// docs/protocol.md, "Busy" and "Whole runs": how many slots of the command queue one sender may use.
@Suite("The queue of commands that wait to be judged")
struct HubAdmissionTests {
  /// The window stays open while presses keep coming, so nothing is judged meanwhile.
  private func hub(_ devices: String...) -> HubStage {
    var hub = HubStage.opened(debounce: .seconds(3600))
    for device in devices { hub.meets(device) }
    hub.isTerse = true
    return hub
  }

  /// Sends until a command is refused; returns how many were accepted.
  private func fill(_ hub: inout HubStage, from device: String, atMost count: Int = 2000) -> Int {
    for taken in 0..<count {
      let isRefused = hub.presses(device, .lap).contains("\(device) ← refused busy")
      hub.commitsAll()
      if isRefused { return taken }
    }
    return count
  }

  // Once broken: One sender's burst filled the queue for everybody.
  @Test("has 256 slots for one sender, and other senders are not affected")
  func share() {
    var hub = hub("watch", "widget")
    #expect(fill(&hub, from: "watch") == 256)
    #expect(hub.presses("widget", .lap).contains { $0.contains("accept lap") })
    hub.commitsAll()
    hub.isTerse = false
    #expect(hub.ownLap().contains { $0.contains("accept lap") })
  }

  @Test("reserves slots for the hub's own buttons and for each device, however many others flood it")
  func keptPlaces() {
    let floods = (1...4).map { "flood-\($0)" }
    var hub = hub()
    for device in floods { hub.meets(device) }
    // 256 for each of the first two; for the others the rest of the 704 unreserved slots and eight reserved ones
    // each.
    var taken = 0
    for device in floods { taken += fill(&hub, from: device) }
    #expect(taken == 1024 - 64 - 256 + 4 * 8)
    #expect(hub.requests("shell", .stop, id: 5).contains("shell ← refused busy"))
    hub.meets("watch")
    #expect(fill(&hub, from: "watch") == 8)
    for _ in 0..<64 {
      #expect(!hub.ownLap().contains { $0.contains("busy") })
      hub.commitsAll()
    }
    #expect(hub.ownLap().contains { $0.contains("busy") })
  }

  @Test("acknowledges a command that is sent again, whether the queue is full or not")
  func again() {
    var hub = hub("watch")
    let first = hub.command(.lap, by: "watch")
    _ = hub.sends("watch", first)
    hub.commitsAll()
    #expect(fill(&hub, from: "watch") == 255)
    #expect(hub.sends("watch", first, sequence: 1) == ["watch ← commands to 256"])
  }

  @Test("has room again after judging, and a refused command's sequence number is still unused")
  func roomAgain() {
    var hub = HubStage.opened(debounce: .milliseconds(500))
    hub.meets("watch")
    hub.isTerse = true
    #expect(fill(&hub, from: "watch") == 256)
    hub.passes(.seconds(3))
    hub.commitsAll()
    let next = hub.command(.lap, by: "watch")
    #expect(hub.sends("watch", next, sequence: 257).contains { $0.contains("accept lap") })
  }

  @Test("notes a refusal once, and again only after a minute without any")
  func notedOnce() {
    var hub = hub("watch")
    _ = fill(&hub, from: "watch")
    func notes(_ hub: inout HubStage) -> Bool { hub.lap("watch", at: 257).contains("note") }
    #expect(!notes(&hub))
    hub.now = hub.now + .seconds(50)
    #expect(!notes(&hub))
    hub.now = hub.now + .seconds(50)
    #expect(!notes(&hub))
    hub.now = hub.now + .seconds(61)
    #expect(notes(&hub))
  }

  // MARK: Runs without a stop

  /// An old start that says that its stop follows, and laps of its run, without the stop.
  private func sendUnfinished(_ hub: inout HubStage, from device: String, _ count: Int) {
    let run = RunID(high: 7, low: HubStage.store(device).low)
    for number in 1...UInt64(count) {
      let command = hub.command(number == 1 ? .start : .lap, by: device, runID: run)
      let transmission = CommandTransmission(command: command, sequence: number, age: .seconds(60), stopFollows: true)
      _ = hub.says(device, .command(transmission))
      hub.commitsAll()
    }
  }

  // Once broken: Unfinished whole runs of two or three senders filled the queue of commands: the hub refused every
  // command, its own buttons included, also after these senders had left and after a restart, and reported nothing.
  @Test("is not filled by runs whose stop never comes: they delay only their own sender")
  func unfinishedRuns() {
    var hub = HubStage.opened()
    hub.now = .zero + .seconds(600)
    hub.isTerse = true
    for device in ["one", "two", "three"] as [String] {
      hub.meets(device)
      sendUnfinished(&hub, from: device, 256)
    }
    hub.meets("watch")
    #expect(hub.presses("watch", .start).contains { $0.contains("accept start") })
    #expect(hub.core.holdings.allSatisfy { $0.count <= $0.max })
    // The same holds after a restart, when all senders are gone.
    hub.commitsAll()
    var disk = HubDisk()
    disk.commit(hub.durable)
    #expect(disk.history.accepted.count { $0.class == .held } == 512)
    var next = HubStage.opened(history: disk.history, now: hub.now)
    next.meets("widget")
    #expect(next.lap("widget", at: 1).contains { $0.contains("accept lap") })
    #expect((next.ownLap() + next.commitsAll()).contains { $0.contains("publish phone: lap pending") })
    #expect(next.core.holdings.allSatisfy { $0.count <= $0.max })
  }
}

extension HubStage {
  /// Says hello for a device.
  fileprivate mutating func meets(_ device: String, nonce: UInt64 = 1) {
    _ = hello(device, nonce: nonce)
    commitsAll()
  }

  /// Sends a lap of a device with a sequence number of its stream.
  fileprivate mutating func lap(_ device: String, at sequence: UInt64) -> [String] {
    let command = command(.lap, by: device, id: 1_000_000 + sequence)
    return sends(device, command, sequence: sequence)
  }

  /// Presses lap on the hub's own buttons.
  fileprivate mutating func ownLap() -> [String] {
    let command = command(.lap, by: "phone", id: 2_000_000 + UInt64(durable.count))
    return feed(.press(command))
  }
}
