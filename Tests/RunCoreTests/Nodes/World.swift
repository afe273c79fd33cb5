import RunCore

/// A small simulated world: one hub, three peers, plain requests, a spool, disks and a network that misbehave, apps that
/// are late, fail and take their node down, and virtual time. The same seed gives the same world.
///
/// In a ``Loss/none`` world every promise of the design's section 5 is checked. Where a store is deleted or comes back as
/// an older copy, less is promised, and this is what is checked then:
///
/// - ``Loss/peer(_:)``: what that peer held is forgotten, its verdicts may not reach it, its messages and samples (and
///   those to it) may come twice or not at all. All that the hub and the other peers promise holds without exception: one
///   verdict and one effect a command, the present state shown by all, and what is on the disks in the end is delivered.
/// - ``Loss/hub``: runs and verdicts may be forgotten, a command may be judged once by what is left and once before.
///   Peers' commands still get their verdicts, their messages still arrive (perhaps twice), all show one state in the
///   end, and outboxes drain. Terms and revisions are compared only since the loss.
struct World {
  enum Loss: Hashable {
    case none
    case peer(Int)
    case hub
  }

  enum Happening {
    case toHub(ConnectionID, PeerFrame)
    case toPeer(Int, connection: UInt64, HubFrame)
    case published(Int, subscription: UInt64, BusEvent)
    case committed(WorldParty, life: UInt64, CommitID, [StoreOperation], isWritten: Bool)
    case gone(life: UInt64, ConnectionID)
    case sendFailed(WorldParty, life: UInt64, ConnectionID)
    case linkUp(Int)
    case linkDown(Int, connection: UInt64)
    case starts(WorldParty)
    case returned(WorldParty, life: UInt64, WorldApp.Outcome)
    case handles(WorldParty, life: UInt64, Bool)
    case looks(WorldParty)
    case press(Int, CommandKind)
    case asks(Command)
    case copies
    case loses
    case step
  }

