import RunBus

/// Everything that the live screen shows, as a value: drawing needs nothing else.
struct ScreenState: Sendable {
  /// A device of the bus.
  struct Device: Hashable, Sendable {
    var name: String
    var isHere: Bool
    /// What is said instead of here or gone: `offline`, `starting`.
    var state: String?
    var roundTrip: BusDuration?
    var waiting: Int
    /// How long ago it was heard, in real seconds.
    var ageSeconds: Double?
    /// The group in which it stands where there are more devices than rows; `nil` for none.
    var role: String?

    /// The word for its state. It is dim and unknown when nothing is heard of the phone, which alone could tell.
    func standing(isBlind: Bool) -> (word: String, style: Style) {
      if let state { return (Self.word(of: state), isHere ? .good : .bad) }
      return isBlind
        ? (Tongue.say(.deviceUnknown), .dim)
        : isHere ? (Tongue.say(.deviceHere), .good) : (Tongue.say(.deviceGone), .bad)
    }

    /// The state of a node of `up` in words. Its own word is a name in code and JSON.
    private static func word(of state: String) -> String {
      switch state {
      case "here": Tongue.say(.deviceHere)
      case "starting": Tongue.say(.nodeStarting)
      case "offline": Tongue.say(.nodeOffline)
      case "asleep": Tongue.say(.nodeAsleep)
      case "dead": Tongue.say(.nodeDead)
      case "no hub": Tongue.say(.nodeNoHub)
      case "refused": Tongue.say(.nodeRefused)
      default: state
      }
    }
  }

  /// A recent command: when, by whom, and what became of it.
  struct Command: Hashable, Sendable {
    var time: String
    var device: String
    var text: String
    var style: Style

    /// A command as the board has it.
    ///
    /// - Parameters:
    ///   - device: How the screen calls the device that it came from.
    ///   - isUnheard: Whether its verdict may have been missed.
    init(_ press: RunBoard.Press, of device: String, isUnheard: Bool = false, at time: String) {
      (self.time, self.device) = (time, device)
      (text, style) = Self.text(press, isUnheard)
    }

    private static func text(_ press: RunBoard.Press, _ isUnheard: Bool) -> (String, Style) {
      let kind = press.receipt.kind.spoken
      switch press.receipt.stage {
      case .verdict(let verdict):
        switch verdict.outcome {
        case .applied: return (verdict.sentence, .good)
        case .coalesced, .superseded: return (verdict.sentence, .accent)
        case .rejected, .unknown: return (verdict.sentence, .bad)
        }
      case .queued, .pending:
        if press.isApplied { return (Tongue.say(.pressApplied, ["command": kind]), .good) }
        if isUnheard { return (Tongue.say(.pressUnheard, ["command": kind]), .dim) }
        if press.receipt.stage == .queued { return (Tongue.say(.pressWaitsPhone, ["command": kind]), .waiting) }
        return (Tongue.say(.pressWaitsVerdict, ["command": kind]), .waiting)
      }
    }
  }

  /// The most values of a sparkline: ten minutes, one every three seconds.
  static let valuesMax = 200
  /// How long a press of stop waits for the second one, without which it does nothing: a stop cannot be taken back.
  static let stopPatience = Duration.seconds(3)
  /// The device of the screen's own presses, of which each verdict comes.
  static var ownDevice: String { Tongue.say(.deviceHere) }

