package import RunCore

/// A small simulated world: one hub, two to six peers, shells, plain requests, a spool, disks, clocks and a network
/// that misbehave, apps that are late, fail and take their node down, and virtual time. The same seed gives the same
/// world.
///
/// What people do and what fails at a node happens in numbered steps, each with random numbers of its own. What the
/// network and the disks do depends on the seed and the moment. A step can therefore be left out (``WorldCut``) and
/// the rest of the world stays much the same.
///
/// A ``Loss/none`` world checks every promise about delivery (docs/guarantees.md). Where a store is deleted or comes
/// back as an older copy, less is promised and less is checked:
///
/// - ``Loss/peer(_:)``: what that peer held is forgotten. Its verdicts may not reach it; its messages and samples,
///   and those addressed to it, may arrive twice or not at all. All other promises of the hub and the other peers
///   hold: each command has one verdict and one effect, all show the present state, and what is on the disks in the
///   end is delivered.
/// - ``Loss/hub``: the hub may forget runs and verdicts, and may judge a command a second time. Peers' commands still
///   get verdicts, their messages still arrive (perhaps twice), all show one state in the end, and outboxes drain.
///   Terms and revisions are compared only since the loss.
package struct World {
  enum Loss: Hashable {
    case none
    case peer(Int)
    case hub
  }

  enum Happening {
    indirect case toHub(ConnectionID, PeerFrame)
    indirect case toPeer(Int, connection: UInt64, HubFrame)
    indirect case published(Int, subscription: UInt64, BusEvent)
    indirect case committed(WorldParty, life: UInt64, CommitID, [StoreOperation], isWritten: Bool)
    case gone(life: UInt64, ConnectionID)
    case sendFailed(WorldParty, life: UInt64, ConnectionID)
    case linkUp(Int)
    case linkDown(Int, connection: UInt64)
    case starts(WorldParty)
    indirect case returned(WorldParty, life: UInt64, WorldApp.Outcome)
    case handles(WorldParty, life: UInt64, Bool)
    case looks(WorldParty)
    case press(Int, CommandKind)
    indirect case asks(Command)
    case answersRecovery(life: UInt64, RecoveryAnswer)
    /// A lock screen's subscription reaches the hub.
    case follows
    case copies
    case loses
    case step
    /// What wrong members do after the step of this number.
    case misdeed(Int)
    /// Something happens to a shell.
    indirect case shell(UInt64, WorldShell.Happening)
  }

  let seed: UInt64
  let options: WorldOptions
  let climate: WorldClimate
  /// Source of all draws now: reseeded at each step and at each new moment.
  var random: WorldRandom
  var wallRandom: WorldRandom
  let loss: Loss
  package internal(set) var now = BusTime.zero
  package internal(set) var faults: [String] = []
  package internal(set) var tally = WorldTally()
  /// One line for each event, while tracing is on.
  package internal(set) var lines: [String] = []
  /// How many steps there have been.
  package internal(set) var steps = 0
  var rhythm: WorldRhythm
  var wrong: WrongParty
  var owner = WorldOwner()
  /// The devices that the hub's owner has paired.
  var paired = MemberHistory()
  /// Per peer: when the hub first refused it as busy and how often, since the hub last accepted something from it.
  var crowding: [Int: (since: BusTime, count: Int)] = [:]
  /// Whether networks and disks work without faults in this second.
  var isCalm = false
  /// When each node wants to be woken: index 0 is the hub, then the peers.
  var dues: [BusTime]
  var window = WorldWindow()
  var lastPublication: WorldPublication?
  var peers: [WorldPeer] = []
  var hub = WorldHub()
  var queue = WorldQueue<Happening>()
  var isHealed = false
  /// Commands that shells left; the nodes of the machine look for them now and then.
  var spool: [CommandID: (command: Command, pressedAt: BusTime)] = [:]
  var presses: [CommandID: WorldPress] = [:]
  var posts: [MessageID: WorldPost] = [:]
  var requested: [CommandID: Command] = [:]
  var shells: [UInt64: WorldShell] = [:]
  /// Commands of shells.
  var shellCommands: Set<CommandID> = []
  /// When commands of shells on the hub's machine were pressed.
  var pressedAt: [CommandID: BusTime] = [:]
  var answered: [CommandID: Verdict] = [:]
  /// The first snapshot seen for each term and revision.
  var seen: [UInt64: [UInt64: Snapshot]] = [:]
  /// The item seen at each sequence number of each stream.
  var places: [WorldPlace: UInt64] = [:]
  /// Samples that reached the hub, by sequence number.
  var arrived: Set<WorldPlace> = []
  var samples: [UInt64: WorldSample] = [:]
  /// Readings that were sent and not acknowledged, by the store that sent them.
  var unacknowledged: [StoreID: [(sequence: UInt64, reading: UInt64)]] = [:]
  /// Queued messages that could still be overtaken, by sender and receiver.
  var roads: [WorldRoad: [MessageID]] = [:]
  /// The store and the peer that use a connection.
  var speakers: [UInt64: (store: StoreID, peer: Int)] = [:]
  /// Who is at the other end of each connection of a peer, as the hub's transport knows it.
  var identities: [UInt64: ConnectionIdentity] = [:]
  /// The last ping of each peer that reached the hub in the peer's present session.
  var beats: [Int: WorldBeat] = [:]
  /// Messages on one connection keep their order.
  var lastArrival: [String: BusTime] = [:]
  package let speed: BusSpeed
  let debounce: BusDuration
  private var lastNumber: UInt64 = 0

  package init(seed: UInt64, options: WorldOptions = WorldOptions()) {
    self.seed = seed
    self.options = options
    climate = WorldClimate(seed: seed)
    random = WorldRandom(seed: seed, 2)
    wallRandom = WorldRandom(seed: seed, 3, options.wallVariant)
    rhythm = WorldRhythm(isLong: options.trouble > .seconds(120))
    dues = Array(repeating: .distantFuture, count: climate.peerCount + 1)
    // A fast bus must not forget anything within the world: the hub keeps journals for a day of bus time, verdicts
    // for two.
    speed = BusSpeed(factor: seed.isMultiple(of: 10) ? min(60, max(2, 60_000 / options.trouble.seconds)) : 1)!
    debounce = [.milliseconds(500), .milliseconds(500), .zero].randomElement(using: &random)!
    // Two of five seeds lose a store. The other three check everything.
    switch seed % 5 {
    case 3: loss = .peer(Int(seed / 5) % climate.peerCount)
    case 4: loss = .hub
    default: loss = .none
    }
    wrong = WrongParty(
      seed: seed, options.wrong, identity: climate.identityOfWrong(seed: seed), peerCount: climate.peerCount, loss: loss
    )
    pairDevices()
    hub.store = freshStore(StoreID(high: 1, low: 1))
    for (index, name) in Self.names.prefix(climate.peerCount).enumerated() {
      var peer = WorldPeer(
        name: DeviceID(name)!, nodeID: NodeID(high: 3, low: UInt64(index)),
        identity: climate.identity(ofPeer: index, named: DeviceID(name)!),
        store: WorldPeerStore(storeID: StoreID(high: 2, low: UInt64(index)), hasLog: hasLog))
      peer.clock = clock()
      peer.isSlow = Int.random(in: 0..<4, using: &random) == 0
      peers.append(peer)
    }
    hub.clock = clock()
  }

  private static let names = ["watch", "widget", "bench", "tablet", "treadmill", "band"]

  /// Whether stores have a log whose writes are torn at any byte. In the other worlds a write comes through or does not.
  var hasLog: Bool { seed.isMultiple(of: 2) }

  /// A new store of the hub. The owner pairs the devices again after the hub has lost its store.
  func freshStore(_ id: StoreID) -> WorldStore {
    var store = WorldStore(
      storeID: id, isLosing: loss != .none, lateAfter: speed.bus(fromReal: .milliseconds(500)),
      window: debounce, hasLog: hasLog)
    store.pair(paired.devices)
    store.setMemberVersion(paired.version)
    return store
  }

  /// Pairs the honest peers that have keys, and the wrong member that has one.
  private mutating func pairDevices() {
    let sources: Set<ControlSource> = [.phone, .watch, .liveActivity, .shell]
    for (index, name) in Self.names.prefix(climate.peerCount).enumerated() {
      let name = DeviceID(name)!
      guard case .key(let key) = climate.identity(ofPeer: index, named: name) else { continue }
      paired.devices.append(
        PairedDevice(key: key, deviceID: name, role: WorldPeer.role(of: name), sources: sources, pairedAt: 0))
    }
    if case .key(let key) = wrong.identity {
      paired.devices.append(
        PairedDevice(key: key, deviceID: "thief", role: .shell, sources: sources, pairedAt: 0))
    }
    paired.version = UInt64(paired.devices.count)
  }

  /// Up to 200 ppm fast or slow, as a quartz clock in heat and cold.
  private mutating func clock() -> WorldClock {
    WorldClock(origin: origin(), drift: .random(in: -200...200, using: &random))
  }

  /// Within about a quarter of an hour of the world's start, so that no two clocks share an origin.
  mutating func origin() -> BusDuration {
    BusDuration(nanoseconds: .random(in: -1_000_000_000_000...1_000_000_000_000, using: &random))
  }

  // MARK: The course of a world

  /// Runs the trouble, heals everything, waits until nothing is owed, and checks the end.
  package mutating func run() {
    startHub()
    for index in peers.indices {
      startPeer(index)
      // Some peers are used for a while before they first connect.
      schedule(.linkUp(index), in: chance(4) ? milliseconds(0...9000) : milliseconds(0...50))
    }
    if loss != .none {
      let trouble = options.trouble.nanoseconds / 1_000_000
      schedule(.copies, in: milliseconds(trouble / 30...trouble / 3))
      schedule(.loses, in: milliseconds(trouble / 4...trouble * 5 / 6))
    }
    schedule(.step, in: .zero)
    advance(to: .zero + options.trouble)
    dismissWrong()
    heal()
    advance(to: now + .seconds(5))
    pairVictim()
    confirmList()
    // In most worlds the run ends here: after that only the heartbeat can repair what was lost.
    if speed != .realTime || !chance(5) { feedHub(.press(command(of: nil, .stop))) }
    // Covers the longest backoff (30 s plus a quarter), three slow heartbeats and the retries of failing messages.
    advance(to: now + .seconds(75))
    settle()
    probe()
    settle()
    checkEnd()
  }

  private mutating func settle() {
    for _ in 0..<3 where faults.isEmpty && !isSettled { advance(to: now + .seconds(60)) }
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
    pairVictim()
    confirmList()
  }

  mutating func advance(to end: BusTime) {
    var idleTurns = 0
    while faults.isEmpty {
      var due = BusTime.distantFuture
      for time in dues { due = min(due, time) }
      // Sockets are drained before timers fire.
      if let next = queue.nextAt, next <= min(end, max(now, due)) {
        move(to: max(now, next))
        idleTurns = 0
        if let happening = queue.pop() {
          if let party = receiver(of: happening), isHungUntil(party) > now {
            queue.push(happening, at: isHungUntil(party))
          } else {
            trace(happening)
            happen(happening)
          }
        }
      } else if due <= end {
        idleTurns = due <= now ? idleTurns + 1 : 0
        // The record of a run is made in a few hundred turns.
        if idleTurns > 1000 {
          let party = dues[0] <= now ? "the hub" : "peer \((dues.firstIndex { $0 <= now } ?? 0) - 1)"
          faults.append("a deadline of \(party) that nothing comes of at \(now.nanoseconds)")
        }
        move(to: max(now, due))
        meetDeadlines()
      } else {
        now = end
        return
      }
    }
  }

  private mutating func meetDeadlines() {
    if dues[0] <= now { feedHub(.deadline) }
    for index in peers.indices where dues[index + 1] <= now { feedPeer(index, .deadline) }
  }

  /// Reseeds by the moment, so that draws do not depend on what was drawn before.
  private mutating func move(to time: BusTime) {
    guard time != now else { return }
    now = time
    random = WorldRandom(seed: seed, 4, UInt64(bitPattern: now.nanoseconds))
    if !options.cut.calmSeconds.isEmpty {
      isCalm = options.cut.calmSeconds.contains(Int(now.nanoseconds / 1_000_000_000))
    }
  }

  /// Looks a deadline up once after each event of its node, instead of at each event of the world.
  mutating func noteDue(of party: WorldParty) {
    switch party {
    case .hub:
      dues[0] = hub.core?.due().map { hub.clock.moment(of: hub.busClock.real(at: $0)) } ?? .distantFuture
      dues[0] = max(dues[0], hub.isHungUntil)
    case .peer(let index):
      dues[index + 1] = peers[index].core?.due().map { peers[index].clock.moment(of: $0) } ?? .distantFuture
      dues[index + 1] = max(dues[index + 1], peers[index].isHungUntil)
    }
  }

  /// The party that has to be awake for a happening; `nil` where none has to be.
  private func receiver(of happening: Happening) -> WorldParty? {
    switch happening {
    case .toHub, .gone, .asks, .answersRecovery, .follows: .hub
    case .toPeer(let index, _, _), .published(let index, _, _), .press(let index, _), .linkUp(let index),
      .linkDown(let index, _):
      .peer(index)
    case .committed(let party, _, _, _, _), .sendFailed(let party, _, _), .returned(let party, _, _),
      .handles(let party, _, _), .looks(let party):
      party
    case .starts, .copies, .loses, .step, .misdeed, .shell: nil
    }
  }

  private mutating func happen(_ happening: Happening) {
    switch happening {
    case .toHub(let connection, let frame): arrive(frame, on: connection)
    case .toPeer(let index, let connection, let frame):
      guard peers[index].connection == connection else { return }
      noteAcknowledged(frame, by: index)
      noteWord(frame, to: index)
      if case .welcome = frame.message { peers[index].session = frame.session }
      feedPeer(index, .frame(frame))
      if case .pong = frame.message { askForUnknown(of: index, on: connection) }
    case .published(let index, let subscription, let event):
      guard peers[index].subscription == subscription else { return }
      feedPeer(index, .event(event))
      // A peer without a session ignores events.
      let time = peerNow(index)
      if peers[index].core?.wasHeard(at: time) ?? false { noteWord(to: index) }
    case .committed(let party, let life, let id, let operations, let isWritten):
      guard life == self.life(of: party) else { return }
      if isWritten {
        write(operations, to: party)
      } else {
        tally.count("commit failed")
        if case .peer(let index) = party { peers[index].failureDetector.hasFailed = true }
      }
      feed(party, committed: id, isWritten: isWritten)
    case .gone(let life, let connection):
      guard life == hub.life else { return }
      endBeats(on: Self.number(of: connection))
      feedHub(.gone(connection))
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
      // After the trouble every link comes back.
      if isHealed { schedule(.linkUp(index), in: .zero) }
    case .starts(.hub): startHub()
    case .starts(.peer(let index)): startPeer(index)
    case .returned(let party, let life, let outcome): handlerReturned(party, life: life, outcome)
    case .handles(let party, let life, let value): if life == self.life(of: party) { setHandling(party, value) }
    case .looks(let party): look(party)
    case .press(let index, let kind): press(index, kind)
    case .asks(let command): ask(command)
    case .answersRecovery(let life, let answer): if life == hub.life { feedHub(.recover(answer)) }
    case .follows: if hub.core != nil { feedHub(.subscribed(.live)) }
    case .copies: copyStore()
    case .loses: loseStore()
    case .step: step()
    case .misdeed(let number): misdeed(number)
    case .shell(let key, let happening): happen(happening, to: key)
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
    !isHealed && !isCalm && chance(climate.frameLate) ? milliseconds(0...2000) : milliseconds(0...20)
  }

  mutating func milliseconds(_ range: ClosedRange<Int64>) -> BusDuration {
    .milliseconds(.random(in: range, using: &random))
  }

  /// True once in `count` draws on average; never where `count` is 0.
  mutating func chance(_ count: Int) -> Bool { count > 0 && random.next() % UInt64(count) == 0 }

  mutating func number() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}

// Mutating, because reading a property of an optional core would copy the whole core.
extension HubCore {
  fileprivate mutating func due() -> BusTime? { deadline }
}

extension PeerCore {
  fileprivate mutating func due() -> BusTime? { deadline }
  fileprivate mutating func wasHeard(at time: BusTime) -> Bool { heardAt == time }
}
