import Foundation
import RunBus
import RunCore
import RunWire

// What a press and a reading cost a hub and a peer: cores, codec and stores in steered time, without sockets and loops.
// Run it under callgrind with two counts; the difference is the cost of the others (Benchmarks/README.md).

/// A hub and a watch whose frames pass through the codec.
struct Pair {
  private let (hubStore, peerStore): (NodeStore, NodeStore)
  private var hub: HubCore
  private var peer: PeerCore
  private let connection = ConnectionID(route: [1], isRequest: false)
  private var now = BusTime.zero
  private var toHub: [[UInt8]] = []
  private var toPeer: [[UInt8]] = []
  private var published: [[UInt8]] = []
  private(set) var verdicts = 0

  init(in directory: String) throws {
    hubStore = try NodeStore(directory: directory + "/hub")
    peerStore = try NodeStore(directory: directory + "/watch")
    hub = HubCore(
      settings: HubCore.Settings(
        deviceID: DeviceID("phone"), nodeID: hubStore.nodeID, storeID: hubStore.storeID, debounce: .zero,
        clock: BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime), seed: 1),
      history: try hubStore.history(), now: .zero, wallSeconds: 0, bootID: "boot")
    peer = PeerCore(
      settings: PeerCore.Settings(
        deviceID: DeviceID("watch"), role: .watch, nodeID: peerStore.nodeID, storeID: peerStore.storeID,
        topics: [.snapshots], seed: 2),
      history: try peerStore.peerHistory(), now: .zero, wallSeconds: 0, bootID: "boot")
    feedHub(.started)
    feedPeer(.started)
    feedHub(.opened(eventsEndpoint: "events"))
    feedPeer(.linkUp)
    settle()
  }

  /// One press, until its verdict is acknowledged.
  mutating func press(_ number: Int) {
    let kind: CommandKind = number == 0 ? .start : number % 2 == 1 ? .pause : .resume
    pass(.milliseconds(20))
    feedPeer(.press(Command(id: CommandID(high: 1, low: UInt64(number + 1)), kind: kind, source: .watch)))
    settle()
  }

  /// One reading of the heart rate, a second after the last one. The hub commits them every three seconds.
  mutating func read(_ number: Int) {
    pass(.seconds(1))
    feedPeer(.samples([Sample(moment: .at(now), value: .heartRate(bpm: Double(120 + number % 40)))]))
    settle()
  }

  private mutating func pass(_ span: BusDuration) {
    let end = now + span
    while let due = [hub.deadline, peer.deadline].compactMap({ $0 }).min(), due <= end {
      now = max(now, due)
      if let deadline = hub.deadline, deadline <= now { feedHub(.deadline) }
      if let deadline = peer.deadline, deadline <= now { feedPeer(.deadline) }
      settle()
    }
    now = end
  }

  private mutating func settle() {
    while !toHub.isEmpty || !toPeer.isEmpty || !published.isEmpty {
      if !toHub.isEmpty { hear(toHub: toHub.removeFirst()) }
      if !published.isEmpty { hear(published: published.removeFirst()) }
      if !toPeer.isEmpty { hear(toPeer: toPeer.removeFirst()) }
    }
  }

  @inline(never)
  private mutating func hear(toHub bytes: [UInt8]) {
    guard let frame = try? Codec.peerFrame(bytes) else { fatalError("a frame that the hub does not read") }
    feedHub(.frame(connection, frame))
  }

  @inline(never)
  private mutating func hear(toPeer bytes: [UInt8]) {
    guard let frame = try? Codec.hubFrame(bytes) else { fatalError("a frame that the watch does not read") }
    feedPeer(.frame(frame))
  }

  @inline(never)
  private mutating func hear(published bytes: [UInt8]) {
    guard let event = try? Codec.busEvent(bytes) else { fatalError("an event that the watch does not read") }
    feedPeer(.event(event))
  }

  @inline(never)
  private mutating func feedHub(_ event: HubCore.Event) {
    for action in hub.receive(event, at: now) {
      switch action {
      case .send(let frame, _): toPeer.append(Codec.encode(frame))
      case .publish(let event): if event.topic == .snapshots { published.append(Codec.encode(event)) }
      case .commit(let id, let operations):
        Self.commit(operations, to: hubStore)
        feedHub(.committed(id))
      default: break
      }
    }
  }

  @inline(never)
  private mutating func feedPeer(_ event: PeerCore.Event) {
    for action in peer.receive(event, at: now) {
      switch action {
      case .send(let frame): toHub.append(Codec.encode(frame))
      case .commit(let id, let operations):
        Self.commit(operations, to: peerStore)
        feedPeer(.committed(id))
      case .receipt(let receipt): if case .verdict = receipt.stage { verdicts += 1 }
      default: break
      }
    }
  }

  private static func commit(_ operations: [StoreOperation], to store: NodeStore) {
    let done = DispatchSemaphore(value: 0)
    store.commit(operations) {
      if case .failure(let fault) = $0 { fatalError("\(fault)") }
      done.signal()
    }
    done.wait()
  }

  func close() {
    hubStore.close()
    peerStore.close()
  }
}

guard CommandLine.arguments.count == 4, let presses = Int(CommandLine.arguments[2]),
  let readings = Int(CommandLine.arguments[3])
else {
  print("cost DIRECTORY PRESSES READINGS")
  exit(64)
}
var pair = try Pair(in: CommandLine.arguments[1])
for number in 0..<presses { pair.press(number) }
for number in 0..<readings { pair.read(number) }
guard pair.verdicts == presses else { fatalError("\(pair.verdicts) verdicts for \(presses) presses") }
pair.close()
