import Simulation

@testable import RunCore

/// A peer and a hub, a link that loses, repeats and breaks, and a disk on either side that can be restored from a
/// copy. Every step is one action, so that tests can try all sequences of steps. Windows are off: every press is
/// judged alone.
struct NodePair {
  enum Step: CaseIterable, Hashable {
    case press, toHub, toPeer, lose, duplicate, commitPeer, commitHub, crashPeer, crashHub, reconnect, restorePeer,
      restoreHub, timer
  }

  private(set) var faults: [String] = []
  private var now = BusTime.zero + .seconds(100)
  private(set) var peer: PeerCore
  private(set) var hub: HubCore
  private(set) var peerDisk = WorldPeerStore(storeID: StoreID(high: 2, low: 1))
  private(set) var hubDisk = HubDisk()
  private var peerBackup = WorldPeerStore(storeID: StoreID(high: 2, low: 1))
  private var hubBackup = HubDisk()
  private var peerFlight: (id: CommitID, operations: [StoreOperation])?
  private var hubFlight: (id: CommitID, operations: [StoreOperation])?
  private var frames: (toHub: [PeerFrame], toPeer: [HubFrame]) = ([], [])
  private var connection: UInt64 = 0
  private var life: UInt64 = 0
  private var pressed: UInt64 = 0
  private var queued: Set<CommandID> = []
  private var told: [CommandID: Verdict] = [:]
  private var hubHasLost = false
  private(set) var renewals = 0

  init() {
    peer = Self.peer(peerDisk, life: 1, at: .zero)
    hub = Self.hub(hubDisk, life: 1, at: .zero)
    feedHub(.started)
    feedPeer(.started)
    settleDown()
    feedHub(.opened(eventsEndpoint: "events"))
    reconnect()
  }

  /// Copies the disks, as backups for a later restore.
  mutating func backUp() { (peerBackup, hubBackup) = (peerDisk, hubDisk) }

  private static func peer(_ disk: WorldPeerStore, life: UInt64, at now: BusTime) -> PeerCore {
    PeerCore(
      settings: PeerCore.Settings(
        deviceID: DeviceID("watch"), role: .watch, nodeID: NodeID(high: 3, low: 1), storeID: disk.storeID,
        topics: [], seed: life),
      history: disk.history, now: now, wallSeconds: 0, bootID: "boot")
  }

