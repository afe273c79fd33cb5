import Foundation
import RunBus
import RunScripts

// Sentences about snapshots and events.
extension Sentence {
  /// `1.2.14 running 3:05 · goal 30:00, 26:55 left · 0.52 km · 5:41 /km · 148 bpm · by watch`; a stale value is followed
  /// by its age.
  static func snapshot(_ snapshot: Snapshot, in units: Units = .metric) -> String {
    let metrics = snapshot.metrics
    var parts = ["\(snapshot.order.text) \(snapshot.phase.rawValue) \(DurationText.clock(metrics.elapsed))"]
    if metrics.active < metrics.elapsed { parts.append("active \(DurationText.clock(metrics.active))") }
    if let goal = goal(snapshot.goal, remaining: snapshot.remaining) { parts.append("goal \(goal)") }
    if snapshot.isRecovering { parts.append("recovering: resume, finish or discard?") }
    if metrics.isAutoPaused { parts.append("auto-paused") }
    if let meters = metrics.distanceMeters {
      parts.append(aged(units.distanceText(meters), .distance, of: snapshot))
    }
    let present = snapshot.phase.isOn ? metrics.currentPaceSecondsPerKilometer : nil
    if let pace = present ?? metrics.averagePaceSecondsPerKilometer {
      parts.append(units.paceText(pace))
    }
    if let rate = metrics.heartRateBpm { parts.append(aged("\(whole(rate)) bpm", .heartRate, of: snapshot)) }
    if metrics.lapCount > 0 { parts.append(metrics.lapCount == 1 ? "1 lap" : "\(metrics.lapCount) laps") }
    if let change = snapshot.changedBy { parts.append("by \(change.source)") }
    return parts.joined(separator: " · ")
  }

  /// `148 bpm, 42 s old`: the age is added while the run is running, if the value is stale.
  private static func aged(_ text: String, _ metric: Metric, of snapshot: Snapshot) -> String {
    snapshot.phase == .running ? aged(text, metric, of: snapshot.metrics) : text
  }

  /// A value, with its age if it is stale.
  static func aged(_ text: String, _ metric: Metric, of metrics: RunMetrics) -> String {
    guard metrics.isStale(metric), let age = metrics.age(of: metric) else { return text }
    return "\(text), \(old(age.seconds)) old"
  }

  /// The phase of the run: the first line of `busnode state`.
  static func standing(_ snapshot: Snapshot) -> String {
    let place =
      "term \(snapshot.order.term), revision \(snapshot.order.revision), tick \(snapshot.order.tick)"
    guard snapshot.phase != .idle else { return "no run has been started (\(place))" }
    return "the run is \(snapshot.phase.rawValue)"
      + (snapshot.isRecovering ? " and waits to be recovered (busnode recover resume, finish or discard)" : "")
      + (snapshot.changedBy.map { ", last changed by \($0.source) on \($0.deviceID)" } ?? "") + " (\(place))"
  }

  /// `16:03:05.250`, by the clock and the time zone of this machine.
  static func timeOfDay(_ date: Date) -> String {
    let local = date.timeIntervalSince1970 + Double(TimeZone.current.secondsFromGMT(for: date))
    return String(DayTime.text(unixSeconds: local).dropFirst(11).dropLast())
  }

  /// One event of the bus or of a node.
  static func event(_ event: EventJSON, in units: Units = .metric) -> String {
    switch event {
    case .bus(let event): self.event(event, in: units)
    case .liveActivity(let state): liveActivity(state, in: units)
    case .message(let message, let text): self.message(message, text: text)
    case .link(let link):
      link.refusal.map { "no session with the hub: \($0)" }
        ?? (link.reachable ? "the hub answers" : "the hub is out of reach")
    case .view(let view): self.view(view)
    case .hubLost(let lost):
      "\(lost.deviceId?.rawValue ?? "the hub") has been silent for \(clock(lost.silentSeconds)): the run may have stopped"
    case .predicted(let predicted): "the button shows \(predicted.phase.rawValue)"
    case .sensors(let sensors):
      switch sensors.demand {
      case .off: "sensors off (paused, or no run)"
      case .motion: "sensors off, except for motion (the runner stands)"
      case .all: "sensors on"
      }
    case .record(let record): self.record(record, in: units)
    case .recordingEnded(let recording):
      "the recording has ended at \(clock(recording.elapsedSeconds)) of the run: no more samples come; busnode send stop ends the run"
    case .sensorsDone(let sensors): "the hub has all samples of the run: \(sensors.samples)"
    }
  }

