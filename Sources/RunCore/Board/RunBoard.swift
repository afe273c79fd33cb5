/// What a screen of a run shows, folded from the news of one node: the state of the run, the devices with their ages,
/// the latest commands with what became of them, the route, and how far all of it can be trusted.
///
/// ```swift
/// var board = RunBoard(own: "watch")
/// board.receive(.snapshot(snapshot), at: now)
/// print(board.snapshot.phase, board.commands.first?.receipt.stage as Any)
/// ```
///
/// It is a pure value: the same news at the same moments make the same board. Moments are real time of any origin, by a
/// clock that is not set.
///
/// A board changes more often than a text that is made of it. While a run is on, its metrics come every three seconds; a
/// clock that ticks in between is the node's `runClock`. The boards of two devices that agree have equal snapshots and
/// receipts; `own`, ages and what only one of them has heard differ.
public struct RunBoard: Hashable, Sendable {
  /// A device as the hub last spoke of it.
  public struct Device: Hashable, Sendable {
    /// What the hub said.
    public fileprivate(set) var report: PeerReport
    /// When it said so.
    public fileprivate(set) var toldAt: BusTime
  }

  /// A recent command, with its latest stage.
  public struct Press: Hashable, Sendable {
    /// The latest stage.
    public fileprivate(set) var receipt: Receipt
    /// The device that it came from.
    public let deviceID: DeviceID
    /// When the node first heard of it.
    public let heardAt: BusTime
    /// Whether the node has told its stages as those of a command of its own, so that its verdict comes for certain.
    public fileprivate(set) var isOwn: Bool
    /// Whether the hub was out of reach, or began anew, since the node heard of it.
    fileprivate var hasLostTrack = false
    /// Whether a snapshot names it as its last change: it was applied, also where its verdict was not heard.
    public fileprivate(set) var isApplied = false

    /// Whether its verdict has not come.
    public var isOpen: Bool { if case .verdict = receipt.stage { false } else { true } }
  }

  /// Something in a room that the runner should notice.
  public struct Cue: Hashable, Sendable {
    /// What it is.
    public let cue: RoomCue
    /// When the node heard of it.
    public let heardAt: BusTime
  }

  /// The most commands that are kept.
  public static let commandsMax = 50

  /// How long a verdict that is only published may take. A window is over within seconds.
  public static let verdictPatience = BusDuration.seconds(30)

  /// The device of the node.
  public let own: DeviceID
  /// The state of the run; ``Snapshot/none`` before the first.
  public private(set) var snapshot = Snapshot.none
  /// The phase with the node's own unanswered commands applied on top, as a button should show it.
  public private(set) var predicted = RunPhase.idle
  /// Whether the hub is in reach.
  public private(set) var link = Reachability()
  /// Whether it ever was.
  public private(set) var hasBeenReached = false
  /// Whether the state may be old.
  public private(set) var view = ViewState(age: nil, isStale: false, isHubOffDuty: false)
  /// The alarm that the hub is lost, until it is heard again.
  public private(set) var lost: HubLost?
  /// What a lock screen shows; `nil` before the first push.
  public private(set) var lockScreen: LiveActivity?
  /// The devices that the hub knows; `nil` before it has named them.
  public private(set) var devices: [Device]?
  /// The latest commands of all devices, the newest first.
  public private(set) var commands: [Press] = []
  /// The route of the present run.
  public private(set) var route: [RoutePoint] = []
  /// Whether ``route`` is whole as of the hub's last message.
  public private(set) var isRouteComplete = false
  /// The room in which the runner is, or was last, as the hub spoke of it; `nil` before it has.
  public private(set) var room: RoomView?
  /// When ``room`` came.
  public private(set) var roomAt = BusTime.zero
  /// The last thing in a room that the runner should notice.
  public private(set) var cue: Cue?
  /// The kilometres, miles and laps of the present run.
  public private(set) var splits = RunSplits()
  /// Grows with each change of ``route``.
  public private(set) var routeEdition = 0
  /// Grows with each change of the record of the present run.
  public private(set) var recordEdition = 0
  private var viewAt = BusTime.zero
  /// The run of ``route``, whose first part may come before the first snapshot of the run.
  private var routeRun: RunID?

  /// A board on which nothing is known.
  ///
  /// - Parameter own: The device of the node whose news it gets.
  public init(own: DeviceID) { self.own = own }

  // MARK: News

