import RunCore

/// A small simulated world: one hub, three peers, plain requests, a disk and a network that misbehave, and virtual time.
/// The same seed gives the same world.
struct World {
  struct Peer {
    var core: PeerCore
    /// How far its clock is from the world's.
    let clockOffset: BusDuration
    /// The connection it speaks on; `nil` while the link is down.
    var connection: UInt64?
    var subscription: UInt64?
    var lastShown = Snapshot.none.order
    var verdicts: [CommandID: Verdict] = [:]
    var pressed: [CommandID] = []
    var recorded: UInt64 = 0
  }

  enum Happening {
    case toHub(ConnectionID, PeerFrame)
    case toPeer(Int, connection: UInt64, HubFrame)
    case published(Int, subscription: UInt64, BusEvent)
    case committed(life: UInt64, CommitID, [StoreOperation], isWritten: Bool)
    case gone(life: UInt64, ConnectionID)
    case linkUp(Int)
    case step
  }

  var random: SeededGenerator
  var now = BusTime.zero
  var faults: [String] = []
  var store = WorldStore()
  var peers: [Peer] = []
  var requested: [CommandID: Request] = [:]
  var answered: [CommandID: Verdict] = [:]
  /// What each (term, revision) was seen to be.
  var seen: [UInt64: [UInt64: Snapshot]] = [:]
  private(set) var hub: HubCore?
  private(set) var hubLife: UInt64 = 0
  private var clock = BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime)
  private var lastHubOrder = Snapshot.none.order
  private let speed: BusSpeed
  private let debounce: BusDuration
  private var queue = WorldQueue<Happening>()
  private var lastNumber: UInt64 = 0
  /// Messages on one connection keep their order.
  private var lastArrival: [String: BusTime] = [:]
  private var isHealed = false

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    speed = BusSpeed(factor: seed.isMultiple(of: 10) ? 60 : 1)!
    debounce = [.milliseconds(500), .milliseconds(500), .zero].randomElement(using: &random)!
    for (index, name) in ["watch", "widget", "shell"].enumerated() {
      let settings = PeerCore.Settings(
        deviceID: DeviceID(name)!, role: NodeRole(rawValue: name), nodeID: NodeID(high: 3, low: UInt64(index)),
        storeID: StoreID(high: 2, low: UInt64(index)), topics: Topic.allCases, isOneShot: false,
        nonce: random.next())
      let offset = BusDuration(nanoseconds: .random(in: -1_000_000_000_000...1_000_000_000_000, using: &random))
      peers.append(Peer(core: PeerCore(settings: settings), clockOffset: offset))
    }
  }

  // MARK: The course of a world

  /// Trouble for a while, then peace, until everything has settled.
  mutating func run() {
    startHub()
    for index in peers.indices { schedule(.linkUp(index), in: milliseconds(0...50)) }
    schedule(.step, in: .zero)
    advance(to: .zero + .seconds(30))
    isHealed = true
    for index in peers.indices where peers[index].connection == nil { schedule(.linkUp(index), in: .zero) }
    if hub == nil { startHub() }
    advance(to: .zero + .seconds(35))
    // Most worlds end with the run's end: then nothing but the heartbeat is left to heal what was lost.
    if speed != .realTime || Int.random(in: 0..<5, using: &random) > 0 { feedHub(.press(command(of: nil, .stop))) }
    // Covers the longest backoff (30 s) and three slow beats.
    advance(to: .zero + .seconds(110))
    checkEnd()
  }

  private mutating func advance(to end: BusTime) {
    var idleTurns = 0
    while faults.isEmpty {
      let deadlines =
        [hub?.deadline.map(clock.real(at:))] + peers.map { peer in peer.core.deadline.map { $0 - peer.clockOffset } }
      let due = deadlines.compactMap { $0 }.min()
      // Sockets are drained before timers fire.
      if let next = queue.nextAt, next <= min(end, max(now, due ?? .distantFuture)) {
        now = max(now, next)
        idleTurns = 0
        if let happening = queue.pop() { happen(happening) }
      } else if let due, due <= end {
        idleTurns = due <= now ? idleTurns + 1 : 0
        if idleTurns > 100 { faults.append("a deadline that nothing comes of: \(deadlines)") }
        now = max(now, due)
        meetDeadlines()
      } else {
        now = end
        return
      }
    }
  }

  private mutating func meetDeadlines() {
    if let deadline = hub?.deadline, clock.real(at: deadline) <= now { feedHub(.deadline) }
    for index in peers.indices {
      if let deadline = peers[index].core.deadline, deadline - peers[index].clockOffset <= now {
        feedPeer(index, .deadline)
      }
    }
  }

  private mutating func happen(_ happening: Happening) {
    switch happening {
    case .toHub(let connection, let frame): if hub != nil { feedHub(.frame(connection, frame)) }
    case .toPeer(let index, let connection, let frame):
      if peers[index].connection == connection { feedPeer(index, .frame(frame)) }
    case .published(let index, let subscription, let event):
      if peers[index].subscription == subscription { feedPeer(index, .event(event)) }
    case .committed(let life, let id, let operations, let isWritten):
      guard life == hubLife, hub != nil else { return }
      if isWritten { store.commit(operations) }
      feedHub(isWritten ? .committed(id) : .commitFailed(id))
    case .gone(let life, let connection): if life == hubLife, hub != nil { feedHub(.gone(connection)) }
    case .linkUp(let index): connect(index)
    case .step: step()
    }
    for fault in store.faults { faults.append(fault) }
  }

  /// Something that somebody does, or that goes wrong.
  private mutating func step() {
    guard !isHealed else { return }
    let index = Int.random(in: peers.indices, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<25: feedPeer(index, .press(command(of: index)))
    case 25..<35: if hub != nil { feedHub(.press(command(of: nil))) }
    case 35..<75:
      peers[index].recorded += 1
      let age = milliseconds(0...2000)
      let value = SampleValue.heartRate(bpm: Double(index * 1_000_000) + Double(peers[index].recorded))
      feedPeer(index, .sample(Sample(moment: .at(now + peers[index].clockOffset - age), value: value)))
    case 75..<80: disconnect(index)
    case 80..<84: if peers[index].connection == nil { schedule(.linkUp(index), in: .zero) }
    case 84..<90: request()
    case 90..<92: if peers[index].connection != nil { feedPeer(index, .sendFailed) }
    case 92..<94: repeatHello(index)
    case 94..<96: crash()
    case 96..<98: if hub == nil { startHub() }
    default: break
    }
    schedule(.step, in: milliseconds(1...400))
  }

  private mutating func command(of index: Int?, _ wanted: CommandKind? = nil) -> Command {
    let id = CommandID(high: 4, low: number())
    if let index { peers[index].pressed.append(id) }
    let kinds: [CommandKind] = [.start, .start, .pause, .pause, .resume, .resume, .stop, .lap]
    return Command(id: id, kind: wanted ?? kinds.randomElement(using: &random)!, source: .shell)
  }

  // MARK: The hub

  private mutating func startHub() {
    hubLife += 1
    clock = BusClock.continuing(store.history.clock, real: now, wallSeconds: 0, bootID: "boot", speed: speed)
    hub = HubCore(
      settings: HubCore.Settings(
        deviceID: DeviceID("phone")!, nodeID: NodeID(high: 1, low: 1), storeID: StoreID(high: 1, low: 1),
        debounce: debounce, clock: clock),
      history: store.history, now: clock.bus(at: now))
    feedHub(.started)
  }

  /// kill -9: what is on its way to the disk gets there or not.
  private mutating func crash() {
    guard hub != nil else { return }
    let life = hubLife
    var lost: [[StoreOperation]] = []
    queue.removeAll { happening in
      guard case .committed(life, _, let operations, true) = happening else { return false }
      lost.append(operations)
      return true
    }
    if Bool.random(using: &random) { for operations in lost { store.commit(operations) } }
    hub = nil
    hubLife += 1
    for index in peers.indices { disconnect(index) }
  }

  private mutating func feedHub(_ event: HubCore.Event) {
    guard let actions = hub?.receive(event, at: clock.bus(at: now)) else { return }
    for action in actions {
      switch action {
      case .open: feedHub(.opened(eventsEndpoint: "events"))
      case .send(let frame, let connection): answer(frame, to: connection)
      case .publish(let event): publish(event)
      case .commit(let id, let operations):
        let isWritten = isHealed || Int.random(in: 0..<20, using: &random) > 0
        schedule(
          .committed(life: hubLife, id, operations, isWritten: isWritten), in: milliseconds(0...isSlow()))
      case .receipt(let receipt): check(receipt)
      case .show(let snapshot):
        if snapshot.order <= lastHubOrder { faults.append("hub: \(snapshot.order) after \(lastHubOrder)") }
        lastHubOrder = snapshot.order
        check(snapshot)
      case .forward, .note, .ended: break
      }
    }
  }

  private mutating func isSlow() -> Int64 { Int.random(in: 0..<10, using: &random) == 0 ? 600 : 10 }

  private mutating func answer(_ frame: HubFrame, to connection: ConnectionID) {
    check(frame)
    if connection.isRequest {
      if case .receipt(let receipt) = frame.message, case .verdict(let verdict) = receipt.stage {
        note(verdict)
      }
      return
    }
    let number = connection.route.reduce(0) { $0 << 8 | UInt64($1) }
    guard let index = peers.firstIndex(where: { $0.connection == number }) else {
      return schedule(.gone(life: hubLife, connection), in: milliseconds(0...100))
    }
    schedule(.toPeer(index, connection: number, frame), in: delay(), after: "to \(number)")
  }

  private mutating func publish(_ event: BusEvent) {
    switch event {
    case .snapshot(let message): check(message.snapshot)
    case .receipt(let receipt, _): check(receipt)
    case .command, .presence: break
    }
    for index in peers.indices {
      guard let subscription = peers[index].subscription else { continue }
      // A publication can be lost: the pong heals it.
      if !isHealed, Int.random(in: 0..<10, using: &random) == 0 { continue }
      schedule(.published(index, subscription: subscription, event), in: delay(), after: "sub \(subscription)")
    }
  }

  // MARK: The network

  private mutating func connect(_ index: Int) {
    guard peers[index].connection == nil else { return }
    guard hub != nil else { return schedule(.linkUp(index), in: .milliseconds(200)) }
    peers[index].connection = number()
    feedPeer(index, .linkUp)
  }

  private mutating func disconnect(_ index: Int) {
    guard let number = peers[index].connection else { return }
    peers[index].connection = nil
    peers[index].subscription = nil
    feedPeer(index, .linkDown)
    if Bool.random(using: &random) { schedule(.gone(life: hubLife, route(number)), in: milliseconds(0...3000)) }
    if Bool.random(using: &random) { schedule(.linkUp(index), in: milliseconds(0...8000)) }
  }

  private mutating func repeatHello(_ index: Int) {
    guard let number = peers[index].connection else { return }
    for happening in queue.all {
      guard case .toHub(let connection, let frame) = happening, connection == route(number),
        case .hello = frame.message
      else { continue }
      schedule(.toHub(connection, frame), in: milliseconds(1...500))
    }
  }

  /// A plain REQ: a new one, or one that was sent before and has no answer yet.
  private mutating func request() {
    guard hub != nil else { return }
    let again = requested.keys.filter { answered[$0] == nil }.sorted().first
    let request =
      again.flatMap { Bool.random(using: &random) ? requested[$0] : nil }
      ?? Request(command: command(of: nil), deviceID: DeviceID("script")!, age: milliseconds(0...100))
    requested[request.command.id] = request
    let connection = ConnectionID(route: route(number()).route, isRequest: true)
    schedule(.toHub(connection, PeerFrame(session: 0, sentAt: .zero, message: .request(request))), in: delay())
  }

  private mutating func feedPeer(_ index: Int, _ event: PeerCore.Event) {
    for action in peers[index].core.receive(event, at: now + peers[index].clockOffset) {
      switch action {
      case .send(let frame):
        guard let number = peers[index].connection else { continue }
        schedule(.toHub(route(number), frame), in: delay(), after: "from \(number)")
      case .subscribe: peers[index].subscription = number()
      case .commit(let id, _): feedPeer(index, .committed(id))
      case .receipt(let receipt):
        guard case .verdict(let verdict) = receipt.stage else { continue }
        if peers[index].verdicts[verdict.commandID] != nil { faults.append("\(verdict.commandID): a second verdict") }
        peers[index].verdicts[verdict.commandID] = verdict
      case .show(let snapshot):
        if snapshot.order <= peers[index].lastShown {
          faults.append("peer \(index): \(snapshot.order) after \(peers[index].lastShown)")
        }
        peers[index].lastShown = snapshot.order
        check(snapshot)
      case .hear, .reachability, .note: break
      case .fail(let refusal): faults.append("peer \(index) was refused: \(refusal.message)")
      }
    }
  }

  // MARK: Drawing

  private mutating func schedule(_ happening: Happening, in delay: BusDuration, after line: String? = nil) {
    var time = now + delay
    if let line {
      time = max(time, lastArrival[line] ?? time)
      lastArrival[line] = time
    }
    queue.push(happening, at: time)
  }

  private mutating func delay() -> BusDuration {
    Int.random(in: 0..<20, using: &random) == 0 && !isHealed ? milliseconds(0...2000) : milliseconds(0...20)
  }

  private mutating func milliseconds(_ range: ClosedRange<Int64>) -> BusDuration {
    .milliseconds(.random(in: range, using: &random))
  }

  private mutating func number() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  private func route(_ number: UInt64) -> ConnectionID {
    ConnectionID(route: CommandID(high: 0, low: number).bytes, isRequest: false)
  }
}
