import Foundation
import RunBus
import TestSupport
import Testing

@Suite("What an app asks its node", .timeLimit(.minutes(2)))
struct NodeQuestionTests {
  private struct Pair {
    let bus = InProcessBus()
    let phone: Hub
    let watch: Peer

    init() throws {
      let loop = try Loop()
      phone = Hub(
        configuration: HubConfiguration(deviceID: DeviceID("phone")), listeners: [bus.listener], store: NodeStore(),
        loop: loop)
      watch = Peer(
        configuration: PeerConfiguration(deviceID: DeviceID("watch"), role: .watch), connector: bus.connector,
        store: NodeStore(), loop: loop)
    }
  }

  @Test("A cancelled send throws CancellationError, and its command stays valid")
  func cancelledSend() async throws {
    let pair = try Pair()
    try await withRunning([pair.watch]) {
      try await within("the peer") { try await pair.watch.ready() }
      let start = Command(.start)
      let own = await pair.watch.ownReceipts()
      let sending = Task { try await pair.watch.send(start) }
      _ = try await own.first("the queued command") { $0.commandID == start.id }
      sending.cancel()
      await #expect(throws: CancellationError.self) { try await sending.value }
      // The hub comes later: the command is delivered and applied.
      try await withRunning([pair.phone]) {
        _ = try await own.first("the verdict") {
          if case .verdict(let verdict) = $0.stage { verdict.outcome == .applied } else { false }
        }
        #expect(await pair.phone.authoritative.phase == .running)
      }
    }
  }

  @Test("A task that is cancelled before it sends gives no command")
  func cancelledBefore() async throws {
    let pair = try Pair()
    try await withRunning([pair.phone]) {
      try await within("the hub") { try await pair.phone.ready() }
      let gate = AsyncStream.makeStream(of: Void.self)
      let sending = Task {
        for await _ in gate.stream { break }
        return try await pair.phone.send(Command(.start))
      }
      sending.cancel()
      gate.continuation.finish()
      await #expect(throws: CancellationError.self) { try await sending.value }
      let verdict = try await within("a start") { try await pair.phone.send(Command(.start)) }
      #expect(verdict.outcome == .applied && verdict.revision == 1)
    }
  }

