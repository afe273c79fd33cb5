import RunCore
import Testing

@Suite("A backlog of presses goes out as fast as the hub accepts it")
struct PeerFlightTests {
  /// A peer whose commits are durable at once, with the commands that it sends.
  private struct Stage {
    var core = PeerCore(
      settings: PeerCore.Settings(
        deviceID: DeviceID("watch"), role: .watch, nodeID: NodeID(high: 3, low: 1), storeID: StoreID(high: 2, low: 1),
        topics: [.snapshots], seed: 1))
    var sent: [UInt64] = []
    var nonce: UInt64 = 0

    mutating func feed(_ event: PeerCore.Event) {
      var events = [event]
      while !events.isEmpty {
        for action in core.receive(events.removeFirst(), at: .zero + .seconds(10)) {
          switch action {
          case .commit(let id, _): events.append(.committed(id))
          case .send(let frame):
            if case .command(let transmission) = frame.message { sent.append(transmission.sequence) }
            if case .hello(let hello) = frame.message { nonce = hello.nonce }
          default: break
          }
        }
      }
    }

    mutating func meetTheHub() {
      feed(.started)
      feed(.linkUp)
      let state = StateMessage(
        snapshot: Snapshot(
          order: SnapshotOrder(term: 1, revision: 0, tick: 1), phase: .idle, runID: nil, changedBy: nil,
          startedAt: nil, capturedAt: .zero, metrics: RunMetrics()), age: .zero)
      let welcome = Welcome(
        nonce: nonce, nodeID: NodeID(high: 3, low: 2), storeID: StoreID(high: 2, low: 2),
        deviceID: DeviceID("phone"), eventsEndpoint: "events", speed: .realTime, debounce: .zero, received: [:],
        state: state)
      feed(.frame(HubFrame(session: 1, message: .welcome(welcome))))
    }
  }

  @Test("Verdicts acknowledge their commands, so that waiting commands go out")
  func verdictsMakeRoom() {
    var stage = Stage()
    stage.meetTheHub()
    let ids = (1...70).map { CommandID(high: 4, low: $0) }
    for id in ids { stage.feed(.press(Command(id: id, kind: .lap, source: .watch))) }
    #expect(stage.sent == Array(1...64))

    // Only the verdicts arrive: the hub leaves out the acknowledgement that they imply.
    let verdicts = ids.prefix(64).enumerated().map { index, id in
      let verdict = Verdict(
        commandID: id, kind: .lap, source: .watch, outcome: .rejected(.illegal(.idle)), runID: nil, term: 1,
        revision: 0, effectiveAt: nil)
      return VerdictTransmission(
        sequence: UInt64(index) + 1,
        receipt: Receipt(commandID: id, kind: .lap, source: .watch, stage: .verdict(verdict)))
    }
    stage.feed(.frame(HubFrame(session: 1, message: .delivery(.verdicts(verdicts)))))
    #expect(stage.sent == Array(1...70))
  }
}
