import RunCore

/// A node of a simulated world.
enum WorldParty: Hashable {
  case hub
  case peer(Int)
}

/// A peer of a simulated world, alive or not.
struct WorldPeer {
  /// The name that the hub knows it by. Its owner may change that.
  var name: DeviceID
  /// The name that it bears itself, in all its lives.
  let ownName: DeviceID
  /// The other name that its owner gives it.
  var otherName: DeviceID { DeviceID("\(ownName)-b")! }
  /// All its names, the present one first: until a renaming is durable, the hub's disk has the old one.
  var names: [DeviceID] { name == ownName ? [ownName, otherName] : [otherName, ownName] }
  var role: NodeRole { Self.role(of: ownName) }
  /// A device is of the kind that its name says; one is a shell, whose name no device has.
  static func role(of name: DeviceID) -> NodeRole { name == "bench" ? .shell : NodeRole(rawValue: name.rawValue) }
  let nodeID: NodeID
  /// Who it is to the hub's transport.
  var identity: ConnectionIdentity { didSet { identitiesEver.insert(identity) } }
  /// The identities that it has had: a key can be replaced while a commit is on its way to the disk.
  private(set) var identitiesEver: Set<ConnectionIdentity>
  /// What the hub told it about its bus; `nil` for a peer without a key.
  var enrolment: Enrolment?
  var store: WorldPeerStore
  var core: PeerCore?
  /// What its screen shows; a new one in each of its lives.
  var board = RunBoard(own: "peer")
  /// An earlier copy of its disk, for worlds that restore one.
  var copy: WorldPeerStore?
  var life: UInt64 = 0
  var boot = 0
  /// How far its monotonic clock is from the world's.
  var clock = WorldClock()
  /// How far its wall clock is from the world's.
  var wallOffset: Double = 0
  /// The connection it speaks on; `nil` while the link is down.
  var connection: UInt64?
  /// The session of its last welcome.
  var session: UInt64?
  var subscription: UInt64?
  /// Until when frames are lost in one direction although the link is up: to this peer (deaf), from it (mute).
  var deafUntil = BusTime.zero
  var muteUntil = BusTime.zero
  var isSlow = false
  var isHungUntil = BusTime.zero
  var isFullUntil = BusTime.zero
  var app = WorldApp()
  var failureDetector = WorldFailureDetection()
  var lastShown = Snapshot.none.order
  /// Verdicts that this incarnation was told.
  var told: Set<CommandID> = []
  var outbox: [OutboxReport] = []

  init(name: DeviceID, nodeID: NodeID, identity: ConnectionIdentity, store: WorldPeerStore) {
    (self.name, ownName) = (name, name)
    (self.nodeID, self.identity, self.store) = (nodeID, identity, store)
    identitiesEver = [identity]
  }
}

/// The hub of a simulated world, alive or not.
struct WorldHub {
  var core: HubCore?
  var store = WorldStore(storeID: .none, isLosing: false, lateAfter: .zero, window: .zero, hasLog: false)
  var copy: WorldStore?
  var life: UInt64 = 0
  var boot = 0
  var clock = WorldClock()
  var busClock = BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime)
  /// When its present incarnation began, in bus time.
  var beganAt = BusTime.zero
  /// Its machine has rebooted: until its next incarnation, its clock says nothing about bus time.
  var isBooting = false
  var lastOrder = Snapshot.none.order
  /// What its screen shows.
  var board = RunBoard(own: "phone")
  /// What it shows.
  var shown = Snapshot.none
  var app = WorldApp()
  var outbox: [OutboxReport] = []
  var wallOffset: Double = 0
  /// Its disk was slow or failed: until then its schedule may slip.
  var isTroubledUntil = BusTime.zero
  /// When it last wrote something of the run other than a sample.
  var changedAt = BusTime.zero
  /// Runs that were stopped and have no record yet, with the time of the stop.
  var awaited: [RunID: BusTime] = [:]
  /// When the records are due that its present incarnation expects, by its bus clock.
  var recordsDue: [RunID: BusTime] = [:]
  var isHungUntil = BusTime.zero
  var isFullUntil = BusTime.zero
  /// The incarnation that used a term last.
  var lifeOfTerm: [UInt64: UInt64] = [:]
  /// It came back from an older copy of its store, and no peer has told it in time that a term was used before.
  var hasUsedTermAgain = false
  /// When readings arrived last, in bus time.
  var readingAt = BusTime.zero
}

