import RunBus
import TestSupport
import Testing

@Suite("Requests over a transport", .timeLimit(.minutes(2)))
struct RequesterTests {
  private static let shell = DeviceID("shell")

  /// A hub in this process and a requester, joined without sockets.
  private func withHub(
    _ body: @escaping @Sendable (Hub, Requester) async throws -> Void
  ) async throws {
    let bus = InProcessBus()
    let hub = Hub(
      configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: .zero), listeners: [bus.listener],
      store: NodeStore(), loop: try Loop())
    let requester = Requester(connector: bus.connector, loop: try Loop())
    try await withRunning([hub]) { try await body(hub, requester) }
  }

  @Test("A command reaches the hub and brings its stages back, with the phase of the run")
  func command() async throws {
    try await withHub { hub, requester in
      var steps: [Requester.Progress] = []
      let press = ForwardedCommand(Command(.start, .shell), on: Self.shell)
      for try await step in requester.send([press]) { steps.append(step) }
      #expect(steps.first == .reached)
      let receipts: [Receipt] = steps.compactMap { if case .receipt(let receipt) = $0 { receipt } else { nil } }
      #expect(receipts.first?.stage == .pending && receipts.count == 2)
      guard case .verdict(let verdict)? = receipts.last?.stage else {
        Issue.record("no verdict")
        return
      }
      #expect(verdict.outcome == .applied && receipts.last?.phase == .running)
      // It was no member of the bus.
      #expect(try await requester.ask(.peers) == [])
      #expect(await hub.authoritative.changedBy?.deviceID == Self.shell)
    }
  }

  @Test("Many commands keep their order, and each gets its verdict")
  func many() async throws {
    try await withHub { _, requester in
      let kinds: [CommandKind] = [.start] + (0..<200).map { $0.isMultiple(of: 2) ? .pause : .resume }
      let presses = kinds.map { ForwardedCommand(Command($0, .shell), on: Self.shell) }
      var judged: [CommandID] = []
      for try await case .receipt(let receipt) in requester.send(presses) {
        if case .verdict(let verdict) = receipt.stage {
          judged.append(receipt.commandID)
          #expect(verdict.outcome == .applied)
        }
      }
      #expect(judged == presses.map(\.command.id))
      #expect(try await requester.state().order.revision == UInt64(presses.count))
    }
  }

  @Test("A question that nobody answers ends with its task, and leaves nothing behind")
  func cancelled() async throws {
    let bus = InProcessBus()
    let requester = Requester(connector: bus.connector, loop: try Loop())
    let question = Task { try await requester.state() }
    question.cancel()
    await #expect(throws: CancellationError.self) { try await question.value }
    // A hub that comes later answers the next one.
    let hub = Hub(
      configuration: HubConfiguration(deviceID: DeviceID("phone")), listeners: [bus.listener], store: NodeStore(),
      loop: try Loop())
    try await withRunning([hub]) {
      let state = try await requester.state()
      #expect(state.phase == .idle)
    }
  }

  @Test("An address that is none ends the request")
  func badAddress() async throws {
    let requester = Requester(connector: ZeroMQConnector(control: "nowhere"), loop: try Loop())
    await #expect { try await requester.state() } throws: { ($0 as? RunBusError)?.code == .badInput }
  }
}