  var bus: String
  var units = Units.metric
  var source: ControlSource
  var snapshot = Snapshot.none
  /// The clock now; `nil` before the first snapshot.
  var active: BusDuration?
  var elapsed: BusDuration?
  /// What remains of the run's goal now; that of the snapshot while the clock is not known.
  var remaining: BusDuration? { elapsed.flatMap { snapshot.goal?.remaining(after: $0) } ?? snapshot.remaining }
  var predicted = RunPhase.idle
  /// Why the hub does not let this screen in.
  var refusal: String?
  var isReachable = false { didSet { if isReachable { hasBeenReached = true } } }
  /// Whether the phone has ever answered.
  private(set) var hasBeenReached = false
  var isStale = false
  var isHubOffDuty = false
  var staleSeconds: Double?
  var isHubLost = false
  var pace: [Double?] = []
  var heartRate: [Double?] = []
  var route: [RoutePoint] = []
  var splits = RunSplits()
  /// The room of the runner with its spans as of now; `nil` while there is none to show.
  var room: RoomView?
  /// What is to be noticed in the room now.
  var cue: RoomCue?
  /// The other devices; `nil` until the phone has named them.
  var devices: [Device]?
  /// How many rows the devices fill: one says that there are none.
  var deviceCount: Int { max(1, devices?.count ?? 0) }
  var commands: [Command] = []
  /// What the last key did, or why it did nothing.
  var told = ""
  var isHelpShown = false
  /// Until when a second press of stop ends the run; `nil` when there was no first one.
  private(set) var stopDeadline: ContinuousClock.Instant?
  /// What is said while there are no commands: another screen may have seen some.
  var noPresses: String { hasNodes ? Tongue.say(.noPressesYet) : Tongue.say(.nonePressed) }
  /// Whether the keys of `up` work: nodes go offline, are killed and restarted.
  var hasNodes = false
  /// How many nodes there are.
  var nodeCount = 3
  /// The digits that choose a node.
  var nodeKeys: String { "1-\(min(9, nodeCount))" }
  /// The node that those keys are for.
  var chosenNode: String?
  var hasUnicode = true

  /// Whether the run that is shown is over, and the runner waits in a room for another one.
  var isLastRun: Bool { snapshot.phase == .completed && predicted == .completed && room?.isBeforeRun == true }

  /// Whether the phone has shown any state yet.
  var isKnown: Bool { snapshot.order > Snapshot.none.order }

  /// Takes a snapshot.
  mutating func add(_ snapshot: Snapshot) {
    if snapshot.runID != self.snapshot.runID { (pace, heartRate, stopDeadline) = ([], [], nil) }
    let isNews = snapshot.order > self.snapshot.order
    self.snapshot = snapshot
    guard isNews, snapshot.phase == .running else { return }
    let metrics = snapshot.metrics
    pace = (pace + [metrics.isStale(.distance) ? nil : metrics.currentPaceSecondsPerKilometer]).suffix(Self.valuesMax)
    heartRate = (heartRate + [metrics.isStale(.heartRate) ? nil : metrics.heartRateBpm]).suffix(Self.valuesMax)
  }

  /// Shows what a board has besides its snapshots, which ``add(_:)`` takes.
  ///
  /// - Parameters:
  ///   - now: The present moment on the board.
  ///   - clock: Bus time now; `nil` while it is not known.
  ///   - time: The time of day of a moment, as people read it.
  mutating func show(_ board: RunBoard, at now: BusTime, clock: BusTime?, time: (BusTime) -> String) {
    (active, elapsed) = (clock.map(board.snapshot.active(at:)), clock.map(board.snapshot.elapsed(at:)))
    (isReachable, refusal) = (board.link.isReachable, board.link.refusal)
    (isStale, isHubOffDuty, isHubLost) = (board.view.isStale, board.view.isHubOffDuty, board.isHubLost)
    staleSeconds = isStale ? board.viewAge(at: now)?.seconds : nil
    predicted = board.predicted
    route = board.route
    splits = board.splits
    (room, cue) = (board.roomShown(at: now), board.cueShown(at: now))
    // Shells, this screen among them, come and go: they stand last.
    devices = board.devices?.sorted { Self.place(of: $0) < Self.place(of: $1) }.map { device in
      Device(
        name: device.report.deviceID.rawValue, isHere: device.report.isReachable, roundTrip: device.report.roundTrip,
        waiting: Int(clamping: device.report.waiting),
        ageSeconds: board.heardAge(of: device, at: now)?.seconds)
    }
    commands = board.commands.map {
      Command(
        $0, of: $0.isOwn ? Self.ownDevice : $0.deviceID.rawValue, isUnheard: board.isUnheard($0, at: now),
        at: time($0.heardAt))
    }
  }

  private static func place(of device: RunBoard.Device) -> (Int, NaturalName) {
    (device.report.role == .shell ? 1 : 0, NaturalName(device.report.deviceID))
  }

