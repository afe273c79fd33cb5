import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("Shells take part in a node's messages", .timeLimit(.minutes(2)))
struct ShellMessagesTests {
  private struct Nodes {
    let hub: Hub
    let watch: Peer

    init() throws {
      let nodes = try InProcessNodes()
      (hub, watch) = (nodes.hub, nodes.peer())
    }
    func run(_ body: @escaping @Sendable (Hub, Peer) async throws -> Void) async throws {
      let (hub, watch) = (hub, watch)
      try await withRunning([hub, watch]) {
        try await watch.isConnected()
        try await within("the test") { try await body(hub, watch) }
      }
    }
  }
  private static func message(_ name: String, _ body: String = "") -> AppMessage {
    AppMessage(id: .random(), name: name, body: Array(body.utf8))
  }
  /// Registers a listener.
  private static func listen(_ topic: ListenerTopic, at node: any DrivenNode) async throws -> ListenerID {
    let id = ListenerID.random()
    #expect(try await node.ask(.take(id, topic, nil)) == nil)
    return id
  }
  /// A listener's next message.
  private static func next(
    _ id: ListenerID, _ topic: ListenerTopic, _ report: ListenerReport? = nil, at node: any DrivenNode
  ) async throws -> HandedMessage {
    var report = report
    while true {
      if let handed = try await node.ask(.take(id, topic, report)) { return handed }
      report = nil
    }
  }
  private static func failure(_ body: () async throws -> Void) async -> InquiryFailure.Code? {
    await #expect(throws: RunBusError.self) { try await body() }?.failure?.code
  }

  @Test("A listener gets messages in order, one that it fails for comes again, and its sender hears of the end")
  func listening() async throws {
    try await Nodes().run { hub, watch in
      let topic = ListenerTopic.messages("note")
      let id = try await Self.listen(topic, at: hub)
      let (first, second) = (Self.message("note", "1"), Self.message("note", "2"))
      let receipts = watch.messages.receipts(for: second.id)
      for message in [first, second] { try await watch.messages.post(message, by: .queued) }
      let one = try await Self.next(id, topic, at: hub)
      #expect(one.received == ReceivedMessage(message: first, from: "watch", deliveryClass: .queued))
      let again = try await Self.next(id, topic, ListenerReport(one.number, .failed("full")), at: hub)
      #expect(again.received == one.received && again.number > one.number)
      let other = try await Self.next(id, topic, ListenerReport(again.number, .processed), at: hub)
      #expect(other.received.message == second)
      _ = try await hub.ask(.leave(id, ListenerReport(other.number, .processed)))
      _ = try await receipts.first("processed") { $0.stage == .processed }
    }
  }

  @Test("Whoever leaves without a report gives its message back, to the next listener or to the app")
  func givingBack() async throws {
    try await Nodes().run { hub, watch in
      let topic = ListenerTopic.messages(nil)
      let id = try await Self.listen(topic, at: hub)
      let message = Self.message("note")
      let receipts = watch.messages.receipts(for: message.id)
      try await watch.messages.post(message, by: .queued)
      #expect(try await Self.next(id, topic, at: hub).received.message == message)
      // A second listener of the same messages has to wait.
      let second = ListenerID.random()
      #expect(await Self.failure { _ = try await hub.ask(.take(second, topic, nil)) } == .alreadyHandled)
      _ = try await hub.ask(.leave(id, nil))
      var isListening = false
      while !isListening {
        do {
          _ = try await hub.ask(.take(second, topic, nil))
          isListening = true
        } catch let error as RunBusError where error.code == .alreadyHandled {}
      }
      let again = try await Self.next(second, topic, at: hub)
      #expect(again.received.message == message)
      _ = try await hub.ask(.leave(second, ListenerReport(again.number, .processed)))
      _ = try await receipts.first("processed") { $0.stage == .processed }
    }
  }

