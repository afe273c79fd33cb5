package import RunBus

/// The disk of a hub that a test kills.
package protocol JournalDisk {
  /// Makes all operations durable, or none.
  mutating func commit(_ operations: [StoreOperation])
  /// The hub has died: from here on only what was durable can be read.
  mutating func crash()
  /// What the next incarnation reads.
  var history: HubHistory { get }
}

/// A modelled run of 16 s with a hub, which measures and is killed at a chosen commit, and a watch, which measures,
/// presses and stays alive. The cores are the real ones; the link takes no time; the test chooses the disk.
///
/// Presses and readings happen at the same moments whether or not the hub is alive.
package struct JournalledRun<Disk: JournalDisk> {
  /// A death of the hub.
  package struct Death: Hashable, Sendable {
    /// When the hub dies, relative to a commit.
    package enum Moment: CaseIterable, Sendable {
      /// The commit is lost.
      case before
      /// The commit is durable, but the hub dies before it learns of it.
      case after
      /// The hub has carried out the effects that waited for the commit.
      case told
    }
    /// The number of the commit in this run, from 1.
    package var commit: Int
    /// When the hub dies, relative to the commit.
    package var moment: Moment
    /// How long the hub is dead.
    package var away: BusDuration
    /// Whether its machine reboots meanwhile: then the monotonic clock starts at five seconds.
    package var isReboot: Bool
    /// How far the wall clock is set meanwhile, in seconds.
    package var wallJumpSeconds: Double

    /// Creates a death.
    package init(
      commit: Int, _ moment: Moment, away: BusDuration, isReboot: Bool = false, wallJumpSeconds: Double = 0
    ) {
      self.commit = commit
      self.moment = moment
      self.away = away
      self.isReboot = isReboot
      self.wallJumpSeconds = wallJumpSeconds
    }
  }

  private enum Step {
    case press(CommandKind)
    /// The watch measures the heart rate.
    case beat
    /// The hub measures a position.
    case fix
    /// The lap button of the hub itself.
    case ownLap
  }

  /// What has happened so far.
  package private(set) var outcome = RunOutcome()
  /// How many commits the hub has asked for.
  package private(set) var commits = 0
  private var disk: Disk
  private let downtime: Downtime
  private var deaths: [Death]
  private var now = BusTime.zero + .seconds(1000)
  private var hub: HubCore?
  private var clock = BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime)
  private var mark: ClockMark?
  private var peer: PeerCore
  private var flight: (id: CommitID, operations: [StoreOperation])?
  private var backAt: BusTime?
  private var boot = 1
  /// The hub's monotonic clock minus the world's.
  private var realShift = BusDuration.zero
  private var wallShift = 0.0
  private var connection: UInt8 = 0
  private var agenda: ArraySlice<(time: BusTime, step: Step)>
  private var fixes = 0

  private static var steps: [(time: BusTime, step: Step)] {
    let presses: [(Int64, Step)] = [
      (1_000, .press(.start)), (6_200, .press(.pause)), (9_700, .press(.resume)), (11_300, .press(.lap)),
      (13_900, .ownLap), (16_300, .press(.stop)),
    ]
    let beats = (2...16).map { (Int64($0) * 1000 + 50, Step.beat) }
    let fixes = (1...16).map { (Int64($0) * 1000 + 520, Step.fix) }
    return (presses + beats + fixes).sorted { $0.0 < $1.0 }
      .map { (.zero + .seconds(1000) + .milliseconds($0), $1) }
  }

  /// Plays the run.
  ///
  /// - Parameter deaths: in the order of their commits. Two may name the same commit: then the second one falls on
  ///   the next incarnation's first commit.
  package init(on disk: Disk, dying deaths: [Death] = [], downtime: Downtime = .paused) {
    self.disk = disk
    self.deaths = deaths
    self.downtime = downtime
    agenda = Self.steps[...]
    peer = PeerCore(
      settings: PeerCore.Settings(
        deviceID: .watch, role: .watch, nodeID: NodeID(high: 3, low: 1), storeID: StoreID(high: 2, low: 1), topics: [],
        seed: 1),
      now: now)
    perform(peer.receive(.started, at: now))
    begin()
    // Long enough for a hub that is dead, and for everything that is owed when it is back.
    let end = now + .seconds(90)
    while let next = nextMoment, next <= end {
      now = max(now, next)
      pass()
    }
    now = end
    finish()
  }

  private var nextMoment: BusTime? {
    [agenda.first?.time, backAt, hub?.deadline.map { clock.real(at: $0) - realShift }, peer.deadline]
      .compactMap { $0 }.min()
  }

  private mutating func pass() {
    if let back = backAt, back <= now {
      backAt = nil
      begin()
    }
    while let first = agenda.first, first.time <= now {
      agenda.removeFirst()
      take(first.step)
    }
    if let due = peer.deadline, due <= now { feedPeer(.deadline) }
    if let due = hub?.deadline, clock.real(at: due) - realShift <= now { feedHub(.deadline) }
  }

  private mutating func take(_ step: Step) {
    switch step {
    case .press(let kind):
      let id = CommandID(high: 4, low: UInt64(outcome.pressed.count) + 1)
      outcome.pressed.append(id)
      feedPeer(
        .press(Command(id: id, kind: kind, source: .watch, runID: kind == .start ? RunID(high: 9, low: 1) : nil)))
    case .beat:
      let beat = 100 + Double((now - BusTime.zero).nanoseconds / 1_000_000_000 % 60)
      feedPeer(.sample(Sample(moment: .at(now), value: .heartRate(bpm: beat))))
    case .fix:
      fixes += 1
      guard hub != nil else { return }
      let position = Position(latitude: 52, longitude: 13 + Double(fixes) * 0.00004)
      feedHub(.sample(Sample(moment: .at(real), value: .position(position))))
    case .ownLap: feedHub(.press(Command(id: RunOutcome.ownLap, kind: .lap, source: .phone)))
    }
  }

  // MARK: The hub

  private var real: BusTime { now + realShift }
  private var wallSeconds: Double { 1_000_000 + (now - BusTime.zero).seconds + wallShift }
  private var bootID: String { "boot \(boot)" }
  private var side: ConnectionID { ConnectionID(route: [connection], isRequest: false) }

  private mutating func begin() {
    var history = disk.history
    // The test decides which boot this is.
    history.clock = mark
    clock = BusClock.continuing(
      mark, lastSign: history.lastSign, real: real, wallSeconds: wallSeconds, bootID: bootID, speed: .realTime)
    if outcome.backs.count < outcome.deaths.count { outcome.backs.append(clock.bus(at: real)) }
    hub = HubCore(
      settings: HubCore.Settings(
        deviceID: .phone, nodeID: NodeID(high: 1, low: 1), storeID: StoreID(high: 1, low: 1),
        debounce: .milliseconds(500), clock: clock, recovery: .resume, downtime: downtime, seed: history.term),
      history: history, now: clock.bus(at: real), wallSeconds: wallSeconds, bootID: bootID)
    feedHub(.started)
  }

  private mutating func feedHub(_ event: HubCore.Event) {
    guard var core = hub else { return }
    let actions = core.receive(event, at: clock.bus(at: real))
    hub = core
    for action in actions where hub != nil { perform(action) }
  }

  private mutating func perform(_ action: HubCore.Action) {
    switch action {
    case .open:
      feedHub(.opened(eventsEndpoint: "events"))
      connection += 1
      feedPeer(.linkUp)
    case .send(let frame, let connection): if connection == side { feedPeer(.frame(frame)) }
    case .commit(let id, let operations): commit(id, operations)
    case .show(let snapshot): outcome.see(snapshot)
    case .receipt(let receipt): if receipt.stage == .pending { outcome.isOwnLapPromised = true }
    case .readJournal(let run): feedHub(.journal(run, disk.history.presentRun == run ? disk.history.journal : []))
    case .forward, .publish, .messageReceipt, .refusePost, .hand, .keep, .spooledCommandJudged, .answer, .readRecord,
      .record, .recovered, .admit, .cutConnections, .useNextKey, .listenForPairing, .forbade, .showLive, .note, .room,
      .ended:
      break
    }
  }

  private mutating func commit(_ id: CommitID, _ operations: [StoreOperation]) {
    commits += 1
    let death = deaths.first.flatMap { $0.commit <= commits ? $0 : nil }
    if death?.moment == .before { return die() }
    disk.commit(operations)
    for case .setClock(let real, let bus) in operations {
      mark = ClockMark(real: real, bus: bus, bootID: bootID, wallSeconds: wallSeconds)
    }
    if death?.moment == .after { return die() }
    feedHub(.committed(id))
    if death?.moment == .told { die() }
  }

  private mutating func die() {
    guard hub != nil, !deaths.isEmpty else { return }
    let death = deaths.removeFirst()
    outcome.deaths.append(clock.bus(at: real))
    let known = disk.history
    outcome.knewOfRun.append(known.presentRun != nil || !known.accepted.isEmpty)
    hub = nil
    disk.crash()
    backAt = now + death.away
    wallShift += death.wallJumpSeconds
    if death.isReboot {
      boot += 1
      // The clock shows five seconds when the hub is back.
      realShift = .seconds(5) - (now + death.away - BusTime.zero)
    }
    feedPeer(.linkDown)
  }

  // MARK: The watch

  private mutating func feedPeer(_ event: PeerCore.Event) { perform(peer.receive(event, at: now)) }

  private mutating func perform(_ actions: [PeerCore.Action]) {
    for action in actions {
      switch action {
      case .send(let frame): feedHub(.frame(side, frame))
      // The watch's disk is not under test.
      case .commit(let id, _): feedPeer(.committed(id))
      case .receipt(let receipt): if case .verdict(let verdict) = receipt.stage { outcome.hear(verdict) }
      case .subscribe, .messageReceipt, .refusePost, .hand, .spooledCommandJudged, .answer, .answered, .readRecord,
        .record,
        .show, .showLive, .hear, .reachability, .view, .hubLost, .met, .enrolled, .fail, .note, .ended:
        break
      }
    }
  }

  private mutating func finish() {
    feedHub(.makeDueRecords)
    outcome.read(disk.history, metrics: hub?.authoritative.metrics ?? RunMetrics())
    if peer.unjudgedCount > 0 || peer.spooledCount > 0 {
      outcome.faults.append("\(peer.unjudgedCount) presses and \(peer.spooledCount) readings are left at the watch")
    }
  }
}

extension DeviceID {
  fileprivate static var watch: DeviceID { "watch" }
  fileprivate static var phone: DeviceID { "phone" }
}
