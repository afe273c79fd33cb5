public import RunCore

/// A member of a bus. The actors ``Hub`` and ``Peer`` are its two implementations.
///
/// A node works while ``run()`` runs. The other methods may be called from other tasks meanwhile:
///
/// ```swift
/// try await withNode(watch) {
///   let verdict = try await watch.send(Command(.start, source: .watch))
///   print(verdict.message)
/// }
/// ```
///
/// What a node has is grouped: ``outbox``, ``records``, ``messages``, and ``Hub/devices`` on a hub. Everything waits for
/// a node that has not begun, and throws when it has ended. The streams of a node end when the node ends. A stream that
/// is asked for later ends at once.
public protocol Node: Actor {
  /// The device that the node is.
  nonisolated var deviceID: DeviceID { get }

  /// Runs the node until its task is cancelled. Cancelling ends it in good order: open commits are written, the other
  /// side is told, the connections are closed, and `run()` returns normally. The node's streams end with it.
  ///
  /// When `run()` throws, calls that wait, such as ``ready()`` and ``send(_:)``, throw the same error. A node runs
  /// once.
  ///
  /// - Throws: ``RunBusError/Code/busHeld`` or ``RunBusError/Code/addressInUse`` when another hub is there;
  ///   ``RunBusError/Code/store``, ``RunBusError/Code/transport`` or ``RunBusError/Code/wireMismatch`` when the node
  ///   cannot begin or go on; ``RunBusError/Code/closed`` when it was run before.
  func run() async throws(RunBusError)

  /// Adds sensor readings: all of them, or none when one is refused. A node that has not begun is waited for.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` for a value that no sensor gives; ``RunBusError/Code/full`` when there is no
  ///   room for all of them (a peer keeps 36,000 until the hub has acknowledged them); ``RunBusError/Code/closed``, or
  ///   the error that ended the node, when it has ended; `CancellationError` when the task is cancelled before the node
  ///   has begun.
  func add(_ samples: [Sample]) async throws

  /// Whether readings that the node has taken in are not durable at the hub yet, or their effect is not published yet.
  var hasPendingSamples: Bool { get }

  /// The clock of the run, for a screen: elapsed and active time at any instant, without a call into the node.
  nonisolated var runClock: RunClock { get }

  /// The last snapshot; ``RunCore/Snapshot/none`` before the first.
  var authoritative: Snapshot { get }

  /// The phase with this node's own unanswered commands applied on top, as a button should show it at once.
  var predicted: RunPhase { get }

  /// The present bus time as far as this node knows it; `nil` before the first snapshot.
  var busNow: BusTime? { get }

  /// How fast bus time runs. A peer adopts the hub's setting with the welcome; before that it is real time.
  var speed: BusSpeed { get }

  /// Closes all connections to the bus. The node keeps its state and goes on collecting commands and readings.
  func disconnect()

  /// Connects again after ``disconnect()``.
  func reconnect()

  /// What the extensions of this protocol work with. Only RunBus makes one: ``Hub`` and ``Peer`` are the only nodes.
  nonisolated var internals: NodeInternals { get }
}

/// What both kinds of node have in common; see ``Node/internals``.
public struct NodeInternals: Sendable {
  let node: any DrivenNode
}

extension Node {
  /// Returns when the node takes commands and readings: a hub when peers can connect to it, a peer when its store is
  /// open, whether the hub is in reach or not. Returns at once when that has happened.
  ///
  /// - Throws: ``RunBusError/Code/closed``, or the error that ended the node, when it ends first; `CancellationError`
  ///   when the task is cancelled.
  public func ready() async throws { try await internals.node.readiness.wait(isolation: self) }

  // MARK: Commands

  /// Gives a command and waits for its verdict.
  ///
  /// The verdict comes when the hub's window of ``HubConfiguration/debounce`` is over (500 ms unless set otherwise).
  /// ``predicted`` has the expected phase at once. On a peer the command is durable before it is sent. While the hub is
  /// out of reach it waits in the outbox, also over a restart of the peer.
  ///
  /// Cancelling the task ends only the waiting: the command stays valid, the node delivers it, and it may take effect.
  /// A task that is cancelled before the call gives no command. ``receipts(for:)`` and ``ownReceipts()`` still report
  /// its verdict, and ``NodeOutbox/cancel(_:)-(CommandID)`` takes it back as long as it was never sent.
  ///
  /// - Returns: What became of the command. A rejected command is no error.
  /// - Throws: `CancellationError` when the task is cancelled, ``RunBusError/Code/closed`` when the node ends first,
  ///   ``RunBusError/Code/full`` when 1,024 commands of a peer are waiting.
  public func send(_ command: Command) async throws -> Verdict { try await internals.node.judged(command).verdict }

  /// Gives a command as ``send(_:)`` does, and waits for the receipt of its last stage, as ``receipts(for:)`` ends with
  /// it: the verdict with the age of its effect.
  ///
  /// - Throws: As ``send(_:)``.
  public func sendForReceipt(_ command: Command) async throws -> Receipt {
    try await internals.node.judged(command).receipt
  }

  /// The stages of one command from now on, ending with its verdict. Call this before ``send(_:)`` to see all stages.
  /// A reader more than 16 stages behind loses the oldest, never the verdict.
  public func receipts(for id: CommandID) -> AsyncStream<Receipt> { internals.node.broadcaster.receipts(for: id) }

  /// The stages of all of this node's own commands from now on, in the order in which they are reached. Commands that
  /// were given before the node was restarted are included. A reader more than 4,096 behind loses the oldest.
  ///
  /// A node that is killed after it has reported a verdict, and before that is durable, reports it again after its
  /// restart. The verdict is the same both times.
  public func ownReceipts() -> AsyncStream<Receipt> { internals.node.broadcaster.ownReceipts() }

