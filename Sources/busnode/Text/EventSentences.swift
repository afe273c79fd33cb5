import Foundation
import RunBus
import RunScripts

// Sentences about snapshots and events.
extension Sentence {
  /// `1.2.14 running 3:05 · goal 30:00, 26:55 left · 0.52 km · 5:41 /km · 148 bpm · by watch`; a stale value is followed
  /// by its age.
  static func snapshot(_ snapshot: Snapshot, in units: Units = .metric) -> String {
    let metrics = snapshot.metrics
    var parts = ["\(snapshot.order.text) \(snapshot.phase.spoken) \(DurationText.clock(metrics.elapsed))"]
    if metrics.active < metrics.elapsed {
      parts.append(Tongue.say(.activeIs, ["time": DurationText.clock(metrics.active)]))
    }
    if let goal = goal(snapshot.goal, remaining: snapshot.remaining) {
      parts.append(Tongue.say(.goalIs, ["goal": goal]))
    }
    if snapshot.isRecovering { parts.append(Tongue.say(.recoveringAsks)) }
    if metrics.isAutoPaused { parts.append(Tongue.say(.autoPaused)) }
    if let meters = metrics.distanceMeters {
      parts.append(aged(units.distanceText(meters), .distance, of: snapshot))
    }
    let present = snapshot.phase.isOn ? metrics.currentPaceSecondsPerKilometer : nil
    if let pace = present ?? metrics.averagePaceSecondsPerKilometer {
      parts.append(units.paceText(pace))
    }
    if let rate = metrics.heartRateBpm { parts.append(aged("\(whole(rate)) bpm", .heartRate, of: snapshot)) }
    if metrics.lapCount > 0 {
      parts.append(metrics.lapCount == 1 ? Tongue.say(.lapsOne) : Tongue.say(.lapsMany, ["count": metrics.lapCount]))
    }
    if let change = snapshot.changedBy { parts.append(Tongue.say(.changedBy, ["source": change.source.spoken])) }
    return parts.joined(separator: " · ")
  }

  /// `148 bpm, 42 s old`: the age is added while the run is running, if the value is stale.
  private static func aged(_ text: String, _ metric: Metric, of snapshot: Snapshot) -> String {
    snapshot.phase == .running ? aged(text, metric, of: snapshot.metrics) : text
  }

  /// A value, with its age if it is stale.
  static func aged(_ text: String, _ metric: Metric, of metrics: RunMetrics) -> String {
    guard metrics.isStale(metric), let age = metrics.age(of: metric) else { return text }
    return Tongue.say(.ageOf, ["value": text, "age": old(age.seconds)])
  }

