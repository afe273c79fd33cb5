import ArgumentParser
import RunBus
import Synchronization

/// The sizes in bytes of one command's messages in this build of RunBus; the C side sends as many bytes.
struct Sizes: Sendable {
  var command = 0
  var verdict = 0
  var state = 0

  var words: [String] { ["--sizes", "\(command)", "\(verdict)", "\(state)"] }

  /// Plays a few commands within this process and measures the frames.
  static func measure() async throws -> Sizes {
    let place = try Place.make()
    defer { place.remove() }
    let listener = WatchingListener(inner: ZeroMQListener(control: place.control, events: place.events))
    let loop = try Loop()
    let hub = Hub(
      configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: .zero), listeners: [listener],
      store: NodeStore(), loop: loop)
    let sender = Peer(
      configuration: PeerConfiguration(deviceID: DeviceID("watch"), role: .watch),
      connector: ZeroMQConnector(control: place.control), store: NodeStore(), loop: loop)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await hub.run() }
      group.addTask { try await sender.run() }
      var presses = Presses()
      for _ in 0..<8 { _ = try await sender.send(presses.next()) }
      group.cancelAll()
      try await group.waitForAll()
    }
    return listener.passed.sizes
  }
}

/// Prints the sizes, for `Benchmarks/compare`.
struct SizesRole: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "sizes", shouldDisplay: false)

  func run() async throws {
    let sizes = try await Sizes.measure()
    print(sizes.command, sizes.verdict, sizes.state)
  }
}

/// The sizes of the last message of each kind. With window 0 the hub answers a command with its verdict, which also
/// says that it was accepted, and the state.
private final class Passed: Sendable {
  private let state = Mutex((sizes: Sizes(), answers: 0))
  var sizes: Sizes { state.withLock { $0.sizes } }

  func received(_ count: Int) {
    state.withLock { state in
      state.sizes.command = count
      state.answers = 0
    }
  }
  func answered(_ count: Int) {
    state.withLock { state in
      state.answers += 1
      if state.answers == 1 { state.sizes.verdict = count }
    }
  }
  func published(_ count: Int) { state.withLock { $0.sizes.state = count } }
}

private struct WatchingListener: HubListener {
  let inner: ZeroMQListener
  let passed = Passed()

  func listen(
    on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
  ) throws(RunBusError) -> any HubTransport {
    let passed = passed
    let transport = try inner.listen(on: loop) { event in
      // After its hello a peer sends nothing longer than a command; pings are short.
      if case .frame(_, let bytes, _) = event, bytes.count > 64 { passed.received(bytes.count) }
      deliver(event)
    }
    return WatchingTransport(transport, passed)
  }
}

private final class WatchingTransport: HubTransport {
  private let inner: any HubTransport
  private let passed: Passed

  init(_ inner: any HubTransport, _ passed: Passed) {
    self.inner = inner
    self.passed = passed
  }

  var controlEndpoint: String { inner.controlEndpoint }
  var eventsEndpoint: String { inner.eventsEndpoint }
  func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome {
    passed.answered(bytes.count)
    return inner.send(bytes, to: connection)
  }
  func publish(_ bytes: [UInt8], on topic: Topic) {
    if topic == .snapshots { passed.published(bytes.count) }
    inner.publish(bytes, on: topic)
  }
  func close() { inner.close() }
}