  // MARK: Readings

  /// Adds one sensor reading; see ``add(_:)-([Sample])``.
  public func add(_ sample: Sample) async throws { try await add([sample]) }

  /// Which sensors the run needs: the present demand first, then each change. A slow reader gets the newest. Sensors
  /// may sleep while the run is paused or no run is on.
  public func sensorDemands() -> AsyncStream<SensorDemand> {
    internals.node.broadcaster.sensorDemands(first: authoritative.sensors)
  }

  // MARK: The run

  /// The stream of snapshots, the present one first. A slow reader gets the newest and misses those between.
  public func snapshots() -> AsyncStream<Snapshot> {
    internals.node.assumeIsolated { $0.snapshotUpdates() }
  }

  /// The route of the present run as it grows and changes. The first update has all points, and a later one the points
  /// that are new or have changed; see ``RunCore/RouteUpdate``. When the hub was out of reach, the stream goes on with
  /// what was missed. A slow reader gets fewer and larger updates.
  ///
  /// A peer subscribes to it, whether or not ``PeerConfiguration/topics`` contains it. Over a transport without events
  /// the stream has news only while the run is not running.
  public func route() -> AsyncStream<RouteUpdate> {
    internals.node.assumeIsolated { $0.routeUpdates() }
  }

  /// Kilometres, miles and laps of the present run: the present ones first, then each change, which is told with the
  /// next snapshot. On a peer the stream waits while the hub is out of reach. A slow reader gets the newest.
  public func splits() -> AsyncStream<RunSplits> {
    internals.node.assumeIsolated { $0.splitUpdates() }
  }

  /// What a lock screen shows of the present run: the present state first, then each change. The hub decides what is
  /// pushed when (``HubConfiguration/liveActivity``); a peer needs the topic ``RunCore/Topic/live`` for it, and adds its
  /// own presses and whether the hub is silent. A slow reader gets the newest. ``liveActivityStates()`` has the same in
  /// the form that a lock screen takes.
  public func liveActivities() -> AsyncStream<LiveActivity> {
    internals.node.assumeIsolated { $0.lockScreenUpdates() }
  }

  /// The numbers of the present run with their splits, laps and parts; `nil` before the first run. A peer asks its hub
  /// and waits until the hub is in reach.
  ///
  /// - Throws: As ``peers()``.
  public func report() async throws -> RunReport? { try await internals.node.askHub(.report) }

  /// The numbers of the present run over time, or of the last one; `nil` before the first run. Waits and throws as
  /// ``report()`` does.
  package func series() async throws -> RunSeries? { try await internals.node.askHub(.series) }

  /// The route of the present run from an index on; `nil` before the first run. Waits and throws as ``report()`` does.
  package func routePart(from index: Int) async throws -> RoutePart? {
    try await internals.node.askHub(.route(from: index))
  }

  // MARK: The bus

  /// Everything that this node receives from the bus, snapshots included. A reader more than 1,024 events behind loses
  /// the oldest.
  public func events() -> AsyncStream<BusEvent> { internals.node.broadcaster.events() }

  /// The devices that the hub knows, by name. A peer asks its hub and waits until the hub is in reach.
  ///
  /// - Throws: `CancellationError` when the task is cancelled; ``RunBusError/Code/closed``, or the error that ended the
  ///   node, when it has ended.
  public func peers() async throws -> [PeerReport] { try await internals.node.askHub(.peers) }
}

/// How a hub is set up.
public struct HubConfiguration: Sendable {
  /// The device's name.
  public var deviceID: DeviceID
  /// The length of the debounce window in bus time; zero turns it off.
  public var debounce: BusDuration
  /// How fast bus time runs.
  public var speed: BusSpeed
  /// How the numbers are computed: the runner's weight, auto-pause.
  public var metrics: MetricsSettings
  /// How the hub treats a run that was on when the hub died.
  public var recovery: RecoveryChoice
  /// Whether the time without a hub counts as active in a run that is resumed.
  public var downtime: Downtime
  /// The version of the app that is written into records; at most 64 bytes.
  public var appVersion: String
  /// How often lock screens are pushed to.
  public var liveActivity = LivePolicy()
  /// How the hub takes part in rooms; `nil` for a hub that does not.
  package var together: TogetherMember?

  /// The defaults: a window of 500 ms, real time, no known weight, no auto-pause, and a run resumes after a crash.
  public init(
    deviceID: DeviceID, debounce: BusDuration = .milliseconds(500), speed: BusSpeed = .realTime,
    metrics: MetricsSettings = MetricsSettings(), recovery: RecoveryChoice = .resume, downtime: Downtime = .paused,
    appVersion: String = runBusVersion
  ) {
    self.metrics = metrics
    self.recovery = recovery
    self.downtime = downtime
    self.appVersion = appVersion
    self.deviceID = deviceID
    self.debounce = debounce
    self.speed = speed
  }
}

/// How a peer is set up.
public struct PeerConfiguration: Sendable {
  /// The device's name.
  public var deviceID: DeviceID
  /// What kind of node it is.
  public var role: NodeRole
  /// The topics to subscribe to.
  public var topics: [Topic]
  /// How long the hub may be silent while a run is on before ``Peer/hubLost()`` reports it, in real time. The minimum
  /// is three missed heartbeats (6 s); a shorter value counts as that.
  public var hubLostAfter: BusDuration

  /// The defaults: snapshots only, and an alarm after ten minutes of silence.
  public init(
    deviceID: DeviceID, role: NodeRole, topics: [Topic] = [.snapshots],
    hubLostAfter: BusDuration = .seconds(600)
  ) {
    self.hubLostAfter = hubLostAfter
    self.deviceID = deviceID
    self.role = role
    self.topics = topics
  }
}