  /// Takes something that the node has learned.
  public mutating func receive(_ news: NodeNews, at now: BusTime) {
    switch news {
    case .snapshot(let snapshot): receive(snapshot)
    case .predicted(let phase): predicted = phase
    case .link(let link): receive(link)
    case .view(let view): (self.view, viewAt) = (view, now)
    // An alarm is told when it is durable. The hub may have been heard again by then, which ends the silence.
    case .hubLost(let lost): if !link.isReachable { self.lost = lost }
    case .lockScreen(let activity): lockScreen = activity
    case .command(let command, let device):
      note(
        Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .pending), of: device,
        at: now)
    case .receipt(let receipt, let device): note(receipt, of: device, at: now)
    case .ownReceipt(let receipt): note(receipt, of: own, isOwn: true, at: now)
    case .presence(let presence):
      if let index = devices?.firstIndex(where: { $0.report.deviceID == presence.deviceID }) {
        devices?[index].report.isReachable = presence.isReachable
      }
    case .devices(let reports): devices = reports.map { Device(report: $0, toldAt: now) }
    case .route(let update):
      update.apply(to: &route)
      routeRun = update.runID
      isRouteComplete = update.isComplete
      routeEdition += 1
    case .splits(let splits): self.splits = splits
    case .room(let view):
      if view.order > room?.order ?? RoomView.Order(term: 0, number: 0) { (room, roomAt) = (view, now) }
    case .cue(let cue): self.cue = Cue(cue: cue, heardAt: now)
    case .record(let news): if news.runID == snapshot.runID { recordEdition += 1 }
    case .missed:
      loseTrack()
      recordEdition += 1
    }
  }

  private mutating func receive(_ snapshot: Snapshot) {
    guard snapshot.order >= self.snapshot.order else { return }
    if snapshot.runID != self.snapshot.runID { splits = RunSplits() }
    if snapshot.runID != self.snapshot.runID, snapshot.runID != routeRun {
      (route, routeRun, isRouteComplete) = ([], nil, false)
      routeEdition += 1
    }
    // The hub has begun anew. It judged what had reached it.
    if isKnown, snapshot.order.term > self.snapshot.order.term { loseTrack() }
    self.snapshot = snapshot
    lost = nil
    let change = snapshot.changedBy?.commandID
    if let index = commands.firstIndex(where: { $0.receipt.commandID == change }) { commands[index].isApplied = true }
  }

  private mutating func receive(_ link: Reachability) {
    if self.link.isReachable, !link.isReachable { loseTrack() }
    if link.isReachable { (hasBeenReached, lost) = (true, nil) }
    self.link = link
  }

  private mutating func note(_ receipt: Receipt, of device: DeviceID, isOwn: Bool = false, at now: BusTime) {
    guard let index = commands.firstIndex(where: { $0.receipt.commandID == receipt.commandID }) else {
      commands.insert(Press(receipt: receipt, deviceID: device, heardAt: now, isOwn: isOwn), at: 0)
      if commands.count > Self.commandsMax { commands.removeLast() }
      return
    }
    // A verdict is the last stage, whatever arrives behind it.
    guard commands[index].isOpen else { return }
    (commands[index].receipt, commands[index].hasLostTrack) = (receipt, false)
    if isOwn { commands[index].isOwn = true }
  }

  private mutating func loseTrack() {
    for index in commands.indices where commands[index].receipt.stage == .pending {
      commands[index].hasLostTrack = true
    }
  }

  // MARK: What is known

  /// Whether any state of the run is known.
  public var isKnown: Bool { snapshot.order > Snapshot.none.order }

  /// Whether nothing is heard of the hub now, and so of other devices.
  public var isBlind: Bool { !link.isReachable || view.isStale || view.isHubOffDuty }

  /// Whether the hub has been silent for so long that the run may not be recorded any more.
  public var isHubLost: Bool { lost != nil || lockScreen?.isHubLost == true }

  /// Real time since the node heard of the hub; `nil` if it never has.
  public func viewAge(at now: BusTime) -> BusDuration? { view.age.map { $0 + max(.zero, now - viewAt) } }

  /// Real time until the start of the room's run, negative once it is on; `nil` before the countdown.
  public func roomStartsIn(at now: BusTime) -> BusDuration? { room?.startsIn.map { $0 - (now - roomAt) } }

  /// Real time since a member's standing was heard; `nil` if it never was.
  public func age(of standing: RoomView.Standing, at now: BusTime) -> BusDuration? {
    standing.age.map { $0 + max(.zero, now - roomAt) }
  }

  /// Real time since the hub heard a device; `nil` if it never has. A device in reach is heard all the time while the hub
  /// is, so its age is as the hub said; otherwise it grows.
  public func heardAge(of device: Device, at now: BusTime) -> BusDuration? {
    device.report.heardAge.map { age in
      device.report.isReachable && link.isReachable ? age : age + max(.zero, now - device.toldAt)
    }
  }

  /// Whether the verdict on a command may have been given and not heard: the hub publishes it once, and what is published
  /// can be lost. Never for a command of the node itself, also where another one names its device as the sender.
  public func isUnheard(_ press: Press, at now: BusTime) -> Bool {
    press.isOpen && !press.isOwn && (press.hasLostTrack || now - press.heardAt > Self.verdictPatience)
  }

  /// The latest stage of a command; `nil` for one that is not on the board.
  public func receipt(of command: CommandID) -> Receipt? {
    commands.first { $0.receipt.commandID == command }?.receipt
  }
}

extension RecordNews {
  /// The run whose record it is.
  public var runID: RunID {
    switch self {
    case .kept(let summary): summary.runID
    case .removed(let run): run
    }
  }
}