  @Test("A node is ready once it takes commands, and never after its end")
  func ready() async throws {
    let pair = try Pair()
    let early = Task { try await pair.phone.ready() }
    let cancelled = Task { try await pair.watch.ready() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try await withRunning([pair.phone, pair.watch]) {
      try await within("the hub") { try await early.value }
      try await within("the hub, again") { try await pair.phone.ready() }
      #expect(await pair.phone.controlEndpoints.count == 1)
      try await within("the peer") { try await pair.watch.ready() }
    }
    let error = await #expect(throws: RunBusError.self) { try await pair.phone.ready() }
    #expect(error?.code == .closed)
  }

  @Test("The hub's devices and the run's numbers are the same when the hub and when a peer is asked")
  func peersAndReport() async throws {
    let pair = try Pair()
    try await withRunning([pair.phone, pair.watch]) {
      #expect(try await within("no report") { try await pair.watch.report() } == nil)
      _ = try await within("start") { try await pair.watch.send(Command(.start)) }
      for node in [pair.phone, pair.watch] as [any Node] {
        #expect(try await within("the devices") { try await node.peers() }.map(\.deviceID.rawValue) == ["watch"])
        #expect(try await within("the report") { try await node.report() }?.metrics.distanceMeters == nil)
      }
    }
  }

  @Test("What was never sent can be cancelled, and an unknown id is not found")
  func cancel() async throws {
    let pair = try Pair()
    try await withRunning([pair.watch]) {
      try await within("the peer") { try await pair.watch.ready() }
      let (start, note) = (Command(.start), AppMessage(name: "note", body: [1]))
      let sending = Task { try await pair.watch.send(start) }
      try await within("the note") { try await pair.watch.messages.post(note, by: .queued) }
      let waiting = try await within("the outbox") {
        while true {
          let reports = try await pair.watch.outbox.entries()
          if reports.count == 2 { return reports }
          await Task.yield()
        }
      }
      #expect(Set(waiting.map(\.kind)) == [.command, .message])
      try await pair.watch.outbox.cancel(start.id)
      let verdict = try await within("the verdict") { try await sending.value }
      #expect(verdict.outcome == .rejected(.cancelled))
      try await pair.watch.outbox.cancel(note.id)
      #expect(try await pair.watch.outbox.entries().isEmpty)
      for id in [note.id, MessageID.random()] {
        let error = await #expect(throws: RunBusError.self) { try await pair.watch.outbox.cancel(id) }
        #expect(error?.code == .notFound)
      }
      let error = await #expect(throws: RunBusError.self) { try await pair.watch.outbox.retry(.random()) }
      #expect(error?.code == .notFound)
      #expect(try await pair.watch.outbox.quarantine().isEmpty)
    }
    let error = await #expect(throws: RunBusError.self) { try await pair.watch.outbox.entries() }
    #expect(error?.code == .closed)
  }

  @Test("Everything waits for a node that has not begun, and throws after its end")
  func beginAndEnd() async throws {
    let pair = try Pair()
    let (phone, watch) = (pair.phone, pair.watch)
    let asks: [(String, @Sendable () async throws -> Void)] = [
      ("the outbox", { _ = try await watch.outbox.entries() }), ("the records", { _ = try await phone.records.list() }),
      ("one record", { _ = try await phone.records.record(of: .random()) }),
      ("a reading", { try await phone.add(Sample(moment: .at(.zero), value: .heartRate(bpm: 60))) }),
      ("the peers", { _ = try await watch.peers() }), ("the report", { _ = try await watch.report() }),
      ("a message", { try await watch.messages.post(AppMessage(name: "note", body: [1]), by: .queued) }),
      ("a command", { _ = try await watch.send(Command(.start)) }),
      ("a command with its receipt", { _ = try await phone.sendForReceipt(Command(.pause, .phone)) }),
      ("the devices", { _ = try await phone.devices.paired() }),
      ("a recovery", { await #expect(throws: RunBusError.self) { try await phone.recover(.resume) } }),
    ]
    let ended = EventLog<String>()
    let tasks = asks.map { ask in
      Task {
        defer { ended.append(ask.0) }
        try await ask.1()
      }
    }
    // A call that does not wait ends before its node runs.
    for _ in 0..<1000 { await Task.yield() }
    #expect(ended.events == [])
    try await withRunning([phone, watch]) {
      for (ask, task) in zip(asks, tasks) { try await within("\(ask.0)") { try await task.value } }
    }
    for ask in asks.dropLast() {
      let error = await #expect(throws: RunBusError.self, "\(ask.0)") { try await ask.1() }
      #expect(error?.code == .closed, "\(ask.0)")
    }
  }

  @Test("What is under way when a node ends with an error, and what comes later, throws that error")
  func endsWithError() async throws {
    let scratch = try ScratchDirectory()
    let watch = Peer(
      configuration: PeerConfiguration(deviceID: DeviceID("watch"), role: .watch), connector: InProcessBus().connector,
      store: try NodeStore(directory: scratch.file("store")), loop: try Loop())
    let running = Task { try await watch.run() }
    try await within("the watch") { try await watch.ready() }
    // There is no hub that could answer.
    let asking = Task { try await watch.peers() }
    try FileManager.default.removeItem(atPath: scratch.file("store"))
    await #expect(throws: RunBusError.self) { try await within("the end") { try await running.value } }
    for what in ["under way", "later"] {
      let error = await #expect(throws: RunBusError.self, "\(what)") {
        _ = what == "later" ? try await watch.peers() : try await within("an answer") { try await asking.value }
      }
      #expect(error?.code == .store, "\(what)")
    }
  }

  @Test("A receipt of a command has its verdict and the age of its effect")
  func receipt() async throws {
    let pair = try Pair()
    try await withRunning([pair.phone, pair.watch]) {
      for node in [pair.watch, pair.phone] as [any Node] {
        let command = Command(.lap, .watch)
        let receipt = try await within("the receipt") { try await node.sendForReceipt(command) }
        #expect(receipt.commandID == command.id && receipt.kind == .lap)
        guard case .verdict(let verdict) = receipt.stage else { return #expect(Bool(false), "no verdict") }
        #expect(verdict.outcome == .rejected(.illegal(.idle)) && receipt.effectiveAge == nil)
      }
      let started = try await within("the start") { try await pair.watch.sendForReceipt(Command(.start)) }
      #expect((started.effectiveAge ?? .seconds(-1)) >= .zero)
    }
  }

  @Test("An app on the hub edits and removes a record and keeps one that was made elsewhere")
  func records() async throws {
    let pair = try Pair()
    try await withRunning([pair.phone]) {
      let news = pair.phone.records.news()
      for kind in [CommandKind.start, .stop] {
        _ = try await within("\(kind)") { try await pair.phone.send(Command(kind, .phone)) }
      }
      _ = try await news.first("the record") { if case .kept = $0 { true } else { false } }
      let run = try #require(try await pair.phone.records.list().first).runID
      try await pair.phone.records.edit(run, title: "by the river")
      #expect(try await pair.phone.records.list().map(\.title) == ["by the river"])
      let record = try #require(try await pair.phone.records.record(of: run))
      #expect(try await pair.phone.records.add(record) == false)
      try await pair.phone.records.remove(run)
      #expect(try await pair.phone.records.record(of: run) == nil)
      var other = record
      other.summary.runID = .random()
      #expect(try await pair.phone.records.add(other))
      #expect(try await pair.phone.records.list().map(\.runID) == [other.runID])
      let error = await #expect(throws: RunBusError.self) { try await pair.phone.records.remove(run) }
      #expect(error?.code == .notFound)
    }
  }

  @Test("A decision about a recovery that nobody asks for is refused, and so is a message to an unknown device")
  func refusals() async throws {
    let pair = try Pair()
    try await withRunning([pair.phone]) {
      try await within("the hub") { try await pair.phone.ready() }
      let recovery = await #expect(throws: RunBusError.self) { try await pair.phone.recover(.resume) }
      #expect(recovery?.code == .notRecovering)
      let post = await #expect(throws: RunBusError.self) {
        try await pair.phone.messages.post(AppMessage(name: "note", body: []), by: .queued, to: DeviceID("nobody"))
      }
      #expect(post?.code == .unknownDevice)
    }
  }
}
