public import RunCore

/// A member of a bus: ``Hub`` and ``Peer`` are its two actors.
public protocol Node: Actor {
  /// Runs the node until its task is cancelled, which ends it gracefully: nothing half-written, sockets gone.
  ///
  /// Throws ``RunBusError/Code/busHeld`` when another hub holds the bus or another process the store, and
  /// ``RunBusError/Code/store``, ``RunBusError/Code/transport`` or ``RunBusError/Code/wireMismatch`` when it cannot go on.
  func run() async throws(RunBusError)

  /// Gives a command and waits for its verdict; cancelling the task stops the waiting, not the command.
  ///
  /// Throws ``RunBusError/Code/closed`` when the node ends first.
  func send(_ command: Command) async throws(RunBusError) -> Verdict

  /// The stages of one command from now on, ending with its verdict. Ask before ``send(_:)`` to see all of them.
  func receipts(for id: CommandID) -> AsyncStream<Receipt>

  /// The stages of all of this node's own commands from now on, in the order in which they are reached; those of its
  /// earlier lives are among them. A reader more than 4,096 behind loses the oldest.
  func ownReceipts() -> AsyncStream<Receipt>

  /// Takes in one sensor reading.
  func add(_ sample: Sample) throws(RunBusError)

  /// Whether readings were taken in that are not durable at the hub yet.
  var hasUnsettledSamples: Bool { get }

  /// Snapshots as they come; a slow reader sees the newest and misses those between.
  func snapshots() -> AsyncStream<Snapshot>

  /// Which sensors the run asks for, as it changes, the present one first; a slow reader sees the newest. Paused, and
  /// without a run, sensors may sleep.
  func sensorDemands() -> AsyncStream<SensorDemand>

  /// Everything this node hears on the bus, snapshots included; a reader more than 1,024 events behind loses the oldest.
  func events() -> AsyncStream<BusEvent>

  /// What becomes of records here from now on: a run that is over is kept, a new version takes its place, its owner
  /// removes it. A reader more than 1,024 behind loses the oldest.
  func recordNews() -> AsyncStream<RecordNews>

  /// Asks this node itself what it holds, as a shell on its machine would. An app of the phone edits, removes and puts in
  /// records so; to read them there is ``records()``.
  func ask(_ inquiry: Inquiry) async -> InquiryAnswer

  /// The last snapshot; ``RunCore/Snapshot/none`` before the first.
  var authoritative: Snapshot { get }

  /// The phase with this node's own unsettled commands applied on top: what a button shows at once.
  var predicted: RunPhase { get }

  /// What bus time is now on the hub's line, as far as this node knows; `nil` before the first snapshot.
  var busNow: BusTime? { get }

  /// How fast bus time runs: the hub's setting, adopted by peers with the welcome; real time before that.
  var speed: BusSpeed { get }

  /// Hands an app's messages to `handler`, one at a time and in order, until the task is cancelled or the node ends.
  ///
  /// A queued message counts as processed once `handler` has returned and that is durable; until then it comes again,
  /// after a crash with the same id. One whose handler throws five times is set aside by its sender. Without a handler
  /// queued messages stay with their sender, live ones are dropped. A node has one handler at a time.
  ///
  /// Throws ``RunBusError/Code/badInput`` when there is one already.
  func handleMessages(
    _ handler: @escaping @Sendable (ReceivedMessage) async throws -> Void
  ) async throws(RunBusError)

  /// The stages of one of this app's messages from now on. Ask before posting it to see all of them.
  func messageReceipts(for id: MessageID) -> AsyncStream<MessageReceipt>

  /// Goes off the air: every socket closes, nothing is forgotten.
  func disconnect()

  /// Comes back on the air.
  func reconnect()
}

/// How a hub is set up.
public struct HubConfiguration: Sendable {
  /// The device's name.
  public var deviceID: DeviceID
  /// The window in bus time; zero turns it off.
  public var debounce: BusDuration
  /// How fast bus time runs.
  public var speed: BusSpeed
  /// How the numbers are computed: the runner's weight, auto-pause.
  public var metrics: MetricsSettings
  /// What becomes of a run that was on when the hub died.
  public var recovery: RecoveryChoice
  /// Whether the time without a hub counts as active in a run that goes on.
  public var downtime: Downtime
  /// The version of the app, as records name it; at most 64 bytes.
  public var appVersion: String

  /// The usual window at real speed; no weight is known, only people pause, and a run goes on after a crash.
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
  /// What it wants to hear; empty for a sender that only asks.
  public var topics: [Topic]
  /// A sender of one command: no member of the bus, presence does not speak of it.
  public var isOneShot: Bool
  /// How long the hub may be silent while a run is on before ``Peer/hubLost()`` says so, in real time. Three missed
  /// heartbeats (6 s) are the least, however short this is.
  public var hubLostAfter: BusDuration

  /// A peer that hears snapshots, and raises the alarm after ten minutes of silence.
  public init(
    deviceID: DeviceID, role: NodeRole, topics: [Topic] = [.snapshots], isOneShot: Bool = false,
    hubLostAfter: BusDuration = .seconds(600)
  ) {
    self.hubLostAfter = hubLostAfter
    self.deviceID = deviceID
    self.role = role
    self.topics = topics
    self.isOneShot = isOneShot
  }
}

/// How a peer stands to its hub.
public struct Reachability: Hashable, Sendable {
  /// The hub has answered lately.
  public var isReachable: Bool
  /// Real time since anything was heard from it; `nil` if it never was.
  public var lastHeardAge: BusDuration?
  /// The last round trip; `nil` if there was none.
  public var roundTrip: BusDuration?
}
