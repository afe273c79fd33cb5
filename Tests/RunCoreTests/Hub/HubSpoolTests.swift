import RunCore
import Testing

@Suite("A press that reaches the hub in several ways at once")
struct HubSpoolTests {
  private static let shell = DeviceID("shell")

  /// A hub whose commits are durable at once.
  private struct Place {
    var core: HubCore
    var now = BusTime.zero
    private(set) var sent: [(frame: HubFrame, route: UInt8)] = []

    init() {
      let settings = HubCore.Settings(
        deviceID: DeviceID("phone"), nodeID: NodeID(high: 3, low: 1), storeID: StoreID(high: 2, low: 1),
        debounce: .milliseconds(500), clock: BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime))
      core = HubCore(settings: settings, now: .zero)
      feed(.started)
      feed(.opened(eventsEndpoint: "ipc://events"))
    }

    mutating func feed(_ event: HubCore.Event) {
      var actions = core.receive(event, at: now)
      while !actions.isEmpty {
        let action = actions.removeFirst()
        if case .commit(let id, _) = action { actions += core.receive(.committed(id), at: now) }
        if case .send(let frame, let connection) = action { sent.append((frame, connection.route[0])) }
      }
    }

    mutating func says(_ route: UInt8, _ message: PeerMessage) {
      feed(
        .frame(
          ConnectionID(route: [route], isRequest: false),
          PeerFrame(session: session(of: route), sentAt: now, message: message)))
    }

    mutating func hello(_ route: UInt8) {
      says(
        route,
        .hello(
          Hello(
            deviceID: DeviceID("device\(route)")!, role: .shell, nodeID: NodeID(high: 3, low: UInt64(route)),
            storeID: StoreID(high: 2, low: UInt64(route)), nonce: 1, termSeen: 0)))
    }

    /// The verdicts that a connection received within its session.
    func verdicts(_ route: UInt8) -> Int {
      let session = session(of: route)
      return sent.count {
        guard $0.route == route, $0.frame.session == session, case .receipt(let receipt) = $0.frame.message,
          case .verdict = receipt.stage
        else { return false }
        return true
      }
    }

    private func session(of route: UInt8) -> UInt64 {
      sent.last { $0.route == route && $0.frame.session > 0 }?.frame.session ?? 0
    }
  }

  private let start = Command(
    id: CommandID(high: 4, low: 7), kind: .start, source: .shell, runID: RunID(high: 9, low: 1))

  @Test("A shell and each forwarder get the verdict, though the hub found the press in the spool first")
  func spooledFirst() {
    var hub = Place()
    hub.feed(.spooled([ForwardedCommand(command: start, deviceID: Self.shell, since: .zero, isUncertain: false)]))
    hub.hello(12)
    hub.hello(13)
    let request = PeerMessage.request(
      Request(.command(CommandRequest(command: start, deviceID: Self.shell, age: .zero))))
    hub.says(11, request)
    for route: UInt8 in [12, 13, 12] { hub.says(route, request) }
    hub.now = .zero + .milliseconds(500)
    hub.feed(.deadline)
    for route: UInt8 in [11, 12, 13] { #expect(hub.verdicts(route) == 1, "\(route)") }
    // Already judged: the answer is sent within the session, because a peer accepts nothing else.
    hub.says(13, request)
    #expect(hub.verdicts(13) == 2)
  }
}