/// One press of a peer, as the world remembers it.
struct WorldPress {
  let peer: Int
  let kind: CommandKind
  /// Its app was told that it is queued, or it was on the disk: it must get a verdict.
  var isOwed = false
  /// Tombstoned: taken back, or too old to be sent. The node may have ended before it told its app.
  var isBuried = false
  var verdict: Verdict?
}

/// A sequence number of a stream between two stores.
struct WorldPlace: Hashable {
  let from: StoreID
  let to: StoreID
  let kind: StreamID.Kind
  let sequence: UInt64
}

/// One reading.
struct WorldSample {
  let peer: Int
  let life: UInt64
  /// When it was measured, in bus time; `nil` while the hub's machine reboots and has no bus time.
  let time: BusTime?
  var run: RunID?
  /// On the peer's disk, or acknowledged: it must not be lost any more.
  var isOwed = false
}

// Incarnations.
extension World {
  var parties: [WorldParty] { [.hub] + peers.indices.map { .peer($0) } }

  func life(of party: WorldParty) -> UInt64 {
    switch party {
    case .hub: hub.life
    case .peer(let index): peers[index].life
    }
  }

  func isUp(_ party: WorldParty) -> Bool {
    switch party {
    case .hub: hub.core != nil
    case .peer(let index): peers[index].core != nil
    }
  }

  mutating func feed(_ party: WorldParty, committed id: CommitID, isWritten: Bool) {
    switch party {
    case .hub: feedHub(isWritten ? .committed(id) : .commitFailed(id))
    case .peer(let index): feedPeer(index, isWritten ? .committed(id) : .commitFailed(id))
    }
  }

  /// Until when a party is hung; in the past if it is not.
  func isHungUntil(_ party: WorldParty) -> BusTime {
    switch party {
    case .hub: hub.isHungUntil
    case .peer(let index): peers[index].isHungUntil
    }
  }

  var hubNow: BusTime { hub.clock.reading(at: now) }

  func peerNow(_ index: Int) -> BusTime { peers[index].clock.reading(at: now) }

  func wallSeconds(of index: Int? = nil) -> Double {
    1e9 + (now - .zero).seconds + (index.map { peers[$0].wallOffset } ?? hub.wallOffset)
  }

  mutating func startHub() {
    guard hub.core == nil else { return }
    hub.life += 1
    hub.isBooting = false
    let boot = bootID(of: nil)
    let history = hub.store.history
    hub.busClock = BusClock.continuing(
      hub.store.clock, lastSign: history.lastSign, real: hubNow, wallSeconds: wallSeconds(), bootID: boot,
      speed: speed)
    var metrics = MetricsSettings()
    metrics.setup = climate.setup
    var settings = HubCore.Settings(
      deviceID: DeviceID("phone"), nodeID: NodeID(high: 1, low: 1), storeID: hub.store.storeID,
      debounce: debounce, clock: hub.busClock, metrics: metrics,
      recovery: climate.recovery, downtime: climate.downtime, seed: random.next(), bus: Self.bus)
    settings.listProof = Self.listProof
    // Even short runs become records in many turns.
    settings.recordPiece = 64
    hub.core = HubCore(
      settings: settings,
      history: history, now: hub.busClock.bus(at: hubNow), wallSeconds: wallSeconds(), bootID: boot)
    hub.beganAt = hub.busClock.bus(at: hubNow)
    window = WorldWindow()
    hub.recordsDue = [:]
    hub.board = RunBoard(own: "phone")
    for run in hub.awaited.keys { hub.awaited[run] = now }
    owner.admitted = []
    noteNames()
    feedHub(.started)
    for index in peers.indices where !isAdmitted(index) { disconnect(index) }
    schedule(.handles(.hub, life: hub.life, true), in: milliseconds(0...1000))
  }

  mutating func startPeer(_ index: Int) {
    guard peers[index].core == nil else { return }
    peers[index].life += 1
    let peer = peers[index]
    let settings = PeerCore.Settings(
      deviceID: peer.ownName, role: peer.role, nodeID: peer.nodeID,
      storeID: peer.store.storeID, topics: topics(of: index), limits: climate.limits,
      hubLostAfter: Self.hubLostAfter, enrolment: enrolment(of: index), seed: random.next())
    peers[index].core = PeerCore(
      settings: settings, history: peer.store.history, now: peerNow(index), wallSeconds: wallSeconds(of: index),
      bootID: bootID(of: index))
    peers[index].lastShown = Snapshot.none.order
    peers[index].board = RunBoard(own: peer.name)
    beginFailureDetection(of: index)
    feedPeer(index, .started)
    schedule(.handles(.peer(index), life: peer.life, true), in: milliseconds(0...1000))
    if peer.life > 1 { schedule(.linkUp(index), in: milliseconds(0...3000)) }
  }