  private static func hub(_ disk: HubDisk, life: UInt64, at now: BusTime) -> HubCore {
    HubCore(
      settings: HubCore.Settings(
        deviceID: DeviceID("phone"), nodeID: NodeID(high: 1, low: 1), storeID: disk.storeID, debounce: .zero,
        clock: BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime), seed: 1000 + life),
      history: disk.history, now: now, wallSeconds: 0, bootID: "boot")
  }

  private static let kinds: [CommandKind] = [.start, .pause, .resume, .lap, .stop]

  // MARK: Steps

  /// Whether a step would change something: a sequence with one that does not is a shorter sequence.
  func canTake(_ step: Step) -> Bool {
    switch step {
    case .toHub: !frames.toHub.isEmpty
    case .toPeer: !frames.toPeer.isEmpty
    case .lose, .duplicate: !frames.toHub.isEmpty || !frames.toPeer.isEmpty
    case .commitPeer: peerFlight != nil
    case .commitHub: hubFlight != nil
    case .timer: peer.deadline != nil || hub.deadline != nil
    case .press, .crashPeer, .crashHub, .reconnect, .restorePeer, .restoreHub: true
    }
  }

  mutating func take(_ step: Step) {
    switch step {
    case .press:
      pressed += 1
      let kind = Self.kinds[Int(pressed - 1) % Self.kinds.count]
      feedPeer(.press(Command(id: CommandID(high: 4, low: pressed), kind: kind, source: .watch)))
    case .toHub: if !frames.toHub.isEmpty { feedHub(.frame(hubSide, frames.toHub.removeFirst())) }
    case .toPeer: if !frames.toPeer.isEmpty { feedPeer(.frame(frames.toPeer.removeFirst())) }
    case .lose:
      if !frames.toHub.isEmpty {
        frames.toHub.removeFirst()
      } else if !frames.toPeer.isEmpty {
        frames.toPeer.removeFirst()
      }
    case .duplicate:
      if let first = frames.toHub.first { frames.toHub.append(first) }
      if let first = frames.toPeer.first { frames.toPeer.append(first) }
    case .commitPeer: commitPeer()
    case .commitHub: commitHub()
    case .crashPeer: restartPeer()
    case .crashHub: restartHub()
    case .reconnect: reconnect()
    case .restorePeer:
      peerDisk = peerBackup
      let rows = Set(peerDisk.history.delivery.rows.compactMap { $0.item?.id })
      queued = queued.filter { rows.contains($0.message) }
      restartPeer()
    case .restoreHub:
      hubDisk = hubBackup
      hubHasLost = true
      restartHub()
    case .timer: passTime()
    }
  }

  private var hubSide: ConnectionID { .named("watch \(connection)") }

  private mutating func restartPeer() {
    life += 1
    peerFlight = nil
    peer = Self.peer(peerDisk, life: life, at: now)
    feedPeer(.started)
    reconnect()
  }

  private mutating func restartHub() {
    life += 1
    hubFlight = nil
    hub = Self.hub(hubDisk, life: life, at: now)
    feedHub(.started)
    commitHub()
    feedHub(.opened(eventsEndpoint: "events"))
    reconnect()
  }

  private mutating func reconnect() {
    frames = ([], [])
    feedPeer(.linkDown)
    feedHub(.gone(hubSide))
    connection += 1
    feedPeer(.linkUp)
  }

  private mutating func passTime() {
    guard let due = [peer.deadline, hub.deadline].compactMap({ $0 }).min() else { return }
    now = max(now, due)
    if let deadline = peer.deadline, deadline <= now { feedPeer(.deadline) }
    if let deadline = hub.deadline, deadline <= now { feedHub(.deadline) }
  }

  // MARK: Both sides

  private mutating func feedPeer(_ event: PeerCore.Event) {
    for action in peer.receive(event, at: now) {
      switch action {
      case .send(let frame):
        checkSent(frame)
        frames.toHub.append(frame)
      case .commit(let id, let operations): peerFlight = (id, operations)
      case .receipt(let receipt): hear(receipt)
      case .note(let text): if text.contains("storeRegressed") || text.contains("lost history") { renewals += 1 }
      default: break
      }
    }
  }

  private mutating func checkSent(_ frame: PeerFrame) {
    switch frame.message {
    case .command(let transmission):
      let row = peerDisk.delivery.history.rows.first {
        $0.stream.kind == .commands && $0.item?.id == transmission.command.id.message
      }
      if row == nil { faults.append("\(transmission.command.id.low) was sent before it was durable") }
      if row?.sequence != transmission.sequence {
        faults.append("\(transmission.command.id.low) was sent at another place")
      }
      if row?.tries == 0 { faults.append("\(transmission.command.id.low) was sent and can be cancelled") }
      if row?.stream.receiver != peerDisk.history.hub?.storeID {
        faults.append("sent to a hub that the disk does not know")
      }
    case .delivery(.acknowledge(.verdicts, let sequence)):
      let mark = peer.identity.hub.flatMap {
        peerDisk.delivery.history.watermarks[StreamID(sender: $0.storeID, kind: .verdicts)]?.sequence
      }
      if sequence > mark ?? 0 { faults.append("verdict \(sequence) was acknowledged before it was durable") }
    default: break
    }
  }

  private mutating func hear(_ receipt: Receipt) {
    switch receipt.stage {
    case .queued:
      queued.insert(receipt.commandID)
      if !peerDisk.delivery.history.rows.contains(where: { $0.item?.id == receipt.commandID.message }) {
        faults.append("\(receipt.commandID.low) was told to be queued and is not")
      }
    case .pending: break
    case .verdict(let verdict):
      if let before = told[receipt.commandID], before.outcome != verdict.outcome, !hubHasLost {
        faults.append("\(receipt.commandID.low): \(before.outcome), then \(verdict.outcome)")
      }
      told[receipt.commandID] = verdict
    }
  }

  private mutating func feedHub(_ event: HubCore.Event) {
    for action in hub.receive(event, at: now) {
      switch action {
      case .send(let frame, let connection):
        checkSent(frame)
        if connection == hubSide { frames.toPeer.append(frame) }
      case .commit(let id, let operations): hubFlight = (id, operations)
      case .publish(.receipt(let receipt, _)):
        if case .verdict = receipt.stage, hubDisk.verdicts[receipt.commandID] == nil {
          faults.append("\(receipt.commandID.low) was published before its verdict was durable")
        }
      case .note(let text): if text.contains("storeRegressed") { renewals += 1 }
      case .readRecord(let run, let from, let asker):
        feedHub(.recordRead(hubDisk.records.reading(run, from: from), for: asker))
      case .readJournal(let run): feedHub(.journal(run, hubDisk.journal(of: run)))
      default: break
      }
    }
  }

  private mutating func checkSent(_ frame: HubFrame) {
    switch frame.message {
    case .delivery(.verdicts(let transmissions)):
      for transmission in transmissions where hubDisk.verdicts[transmission.commandID] == nil {
        faults.append("verdict \(transmission.sequence) was sent before it was durable")
      }
    case .delivery(.acknowledge(.commands, let sequence)):
      let marks = hubDisk.delivery.history.watermarks.filter { $0.key.kind == .commands }.values.map(\.sequence)
      if sequence > marks.max() ?? 0 { faults.append("command \(sequence) was acknowledged before it was durable") }
    default: break
    }
  }

  private mutating func commitPeer() {
    guard let (id, operations) = peerFlight else { return }
    peerFlight = nil
    peerDisk.commit(operations, bootID: "boot", wallSeconds: 0)
    feedPeer(.committed(id))
  }

  private mutating func commitHub() {
    guard let (id, operations) = hubFlight else { return }
    hubFlight = nil
    hubDisk.commit(operations)
    feedHub(.committed(id))
  }

  // MARK: Until everything has arrived

  private mutating func settleDown() {
    while peerFlight != nil || hubFlight != nil || !frames.toHub.isEmpty || !frames.toPeer.isEmpty {
      commitPeer()
      commitHub()
      take(.toHub)
      take(.toPeer)
    }
  }

  /// From here on nothing is lost; in the end every command that the peer owed has one verdict and at most one
  /// effect.
  mutating func settle() {
    let before = renewals
    for _ in 0..<30 {
      settleDown()
      if peer.unjudgedCount == 0, hub.commands.isAcknowledged, peer.isReachable { break }
      passTime()
    }
    // A node that has lost history resets its identity, and not again and again.
    if renewals > before + 3 { faults.append("renewed \(renewals - before) times") }
    if hub.records.deadline == nil, !hub.records.isReading, peer.records.kept != hub.records.kept, !hubHasLost {
      faults.append("the peer keeps \(peer.records.kept.count) records, the hub \(hub.records.kept.count)")
    }
    if peer.unjudgedCount > 0 { faults.append("\(peer.unjudgedCount) without a verdict") }
    for id in queued.sorted() where told[id] == nil { faults.append("\(id.low) was queued and has no verdict") }
    for (id, count) in hubDisk.effects where count > 1 { faults.append("\(id.low) had \(count) effects") }
    faults += hubDisk.faults + peerDisk.faults
    let rows = peerDisk.delivery.history.rows.filter { $0.item != nil }
    for _ in 0..<3 where !rows.isEmpty {
      passTime()
      settleDown()
    }
    if peerDisk.delivery.history.rows.contains(where: { $0.item != nil }) {
      faults.append("rows were left at the peer")
    }
  }
}