  @Test("A listener of all names comes before the app's handler, and one of a name beside the app's reader of it not")
  func beforeTheApp() async throws {
    try await Nodes().run { hub, watch in
      let taken = EventLog<String>()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await hub.messages.handle { taken.append($0.message.name) } }
        let photos = try hub.messages.named("photo")
        #expect(
          await Self.failure { _ = try await hub.ask(.take(.random(), .messages("photo"), nil)) } == .alreadyHandled)
        let topic = ListenerTopic.messages(nil)
        let id = try await Self.listen(topic, at: hub)
        try await watch.messages.post(Self.message("note"), by: .queued)
        let note = try await Self.next(id, topic, at: hub)
        #expect(note.received.message.name == "note" && taken.events.isEmpty)
        _ = try await hub.ask(.leave(id, ListenerReport(note.number, .processed)))
        try await watch.messages.post(Self.message("late"), by: .queued)
        try await taken.wait(for: "the app's message") { $0 == ["late"] ? true : nil }
        withExtendedLifetime(photos) {}
        group.cancelAll()
      }
    }
  }

  @Test("There is room for 16 listeners, and who comes later is told so")
  func bound() async throws {
    try await Nodes().run { hub, _ in
      // At once: one that asks for nothing for six seconds is gone.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<ListenerTable.listenersMax {
          group.addTask { _ = try await Self.listen(.messages("n\(number)"), at: hub) }
        }
        try await group.waitForAll()
      }
      #expect(await Self.failure { _ = try await hub.ask(.take(.random(), .messages("more"), nil)) } == .full)
      let unknown = ListenerReport(1, .processed)
      #expect(await Self.failure { _ = try await hub.ask(.take(.random(), .messages("n"), unknown)) } == .tooLate)
    }
  }

  @Test("A post with a patience tells the last stage, or how far it has come")
  func posting() async throws {
    try await Nodes().run { hub, watch in
      func send(_ name: String, _ deliveryClass: DeliveryClass, _ patience: BusDuration?) async throws -> DeliveryStage
      {
        try await watch.ask(.send(Self.message(name), by: deliveryClass, to: nil, patience: patience))
      }
      // Nobody reads messages at the hub.
      #expect(try await send("note", .queued, .milliseconds(50)) == .queued)
      #expect(try await send("blink", .live, nil) == .sent)
      #expect(try await send("km", .latest(key: "units"), .seconds(60)) == .processed)
      let values = try await hub.ask(.values(from: 0))
      #expect(values.total == 1 && values.values.map(\.key) == ["units"] && values.values[0].age != nil)
      #expect(try await hub.ask(.value(of: "units", from: "watch")).message.name == "km")
      let handling = Task { try await hub.messages.handle { _ in } }
      #expect(try await send("note", .queued, .seconds(60)) == .processed)
      handling.cancel()
      _ = await handling.result
      // From the hub it needs a receiver that the hub has met.
      let note = Self.message("note")
      #expect(
        await Self.failure { _ = try await hub.ask(.send(note, by: .live, to: nil, patience: nil)) } == .invalid)
      #expect(
        await Self.failure { _ = try await hub.ask(.send(note, by: .live, to: "nobody", patience: nil)) } == .notFound)
      await watch.disconnect()
      #expect(
        await Self.failure { _ = try await watch.ask(.send(note, by: .live, to: nil, patience: nil)) } == .unreachable)
    }
  }

  @Test("A shell's question is answered by a shell, refused, or not answered in time")
  func asking() async throws {
    try await Nodes().run { hub, watch in
      let topic = ListenerTopic.questions("battery")
      let id = try await Self.listen(topic, at: watch)
      async let answer = hub.ask(.ask(Self.message("battery", "?"), of: "watch", patience: .seconds(60)))
      let first = try await Self.next(id, topic, at: watch)
      #expect(first.received.message.body == Array("?".utf8) && first.received.from == "phone")
      async let next = Self.next(id, topic, ListenerReport(first.number, .answer([8, 0])), at: watch)
      #expect(try await answer == [8, 0])
      async let refusal = Self.failure {
        _ = try await hub.ask(.ask(Self.message("battery"), of: "watch", patience: .seconds(60)))
      }
      let second = try await next
      async let nothing = watch.ask(.take(id, topic, ListenerReport(second.number, .failed("it is empty"))))
      #expect(await refusal == .refused)
      #expect(try await nothing == nil)
      #expect(
        await Self.failure {
          _ = try await watch.ask(.ask(Self.message("nothing"), of: nil, patience: .milliseconds(50)))
        } == .timeout)
    }
  }

  @Test("What waits for shells ends with the node")
  func end() async throws {
    let nodes = try InProcessNodes()
    let hub = nodes.hub
    let asked = AsyncStream.makeStream(of: Void.self)
    let waiting = Task {
      for await _ in asked.stream { break }
      return await Self.failure {
        let id = try await Self.listen(.messages(nil), at: hub)
        while true { _ = try await hub.ask(.take(id, .messages(nil), nil)) }
      }
    }
    try await withRunning([hub]) {
      try await within("the hub") { try await hub.ready() }
      asked.continuation.yield()
      while await !hub.isListenedTo { await Task.yield() }
    }
    #expect(try await within("the end") { await waiting.value } != .tooLate)
  }
}

extension Hub {
  fileprivate var isListenedTo: Bool { driver.shells.table.deadline != nil }
}
