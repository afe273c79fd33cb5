import RunCore
import Testing

@Suite("Commands that a peer brings from the spool")
struct PeerSpoolTests {
  private static let phone = DeviceID("phone")
  private let press = ForwardedCommand(
    command: Command(id: CommandID(high: 4, low: 7), kind: .pause, source: .shell), deviceID: DeviceID("shell"),
    since: .zero, isUncertain: false)

  /// A peer whose commits are durable at once.
  private struct Place {
    private var core: PeerCore
    private(set) var sent: [PeerMessage] = []
    private(set) var answers: [InquiryAnswer] = []
    private(set) var told: [Receipt] = []
    private(set) var settled: [CommandID] = []
    private var nonce: UInt64 = 0

    init() {
      core = PeerCore(
        settings: PeerCore.Settings(
          deviceID: DeviceID("watch"), role: .watch, nodeID: NodeID(high: 3, low: 1),
          storeID: StoreID(high: 2, low: 1),
          topics: [], seed: 1),
        bootID: "boot")
      feed(.started)
    }

    mutating func feed(_ event: PeerCore.Event) {
      var actions = core.receive(event, at: .zero)
      while !actions.isEmpty {
        let action = actions.removeFirst()
        if case .commit(let id, _) = action { actions += core.receive(.committed(id), at: .zero) }
        if case .send(let frame) = action {
          if case .hello(let hello) = frame.message { nonce = hello.nonce }
          sent.append(frame.message)
        }
        if case .answer(let answer, _) = action { answers.append(answer) }
        if case .receipt(let receipt) = action { told.append(receipt) }
        if case .spooledCommandJudged(let id) = action { settled.append(id) }
      }
    }

    mutating func meets() {
      feed(.linkUp)
      let state = StateMessage(snapshot: .none, age: .zero)
      hears(
        .welcome(
          Welcome(
            nonce: nonce, nodeID: NodeID(high: 3, low: 2), storeID: StoreID(high: 2, low: 2),
            deviceID: PeerSpoolTests.phone,
            eventsEndpoint: "", speed: .realTime, debounce: .zero, received: [:], state: state)))
    }

    mutating func hears(_ message: HubMessage) { feed(.frame(HubFrame(session: 1, message: message))) }

    var requests: Int { sent.count { if case .request = $0 { true } else { false } } }
  }

  private var id: MessageID { MessageID(high: press.command.id.high, low: press.command.id.low) }

  @Test("A peer drops a cancelled command that it has not sent, but not one that it may have sent")
  func cancelled() {
    var peer = Place()
    peer.feed(.spooled([press]))
    peer.feed(.inquire(.cancel(id), 1))
    #expect(peer.answers == [.done(nil)])
    peer.meets()
    #expect(peer.requests == 0)

    var other = Place()
    other.feed(.spooled([press]))
    other.meets()
    #expect(other.requests == 1)
    other.feed(.inquire(.cancel(id), 1))
    #expect(other.answers == [.failed(InquiryFailure.notCancellable)])
  }

  @Test("A peer forwards a command until its verdict is known, with its press time by the machine's clock")
  func forwarded() throws {
    var peer = Place()
    peer.feed(.spooled([press]))
    peer.meets()
    let sent = peer.sent.last { if case .request = $0 { true } else { false } }
    guard case .request(let request)? = sent, case .command(let forwarded) = request.subject else {
      Issue.record("not forwarded")
      return
    }
    #expect(forwarded.pressed == MachineTime(bootID: "boot", reading: .zero))
    peer.hears(.receipt(Receipt(commandID: press.command.id, kind: .pause, source: .shell, stage: .pending)))
    #expect(peer.settled == [])
    let verdict = Verdict(
      commandID: press.command.id, kind: .pause, source: .shell, outcome: .applied, runID: nil, term: 1, revision: 1,
      effectiveAt: nil)
    peer.hears(
      .receipt(Receipt(commandID: press.command.id, kind: .pause, source: .shell, stage: .verdict(verdict))))
    #expect(peer.settled == [press.command.id])
    // It is no press of this peer's own app.
    #expect(peer.told.isEmpty)
  }
}
