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
    /// How old what it knows is, in real seconds.
    var ageSeconds: Double?
  }

  /// A recent command: when, by whom, and what became of it.
  struct Command: Hashable, Sendable {
    var id: CommandID
    var time: String
    var device: String
    var text: String
    var style: Style
  }

  /// The most commands that are kept.
  static let commandsMax = 50
  /// The most values of a sparkline: ten minutes, one every three seconds.
  static let valuesMax = 200

  var bus: String
  var units = Units.metric
  var source: ControlSource
  var snapshot = Snapshot.none
  /// The clock now; `nil` before the first snapshot.
  var active: BusDuration?
  var elapsed: BusDuration?
  var predicted = RunPhase.idle
  /// Why the hub does not let this screen in.
  var refusal: String?
  var isReachable = false
  var isStale = false
  var isHubOffDuty = false
  var staleSeconds: Double?
  var isHubLost = false
  var pace: [Double?] = []
  var heartRate: [Double?] = []
  var route: [RoutePoint] = []
  var devices: [Device] = []
  var commands: [Command] = []
  /// What the last key did, or why it did nothing.
  var told = ""
  var isHelpShown = false
  /// Whether the keys of `up` work: nodes go offline, are killed and restarted.
  var hasNodes = false
  /// The node that those keys are for.
  var chosenNode: String?
  var hasUnicode = true

  /// Takes a snapshot.
  mutating func add(_ snapshot: Snapshot) {
    if snapshot.runID != self.snapshot.runID { (pace, heartRate) = ([], []) }
    let isNews = snapshot.order > self.snapshot.order
    self.snapshot = snapshot
    guard isNews, snapshot.phase == .running else { return }
    let metrics = snapshot.metrics
    pace = (pace + [metrics.isStale(.distance) ? nil : metrics.currentPaceSecondsPerKilometer]).suffix(Self.valuesMax)
    heartRate = (heartRate + [metrics.isStale(.heartRate) ? nil : metrics.heartRateBpm]).suffix(Self.valuesMax)
  }

  /// Adds a command or replaces its stage. A verdict is its last stage.
  mutating func note(_ receipt: Receipt, of device: String, at time: String) {
    let text = Self.text(receipt)
    if let index = commands.firstIndex(where: { $0.id == receipt.commandID }) {
      guard commands[index].style == .waiting || text.style != .waiting else { return }
      (commands[index].text, commands[index].style) = (text.text, text.style)
    } else {
      commands.insert(
        Command(id: receipt.commandID, time: time, device: device, text: text.text, style: text.style), at: 0)
      if commands.count > Self.commandsMax { commands.removeLast() }
    }
  }

  private static func text(_ receipt: Receipt) -> (text: String, style: Style) {
    switch receipt.stage {
    case .queued: ("\(receipt.kind.rawValue) waits here for the hub", .waiting)
    case .pending: ("\(receipt.kind.rawValue) waits for its verdict", .waiting)
    case .verdict(let verdict):
      switch verdict.outcome {
      case .applied: (verdict.message, .good)
      case .coalesced, .superseded: (verdict.message, .accent)
      case .rejected, .unknown: (verdict.message, .bad)
      }
    }
  }

  /// The alarm, in words; `nil` when all is well.
  var alarm: String? {
    if let refusal { return "not let in: \(refusal)" }
    if snapshot.isRecovering {
      return "the phone died in this run: r resumes it, x finishes it (busnode recover discard)"
    }
    if isHubLost { return "the phone is silent: the run may have stopped" }
    if isHubOffDuty { return "the phone was ended: this is its last state" }
    if isStale { return "no news" + (staleSeconds.map { " for \(Sentence.clock($0))" } ?? "") + ": this state is old" }
    if !isReachable { return "the phone is out of reach: presses wait here" }
    return nil
  }
}
