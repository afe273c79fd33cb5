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

    /// The word for its state. It is dim and unknown when nothing is heard of the phone, which alone could tell.
    func standing(isBlind: Bool) -> (word: String, style: Style) {
      if let state { return (state, isHere ? .good : .bad) }
      return isBlind ? ("unknown", .dim) : isHere ? ("here", .good) : ("gone", .bad)
    }
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
  /// What is said while there are no commands: another screen may have seen some.
  var noPresses: String { hasNodes ? "no presses yet" : "none since this was opened" }
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
    if let refusal { return ["not let in: \(refusal)"] }
    if snapshot.isRecovering {
      return ["the run was on when its phone ended: r resumes it, x finishes it"]
    }
    let waits = isReachable ? [] : ["presses wait here"]
    func joined(_ words: String...) -> String { (words + waits).joined(separator: "; ") }
    let news = "no news" + (staleSeconds.map { " for \(Sentence.clock($0))" } ?? "")
    if isHubLost {
      let silent = "the phone is silent: the run may have stopped"
      return [joined(silent), silent]
    }
    if isHubOffDuty { return [joined("the phone was ended: this is its last state"), joined("the phone was ended")] }
    if isStale { return [joined("\(news): this state is old"), isReachable ? news : "\(news): presses wait here"] }
    if !isReachable { return ["the phone is out of reach: presses wait here"] }
    return []
  }
}
