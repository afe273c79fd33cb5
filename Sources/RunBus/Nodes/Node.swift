public import RunCore

/// A member of a bus. The actors ``Hub`` and ``Peer`` are its two implementations.
///
/// A node works while ``run()`` runs. The other methods may be called from other tasks meanwhile:
///
/// ```swift
/// try await withThrowingTaskGroup(of: Void.self) { group in
///   defer { group.cancelAll() }  // ends the node gracefully
///   group.addTask { try await node.run() }
///   let verdict = try await node.send(Command(.start, source: .watch))
///   print(verdict.message)
/// }
/// ```
///
/// A ``Peer`` posts messages to its hub with ``Peer/post(_:by:)``, a ``Hub`` to one of its devices with
/// ``Hub/post(_:by:to:)``. The streams of a node end when the node ends. A stream that is asked for later ends at once.
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

  /// Returns when the node takes commands and readings: a hub when peers can connect to it, a peer when its store is
  /// open, whether the hub is in reach or not. Returns at once when that has happened.
  ///
  /// - Throws: ``RunBusError/Code/closed``, or the error that ended the node, when it ends first; `CancellationError`
  ///   when the task is cancelled.
  func ready() async throws

  /// Gives a command and waits for its verdict.
  ///
  /// The verdict comes when the hub's window of ``HubConfiguration/debounce`` is over (500 ms unless set otherwise).
  /// ``predicted`` has the expected phase at once.
  ///
  /// Cancelling the task ends only the waiting: the command stays valid, the node delivers it, and it may take effect.
  /// A task that is cancelled before the call gives no command. ``receipts(for:)`` and ``ownReceipts()`` still report
  /// its verdict, and ``cancel(_:)-(CommandID)`` takes it back as long as it was never sent.
  ///
  /// - Returns: What became of the command. A rejected command is no error.
  /// - Throws: `CancellationError` when the task is cancelled, ``RunBusError/Code/closed`` when the node ends first.
  func send(_ command: Command) async throws -> Verdict

  /// The stages of one command from now on, ending with its verdict. Call this before ``send(_:)`` to see all stages.
  /// A reader more than 16 stages behind loses the oldest, never the verdict.
  func receipts(for id: CommandID) -> AsyncStream<Receipt>

  /// The stages of all of this node's own commands from now on, in the order in which they are reached. Commands that
  /// were given before the node was restarted are included. A reader more than 4,096 behind loses the oldest.
  ///
  /// A node that is killed after it has reported a verdict, and before that is durable, reports it again after its
  /// restart. The verdict is the same both times.
  func ownReceipts() -> AsyncStream<Receipt>

  /// Adds one sensor reading.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` for a value that no sensor gives, ``RunBusError/Code/closed`` when the
  ///   node does not run, ``RunBusError/Code/full`` when too many readings wait.
  func add(_ sample: Sample) throws(RunBusError)

  /// Adds sensor readings: all of them, or none when one is refused.
  ///
  /// - Throws: As ``add(_:)-(Sample)``; ``RunBusError/Code/full`` when there is no room for all of them.
  func add(_ samples: [Sample]) throws(RunBusError)

  /// Whether the node has added readings that are not durable at the hub yet.
  var hasPendingSamples: Bool { get }

  /// The stream of snapshots. A slow reader gets the newest and misses those between.
  func snapshots() -> AsyncStream<Snapshot>

  /// The clock of the run, for a screen: elapsed and active time at any instant, without a call into the node.
  nonisolated var runClock: RunClock { get }

  /// The route of the present run as it grows and changes. The first update has all points, and a later one the points
  /// that are new or have changed; see ``RunCore/RouteUpdate``. When the hub was out of reach, the stream goes on with what was
  /// missed. A slow reader gets fewer and larger updates.
  func route() -> AsyncStream<RouteUpdate>

  /// Kilometres, miles and laps of the present run: the present ones first, then each change, which is told with the
  /// next snapshot. On a peer the stream waits while the hub is out of reach. A slow reader gets the newest.
  func splits() -> AsyncStream<RunSplits>

  /// What a lock screen shows of the present run: the present state first, then each change. The hub decides what is
  /// pushed when (``HubConfiguration/liveActivity``); a peer needs the topic ``RunCore/Topic/live`` for it, and adds its
  /// own presses and whether the hub is silent. A slow reader gets the newest. ``liveActivityStates()`` has the same in
  /// the form that a lock screen takes.
  func liveActivities() -> AsyncStream<LiveActivity>

  /// Which sensors the run needs: the present demand first, then each change. A slow reader gets the newest. Sensors
  /// may sleep while the run is paused or no run is on.
  func sensorDemands() -> AsyncStream<SensorDemand>

  /// Everything that this node learns from now on, in order, what is known now first: one stream for a screen, and for a
  /// ``RunCore/RunBoard`` that folds it.
  ///
  /// - Parameter questions: What the stream asks the hub for beside what comes by itself; ``news()`` asks for all of it.
  func news(asking questions: NewsQuestions) -> NewsStream

  /// Everything that this node receives from the bus, snapshots included. A reader more than 1,024 events behind loses
  /// the oldest.
  func events() -> AsyncStream<BusEvent>

  /// What happens to the records of this node from now on: a run is kept, a new version replaces a record, a record is
  /// removed. A reader more than 1,024 behind loses the oldest.
  func recordNews() -> AsyncStream<RecordNews>

  /// The devices that the hub knows, by name. A peer asks its hub and waits until the hub is in reach.
  ///
  /// - Throws: `CancellationError` when the task is cancelled, ``RunBusError/Code/closed`` when the node does not run.
  func peers() async throws -> [PeerReport]

  /// The numbers of the present run with their splits, laps and parts; `nil` before the first run. A peer asks its hub
  /// and waits until the hub is in reach.
  ///
  /// - Throws: As ``peers()``.
  func report() async throws -> RunReport?

  /// What waits in this node's outbox, oldest first; the readings for one receiver are one entry.
  ///
  /// - Throws: ``RunBusError/Code/closed`` when the node does not run.
  func outbox() async throws(RunBusError) -> [OutboxReport]

  /// Cancels a command of this node that was never sent. Its verdict is then `rejected(cancelled)`.
  ///
  /// - Throws: ``RunBusError/Code/tooLate`` when it may have been sent, ``RunBusError/Code/notFound`` when no such
  ///   command waits here, ``RunBusError/Code/closed`` when the node does not run.
  func cancel(_ command: CommandID) async throws(RunBusError)

  /// Cancels a queued message of this node that was never sent.
  ///
  /// - Throws: As ``cancel(_:)-(CommandID)``.
  func cancel(_ message: MessageID) async throws(RunBusError)

  /// The messages in quarantine, oldest first: each was refused five times by its receiver's handler.
  ///
  /// - Throws: ``RunBusError/Code/closed`` when the node does not run.
  func quarantine() async throws(RunBusError) -> [QuarantineReport]

  /// Sends a message in quarantine again, under a new id.
  ///
  /// - Returns: The new id.
  /// - Throws: ``RunBusError/Code/notFound`` when it is not in quarantine or its receiver is unknown,
  ///   ``RunBusError/Code/full`` when the outbox is full, ``RunBusError/Code/closed`` when the node does not run.
  @discardableResult
  func retry(_ message: MessageID) async throws(RunBusError) -> MessageID

  /// Deletes a message in quarantine.
  ///
  /// - Throws: ``RunBusError/Code/notFound`` when it is not in quarantine, ``RunBusError/Code/closed`` when the node
  ///   does not run.
  func discard(_ message: MessageID) async throws(RunBusError)

  /// The summaries of the records that this node keeps, oldest first: on a hub all of the bus, on a peer those that it
  /// has received. Empty when the node does not run.
  func records() async throws(RunBusError) -> [RecordSummary]

  /// The record of a run with its splits, laps, route and series; `nil` when this node keeps none or does not run.
  ///
  /// - Throws: ``RunBusError/Code/store`` when it cannot be read.
  func record(of run: RunID) async throws(RunBusError) -> RunRecord?

  /// The last snapshot; ``RunCore/Snapshot/none`` before the first.
  var authoritative: Snapshot { get }

  /// The phase with this node's own unanswered commands applied on top, as a button should show it at once.
  var predicted: RunPhase { get }

  /// The present bus time as far as this node knows it; `nil` before the first snapshot.
  var busNow: BusTime? { get }

  /// How fast bus time runs. A peer adopts the hub's setting with the welcome; before that it is real time.
  var speed: BusSpeed { get }

  /// Passes an app's messages to `handler`, one at a time and in order, until the task is cancelled or the node ends.
  ///
  /// A queued message counts as processed when `handler` has returned and the node has stored that. Until then it is
  /// delivered again, with the same id, also after a crash. Its sender sets a message aside when the handler has thrown
  /// five times for it. While a node has no handler, queued messages stay with their sender and live ones are dropped.
  ///
  /// The handler does not get messages whose name has a stream of its own (``messages(named:as:using:)``). With such
  /// streams it is the handler of all other names.
  ///
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when the node has a handler already: it can have one at a time.
  func handleMessages(
    _ handler: @escaping @Sendable (ReceivedMessage) async throws -> Void
  ) async throws(RunBusError)

  /// The messages of one name, with contents that `decode` makes of them; ``messages(named:as:using:)`` is the usual
  /// way and says what counts as processed.
  ///
  /// - Parameters:
  ///   - name: The name of the messages.
  ///   - decode: Makes the content of a message. When it throws, the message counts as one whose handler failed.
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when this name has a reader already.
  nonisolated func messages<Content>(
    named name: MessageName, decodedBy decode: @escaping @Sendable (AppMessage) throws -> Content
  ) throws(RunBusError) -> IncomingMessages<Content>

  /// Answers questions with the bytes that `answer` returns; ``replies(to:taking:_:)`` is the usual way and says more.
  ///
  /// - Parameters:
  ///   - name: The name of the questions.
  ///   - answer: Makes the answer to a question, at most 32,751 bytes. When it throws, the other side's request throws
  ///     ``RunBusError/Code/refused``.
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when questions of this name have a handler already.
  func replies(
    to name: MessageName, _ answer: @escaping @Sendable (ReceivedMessage) async throws -> [UInt8]
  ) async throws(RunBusError)

  /// The stages of one of this app's messages from now on, ending with its last. Call this before posting the message
  /// to see all stages.
  ///
  /// After a restart of the node it works with the id of a message that was posted before: it tells the stages that are
  /// still to come and repeats none. For a message that has reached its last stage, or is not known here, the stream
  /// stays empty until the node ends; ``outbox()`` lists the messages that still wait.
  func messageReceipts(for id: MessageID) -> AsyncStream<MessageReceipt>

  /// Closes all connections to the bus. The node keeps its state and goes on collecting commands and readings.
  func disconnect()

  /// Connects again after ``disconnect()``.
  func reconnect()
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