  // MARK: Stop

  /// Takes a press of the key for stop.
  ///
  /// - Returns: Whether the run is to be stopped: this is the second press within ``stopPatience``.
  mutating func pressStop(at now: ContinuousClock.Instant) -> Bool {
    expire(at: now)
    guard stopDeadline == nil else {
      stopDeadline = nil
      return true
    }
    stopDeadline = now + Self.stopPatience
    return false
  }

  /// Forgets the first press of stop, because another key was pressed.
  mutating func forgetStop() { stopDeadline = nil }

  /// Forgets the first press of stop when its time is over.
  mutating func expire(at now: ContinuousClock.Instant) {
    if let deadline = stopDeadline, now >= deadline { stopDeadline = nil }
  }

  /// Whether a key closes the help, and so does nothing else. Ctrl-C ends the screen, whatever it shows.
  mutating func closesHelp(_ key: Key) -> Bool {
    guard isHelpShown, key != .control("c") else { return false }
    isHelpShown = false
    return true
  }

  /// What is told below the numbers: that stop is asked for once, or what the last key did.
  var notice: StyledRow? {
    if stopDeadline != nil { return StyledRow(Tongue.say(.stopAsks), .waiting) }
    return told.isEmpty ? nil : StyledRow(" \(ForeignText.shown(told))", .accent)
  }

  // MARK: What is known

  /// What the key for all nodes presses.
  var commandForAll: CommandKind {
    switch snapshot.phase {
    case .running: .pause
    case .paused: .resume
    case .idle, .completed, .unknown: .start
    }
  }

  /// The presses that can have an effect now, each with what it does.
  var usefulPresses: [(key: Character, does: String)] {
    if snapshot.isRecovering { return [("r", Tongue.say(.doResume)), ("x", Tongue.say(.doFinish))] }
    return switch predicted {
    case .idle, .completed: [("s", Tongue.say(.doStart))]
    case .running: [("p", Tongue.say(.doPause)), ("x", Tongue.say(.doStop)), ("l", Tongue.say(.doLap))]
    case .paused: [("r", Tongue.say(.doResume)), ("x", Tongue.say(.doStop)), ("l", Tongue.say(.doLap))]
    case .unknown:
      [
        ("s", Tongue.say(.doStart)), ("p", Tongue.say(.doPause)), ("r", Tongue.say(.doResume)),
        ("x", Tongue.say(.doStop)), ("l", Tongue.say(.doLap)),
      ]
    }
  }

  /// Whether nothing is heard of the phone now, and so of other devices.
  var isBlind: Bool { !isReachable || isStale || isHubOffDuty }

  /// The metrics of the run. While nothing is heard of the phone their ages grow.
  var metrics: RunMetrics {
    var metrics = snapshot.metrics
    if isBlind, snapshot.phase == .running, let elapsed { metrics.elapsed = max(metrics.elapsed, elapsed) }
    return metrics
  }

  /// The alarm in words, the longest first, for the room that there is; empty when all is well.
  var alarms: [String] {
    if let refusal { return [Tongue.say(.alarmRefused, ["reason": refusal])] }
    if snapshot.isRecovering {
      return [Tongue.say(.alarmRecovering)]
    }
    let waits = isReachable ? [] : [Tongue.say(.alarmWaits)]
    func joined(_ words: String...) -> String { (words + waits).joined(separator: "; ") }
    let news =
      staleSeconds.map { Tongue.say(.alarmNoNewsFor, ["time": Sentence.clock($0)]) } ?? Tongue.say(.alarmNoNews)
    if isHubLost {
      let silent = Tongue.say(.alarmSilent)
      return [joined(silent), silent]
    }
    if isHubOffDuty { return [joined(Tongue.say(.phoneEnded)), joined(Tongue.say(.alarmEnded))] }
    if isStale {
      return [
        joined(Tongue.say(.alarmOld, ["news": news])), isReachable ? news : Tongue.say(.alarmOldWaits, ["news": news]),
      ]
    }
    if !hasBeenReached { return [Tongue.say(.alarmNotYet)] }
    if !isReachable { return [Tongue.say(.alarmOutOfReach)] }
    return []
  }
}