  /// The phase of the run: the first line of `busnode state`.
  static func standing(_ snapshot: Snapshot) -> String {
    let place =
      Tongue.say(
        .standingPlace, ["term": snapshot.order.term, "revision": snapshot.order.revision, "tick": snapshot.order.tick])
    guard snapshot.phase != .idle else { return Tongue.say(.standingNone, ["place": place]) }
    return Tongue.say(.runIs, ["phase": snapshot.phase.spoken])
      + (snapshot.isRecovering ? Tongue.say(.runWaitsForRecovery) : "")
      + (snapshot.changedBy.map { Tongue.say(.runChangedBy, ["source": $0.source.spoken, "device": $0.deviceID]) } ?? "")
      + " (\(place))"
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
      link.refusal.map { Tongue.say(.linkRefused, ["reason": $0]) }
        ?? (link.reachable ? Tongue.say(.linkUp) : Tongue.say(.linkDown))
    case .view(let view): self.view(view)
    case .hubLost(let lost):
      Tongue.say(
        .hubSilent, ["device": lost.deviceId?.rawValue ?? Tongue.say(.theHub), "time": clock(lost.silentSeconds)])
    case .predicted(let predicted): Tongue.say(.buttonShows, ["phase": predicted.phase.spoken])
    case .sensors(let sensors):
      switch sensors.demand {
      case .off: Tongue.say(.sensorsOff)
      case .motion: Tongue.say(.sensorsMotion)
      case .all: Tongue.say(.sensorsOn)
      }
    case .record(let record): self.record(record, in: units)
    case .recordingEnded(let recording):
      Tongue.say(.recordingEnded, ["time": clock(recording.elapsedSeconds)])
    case .sensorsDone(let sensors): Tongue.say(.sensorsDone, ["count": sensors.samples])
    }
  }

  private static func event(_ event: BusEvent, in units: Units) -> String {
    switch event {
    case .snapshot(let state): snapshot(state.snapshot, in: units)
    case .command(let command, let device):
      Tongue.say(.pressedOn, ["device": device, "command": command.kind.spoken, "source": command.source.spoken])
        + (command.runOffset.map { Tongue.say(.pressedAt, ["time": DurationText.clock($0)]) } ?? "")
        + (command.goal.map { Tongue.say(.pressedGoal, ["time": DurationText.clock($0.time)]) } ?? "")
        + (command.ifRevision.map { Tongue.say(.pressedIf, ["revision": $0]) } ?? "")
    case .receipt(let receipt, let device): "\(device): \(receipt.sentence)"
    case .presence(let presence):
      "\(presence.deviceID) \(presence.isReachable ? Tongue.say(.isHere) : Tongue.say(.isGone))"
    case .message(let message): self.message(message, text: nil)
    case .route(let part): Tongue.say(.routeHas, ["run": short(part.runID.description), "count": part.total])
    case .live(let message): Tongue.say(.pushSent, ["number": message.push.number, "kind": message.push.kind.rawValue])
    case .room(let view): RoomViewText.line(view, in: units)
    case .cue(let cue):
      Tongue.say(.roomSays, ["room": RoomViewText.short(cue.room), "sentence": RoomViewText.sentence(cue)])
    }
  }

  /// `lock screen: running 3:05 · 0.52 km · 5:41 /km · 148 bpm · 2 of 4, 120 m behind · pause waits · push 17 (numbers), 96
  /// left`.
  private static func liveActivity(_ state: LiveActivityState, in units: Units) -> String {
    let (content, numbers) = (state.content, state.content.numbers)
    let active = BusDuration(seconds: state.activeSeconds(at: state.pushedAt))
    var parts = [Tongue.say(.lockScreen, ["phase": content.phase.spoken, "time": DurationText.clock(active)])]
    if content.isRecovering { parts.append(Tongue.say(.recovering)) }
    if let startDate = state.startDate {
      let startsIn = BusDuration(seconds: startDate.timeIntervalSince(state.pushedAt))
      parts.append(RoomViewText.countdown(startsIn) ?? Tongue.say(.countdown))
    }
    if let meters = numbers.distanceMeters { parts.append(units.distanceText(meters)) }
    if let pace = numbers.paceSecondsPerKilometer ?? numbers.averagePaceSecondsPerKilometer {
      parts.append(units.paceText(pace))
    }
    if let rate = numbers.heartRateBpm { parts.append("\(rate) bpm") }
    if let room = content.room { parts.append(RoomViewText.place(room, in: units)) }
    parts += content.pending.map { Tongue.say(.pressWaits, ["command": $0.spoken]) }
    if state.isHubLost {
      parts.append(Tongue.say(.phoneLost))
    } else if state.isStale {
      parts.append(Tongue.say(.stale))
    }
    parts.append(
      Tongue.say(.pushBudget, ["number": state.push, "kind": state.pushKind.rawValue, "left": state.budgetLeft]))
    return parts.joined(separator: " · ")
  }

  /// A message of an app that has arrived.
  static func message(_ message: MessageEvent, text: String?) -> String {
    Tongue.say(.messageFromTo, ["name": message.name, "from": message.from, "to": message.to])
      + (message.size == 1 ? Tongue.say(.bytesOne) : Tongue.say(.bytesMany, ["count": message.size]))
      + (text.map { $0.isEmpty ? "" : ": \($0)" } ?? "")
  }

  /// A record was stored or removed.
  static func record(_ news: EventJSON.Record, in units: Units = .metric) -> String {
    let name = Tongue.say(.runNamed, ["run": short(news.runId.description)])
    guard let record = news.record else { return Tongue.say(.recordRemoved, ["run": name]) }
    let distance = record.distanceMeters.map { ", \(units.distanceText($0))" } ?? ""
    return Tongue.say(
      .recordKept,
      ["run": name, "version": record.version, "time": DurationText.clock(record.active), "distance": distance])
  }

  /// Whether the state of a node is up to date.
  static func view(_ view: EventJSON.View) -> String {
    if view.hubOffDuty { return Tongue.say(.phoneEnded) }
    guard view.stale else { return Tongue.say(.stateUpToDate) }
    guard let age = view.ageSeconds else {
      return Tongue.say(.stateEarlier)
    }
    return Tongue.say(.stateOld, ["age": old(age)])
  }
}