  private static func event(_ event: BusEvent, in units: Units) -> String {
    switch event {
    case .snapshot(let state): snapshot(state.snapshot, in: units)
    case .command(let command, let device):
      "\(device): \(command.kind.rawValue) pressed on \(command.source)"
        + (command.runOffset.map { " (recorded at \(DurationText.clock($0)))" } ?? "")
        + (command.goal.map { ", goal \(DurationText.clock($0.time))" } ?? "")
        + (command.ifRevision.map { ", if at revision \($0)" } ?? "")
    case .receipt(let receipt, let device): "\(device): \(receipt.message)"
    case .presence(let presence): "\(presence.deviceID) \(presence.isReachable ? "is here" : "is gone")"
    case .message(let message): self.message(message, text: nil)
    case .route(let part): "the route of run \(short(part.runID.description)) has \(part.total) points"
    case .live(let message): "push \(message.push.number) to lock screens: \(message.push.kind.rawValue)"
    case .room(let view): RoomViewText.line(view, in: units)
    case .cue(let cue): "room \(RoomViewText.short(cue.room)): \(RoomViewText.sentence(cue))"
    }
  }

  /// `lock screen: running 3:05 · 0.52 km · 5:41 /km · 148 bpm · 2 of 4, 120 m behind · pause waits · push 17 (numbers), 96
  /// left`.
  private static func liveActivity(_ state: LiveActivityState, in units: Units) -> String {
    let (content, numbers) = (state.content, state.content.numbers)
    let active = BusDuration(seconds: state.activeSeconds(at: state.pushedAt))
    var parts = ["lock screen: \(content.phase.rawValue) \(DurationText.clock(active))"]
    if content.isRecovering { parts.append("recovering") }
    if let startDate = state.startDate {
      let startsIn = BusDuration(seconds: startDate.timeIntervalSince(state.pushedAt))
      parts.append(RoomViewText.countdown(startsIn) ?? "countdown")
    }
    if let meters = numbers.distanceMeters { parts.append(units.distanceText(meters)) }
    if let pace = numbers.paceSecondsPerKilometer ?? numbers.averagePaceSecondsPerKilometer {
      parts.append(units.paceText(pace))
    }
    if let rate = numbers.heartRateBpm { parts.append("\(rate) bpm") }
    if let room = content.room { parts.append(RoomViewText.place(room, in: units)) }
    parts += content.pending.map { "\($0.rawValue) waits" }
    if state.isHubLost { parts.append("the phone is lost") } else if state.isStale { parts.append("stale") }
    parts.append("push \(state.push) (\(state.pushKind.rawValue)), \(state.budgetLeft) left")
    return parts.joined(separator: " · ")
  }

  /// A message of an app that has arrived.
  static func message(_ message: MessageEvent, text: String?) -> String {
    "message \(message.name) from \(message.from) to \(message.to), "
      + (message.size == 1 ? "1 byte" : "\(message.size) bytes")
      + (text.map { $0.isEmpty ? "" : ": \($0)" } ?? "")
  }

  /// A record was stored or removed.
  static func record(_ news: EventJSON.Record, in units: Units = .metric) -> String {
    let name = "run \(short(news.runId.description))"
    guard let record = news.record else { return "\(name) was removed" }
    let distance = record.distanceMeters.map { ", \(units.distanceText($0))" } ?? ""
    return "\(name) is kept (version \(record.version), \(DurationText.clock(record.active))\(distance))"
  }

  /// Whether the state of a node is up to date.
  static func view(_ view: EventJSON.View) -> String {
    if view.hubOffDuty { return "the phone was ended: this is its last state" }
    guard view.stale else { return "this state is up to date" }
    return "this state is "
      + (view.ageSeconds.map { "\(old($0)) old" } ?? "from an earlier time")
      + ": the phone has been silent since"
  }
}