  var random: SeededGenerator
  let loss: Loss
  var now = BusTime.zero
  var faults: [String] = []
  var tally = WorldTally()
  var peers: [WorldPeer] = []
  var hub = WorldHub()
  var queue = WorldQueue<Happening>()
  var isHealed = false
  /// What one-shot senders left; nodes of the machine look into it now and then.
  var spool: [CommandID: (command: Command, pressedAt: BusTime)] = [:]
  var presses: [CommandID: WorldPress] = [:]
  var posts: [MessageID: WorldPost] = [:]
  var requested: [CommandID: Request] = [:]
  var answered: [CommandID: Verdict] = [:]
  /// What each (term, revision) was seen to be.
  var seen: [UInt64: [UInt64: Snapshot]] = [:]
  /// What each place of each stream was seen to hold.
  var places: [WorldPlace: UInt64] = [:]
  /// Samples that reached the hub, by place, and where and when those of named runs were taken.
  var arrived: Set<WorldPlace> = []
  var samples: [UInt64: WorldSample] = [:]
  /// Which store and which peer speak on a connection.
  var speakers: [UInt64: (store: StoreID, peer: Int)] = [:]
  /// Messages on one connection keep their order.
  var lastArrival: [String: BusTime] = [:]
  let speed: BusSpeed
  let debounce: BusDuration
  private var lastNumber: UInt64 = 0

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    speed = BusSpeed(factor: seed.isMultiple(of: 10) ? 60 : 1)!
    debounce = [.milliseconds(500), .milliseconds(500), .zero].randomElement(using: &random)!
    // Two worlds of five lose a store; they are seeds of their own, so that the others check everything.
    switch seed % 5 {
    case 3: loss = .peer(Int(seed / 5 % 3))
    case 4: loss = .hub
    default: loss = .none
    }
    hub.store = freshStore(StoreID(high: 1, low: 1))
    for (index, name) in ["watch", "widget", "shell"].enumerated() {
      var peer = WorldPeer(
        name: DeviceID(name)!, nodeID: NodeID(high: 3, low: UInt64(index)),
        store: WorldPeerStore(storeID: StoreID(high: 2, low: UInt64(index))))
      peer.clock = origin()
      peer.isSlow = Int.random(in: 0..<4, using: &random) == 0
      peers.append(peer)
    }
    hub.clock = origin()
  }

  func freshStore(_ id: StoreID) -> WorldStore {
    WorldStore(storeID: id, isLosing: loss != .none, lateAfter: speed.bus(fromReal: .milliseconds(500)))
  }

  /// Somewhere within a quarter of an hour: no two clocks of this world have one origin.
  mutating func origin() -> BusDuration {
    BusDuration(nanoseconds: .random(in: -1_000_000_000_000...1_000_000_000_000, using: &random))
  }

  // MARK: The course of a world

  /// Trouble for a while, then peace, until everything has settled.
  mutating func run() {
    startHub()
    for index in peers.indices {
      startPeer(index)
      // Some meet the hub only after they have been used for a while.
      schedule(.linkUp(index), in: chance(4) ? milliseconds(0...9000) : milliseconds(0...50))
    }
    if loss != .none {
      schedule(.copies, in: milliseconds(1000...10_000))
      schedule(.loses, in: milliseconds(8000...25_000))
    }
    schedule(.step, in: .zero)
    advance(to: .zero + .seconds(30))
    heal()
    advance(to: .zero + .seconds(35))
    // Most worlds end with the run's end: then nothing but the heartbeat is left to heal what was lost.
    if speed != .realTime || !chance(5) { feedHub(.press(command(of: nil, .stop))) }
    // Covers the longest backoff (30 s, and a quarter) and three slow beats; a message that fails takes its time.
    advance(to: .zero + .seconds(110))
    for _ in 0..<3 where faults.isEmpty && !isSettled { advance(to: now + .seconds(60)) }
    checkEnd()
  }

  private mutating func heal() {
    isHealed = true
    for index in peers.indices { (peers[index].deafUntil, peers[index].muteUntil) = (now, now) }
    startHub()
    for index in peers.indices {
      startPeer(index)
      schedule(.linkUp(index), in: .zero)
      schedule(.handles(.peer(index), life: peers[index].life, true), in: .zero)
    }
    schedule(.handles(.hub, life: hub.life, true), in: .zero)
    for party in parties { schedule(.looks(party), in: milliseconds(0...500)) }
  }

  private mutating func advance(to end: BusTime) {
    var idleTurns = 0
    while faults.isEmpty {
      var due = hub.core?.deadline.map { hub.busClock.real(at: $0) - hub.clock }
      for peer in peers {
        guard let deadline = peer.core?.deadline else { continue }
        due = min(due ?? .distantFuture, deadline - peer.clock)
      }
      // Sockets are drained before timers fire.
      if let next = queue.nextAt, next <= min(end, max(now, due ?? .distantFuture)) {
        now = max(now, next)
        idleTurns = 0
        if let happening = queue.pop() { happen(happening) }
      } else if let due, due <= end {
        idleTurns = due <= now ? idleTurns + 1 : 0
        if idleTurns > 100 { faults.append("a deadline that nothing comes of at \(now.nanoseconds)") }
        now = max(now, due)
        meetDeadlines()
      } else {
        now = end
        return
      }
    }
  }

  private mutating func meetDeadlines() {
    if let deadline = hub.core?.deadline, hub.busClock.real(at: deadline) - hub.clock <= now { feedHub(.deadline) }
    for index in peers.indices {
      if let deadline = peers[index].core?.deadline, deadline - peers[index].clock <= now {
        feedPeer(index, .deadline)
      }
    }
  }

  private mutating func happen(_ happening: Happening) {
    switch happening {
    case .toHub(let connection, let frame): arrive(frame, on: connection)
    case .toPeer(let index, let connection, let frame):
      guard peers[index].connection == connection else { return }
      noteAcknowledged(frame, by: index)
      noteWord(frame, to: index)
      feedPeer(index, .frame(frame))
    case .published(let index, let subscription, let event):
      guard peers[index].subscription == subscription else { return }
      feedPeer(index, .event(event))
      // Without a session it is not listened to.
      if peers[index].core?.heardAt == peerNow(index) { noteWord(to: index) }
    case .committed(let party, let life, let id, let operations, let isWritten):
      guard life == self.life(of: party) else { return }
      if isWritten {
        write(operations, to: party)
      } else {
        tally.count("commit failed")
        if case .peer(let index) = party { peers[index].vigil.hasFailed = true }
      }
      feed(party, committed: id, isWritten: isWritten)
    case .gone(let life, let connection): if life == hub.life { feedHub(.gone(connection)) }
    case .sendFailed(let party, let life, let connection):
      guard life == self.life(of: party) else { return }
      switch party {
      case .hub: feedHub(.sendFailed(connection))
      case .peer(let index): feedPeer(index, .sendFailed)
      }
    case .linkUp(let index): connect(index)
    case .linkDown(let index, let connection):
      guard peers[index].connection == connection else { return }
      disconnect(index)
      // Nothing is lost for good after the last trouble.
      if isHealed { schedule(.linkUp(index), in: .zero) }
    case .starts(.hub): startHub()
    case .starts(.peer(let index)): startPeer(index)
    case .returned(let party, let life, let outcome): handlerReturned(party, life: life, outcome)
    case .handles(let party, let life, let value): if life == self.life(of: party) { setHandling(party, value) }
    case .looks(let party): look(party)
    case .press(let index, let kind): press(index, kind)
    case .asks(let command): ask(command)
    case .copies: copyStore()
    case .loses: loseStore()
    case .step: step()
    }
  }

  // MARK: Drawing

  mutating func schedule(_ happening: Happening, in delay: BusDuration, after line: String? = nil) {
    var time = now + delay
    if let line {
      time = max(time, lastArrival[line] ?? time)
      lastArrival[line] = time
    }
    queue.push(happening, at: time)
  }

  mutating func delay() -> BusDuration {
    chance(20) && !isHealed ? milliseconds(0...2000) : milliseconds(0...20)
  }

  mutating func milliseconds(_ range: ClosedRange<Int64>) -> BusDuration {
    .milliseconds(.random(in: range, using: &random))
  }

  /// One time of so many.
  mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  mutating func number() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}