  private mutating func tear(_ party: WorldParty, at part: Double) -> Bool {
    switch party {
    case .hub: hub.store.tear(at: part)
    case .peer(let index): peers[index].store.tear(at: part)
    }
  }

  private mutating func restart(_ party: WorldParty) {
    switch party {
    case .hub:
      hub.store.restart()
      if hub.store.hasFaults { faults += hub.store.faults }
    case .peer(let index):
      peers[index].store.restart()
      faults += peers[index].store.faults
    }
  }

  /// kill -9 or power loss: a write on its way to the disk gets there or does not.
  mutating func crash(_ party: WorldParty) {
    guard isUp(party), !isHealed else { return }
    let life = life(of: party)
    let lost = queue.removeAll {
      if case .committed(party, life, _, _, true) = $0 { true } else { false }
    }
    for case .committed(_, _, _, let operations, _) in lost {
      let part = Double.random(in: 0...1.5, using: &random)
      let isKept = tear(party, at: min(part, 1))
      tally.count(isKept ? "commit kept by a crash" : "commit lost by a crash")
      if isKept { write(operations, to: party) }
    }
    restart(party)
    let isReboot = climate.hasReboots && chance(3)
    switch party {
    case .hub:
      tally.count(isReboot ? "hub reboot" : "hub crash")
      hub.core = nil
      noteDue(of: .hub)
      hub.life += 1
      hub.app.crash()
      loseShellLinks()
      if isReboot {
        endShells(on: nil)
        (hub.boot, hub.clock.origin, hub.isBooting) = (hub.boot + 1, origin(), true)
      }
      // Some links survive: the transport finds the next incarnation by itself.
      for index in peers.indices where !chance(5) { disconnect(index) }
    case .peer(let index):
      tally.count(isReboot ? "peer reboot" : "peer crash")
      disconnect(index, isComing: false)
      peers[index].core = nil
      noteDue(of: party)
      peers[index].life += 1
      peers[index].app.crash()
      peers[index].told = []
      if isReboot {
        endShells(on: index)
        (peers[index].boot, peers[index].clock.origin) = (peers[index].boot + 1, origin())
        let hasUnsent = peers[index].store.delivery.history.rows.contains { $0.tries == 0 && $0.item != nil }
        if hasUnsent || chance(12) {
          // It was switched off for a month, or its wall clock was set: commands that were never sent expire.
          tally.count("month")
          peers[index].wallOffset += 31 * 86_400
        }
      }
    }
    for post in posts where post.value.to == party { posts[post.key]?.maySeeAgain = true }
    // What waits for a hung node reaches its next incarnation, in order.
    schedule(.starts(party), in: max(milliseconds(0...5000), isHungUntil(party) - now))
  }

  // MARK: Losing a store

  mutating func copyStore() {
    switch loss {
    case .none: break
    case .hub: hub.copy = hub.store
    case .peer(let index): peers[index].copy = peers[index].store
    }
  }

  mutating func loseStore() {
    let isDeleted = Bool.random(using: &random)
    switch loss {
    case .none: return
    case .hub:
      crash(.hub)
      guard hub.core == nil else { return }
      tally.count(isDeleted ? "hub's store deleted" : "hub's store restored")
      let fresh = freshStore(StoreID(high: 5, low: number()))
      hub.store = isDeleted ? fresh : hub.copy ?? fresh
      // The owner pairs again what is missing.
      hub.store.pair(paired.devices)
      for index in peers.indices { peers[index].store.hearsAgain() }
      seen = [:]
      hub.awaited = [:]
      hub.lastOrder = Snapshot.none.order
    case .peer(let index):
      crash(.peer(index))
      guard peers[index].core == nil else { return }
      tally.count(isDeleted ? "peer's store deleted" : "peer's store restored")
      let fresh = WorldPeerStore(storeID: StoreID(high: 5, low: number()), hasLog: hasLog)
      peers[index].store = isDeleted ? fresh : peers[index].copy ?? fresh
    }
  }
}
