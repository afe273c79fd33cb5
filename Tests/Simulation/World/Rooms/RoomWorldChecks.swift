import RunCore

extension RoomWorld {
  /// What a campaign should see at least once.
  package static let expected = [
    "kill", "lost tail", "mended", "void", "mended run", "stranger agrees", "away", "amendment", "clock step",
    "tampered", "warning altered", "warning misdated", "misdeed", "flood", "rejected", "start", "stop", "run",
    "stage gathering", "stage cancelled",
  ]

  /// What a hub tells a device.
  mutating func note(_ answer: RoomAnswer, to ask: Identifier<RoomAskTag>, _ hub: Int) {
    guard let old = hubs[hub].asks[ask] else { return fault("hub \(hub) answers an ask that nobody made") }
    if case .judged = old.answer, old.answer != answer { fault("hub \(hub) has two answers to one ask") }
    if case .judged(_, let verdict) = answer {
      count("verdict")
      if !hubs[hub].hasKept(ask) { fault("hub \(hub) tells a verdict before it is durable") }
      if case .rejected = verdict { count("rejected") }
    }
    hubs[hub].asks[ask]?.answer = answer
  }

  mutating func note(_ press: RoomPress, _ at: BusTime, _ hub: Int) {
    let desk = hubs[hub].desk
    switch press {
    case .start(let run, let goal):
      count("start")
      if run != Self.run(of: hubs[hub].member, in: room) || goal != terms.goal {
        fault("hub \(hub) starts another run")
      }
      // What was stopped was no run: the hub slept through what it knew of the room then.
      if hubs[hub].started == nil { hubs[hub].stopped = nil }
      // A repetition in the next life is a repeat on the hub.
      hubs[hub].started = hubs[hub].started ?? at
      hubs[hub].run = run
      checkStart(at, hub, desk)
    case .stop:
      count("stop")
      guard hubs[hub].stopped == nil else { return }
      hubs[hub].stopped = at
      checkStop(at, hub)
    }
  }

  /// A hub that lives at the goal stops the run there, whether the log is there or not.
  private mutating func checkStop(_ at: BusTime, _ hub: Int) {
    guard let started = hubs[hub].started, !hubs[hub].wasHeld, counts["clock step"] == nil else { return }
    let span = at - started
    // What is known of the log's clock changes during a run.
    if abs((span - terms.span).nanoseconds) > 5_000_000_000 {
      fault("hub \(hub) stops after \(span.nanoseconds / 1_000_000) ms")
    }
    let late = hubs[hub].local(now) - max(at, hubs[hub].bornAt)
    if late > .seconds(6) { fault("hub \(hub) stops \(late.nanoseconds / 1_000_000) ms late") }
  }

  /// The start is at the log's moment, as far as the hub says that it knows it.
  private mutating func checkStart(_ at: BusTime, _ hub: Int, _ desk: TogetherDesk) {
    let stage = desk.room(room, at: hubs[hub].local(now))?.state.stage
    let startsAt = stage?.startsAt
    guard let startsAt else { return fault("hub \(hub) starts in a room that does not run") }
    guard counts["clock step"] == nil else { return }
    let error = max(desk.clock.estimate(at: hubs[hub].local(now))?.error ?? .zero, hubs[hub].errorAtLoss)
    // The world's moment of the press, by the hub's clock.
    let since = hubs[hub].local(now) - at
    let pressed = now - hubs[hub].exact(since)
    let logged = LogTime(nanoseconds: (pressed + log.ahead).nanoseconds)
    let skew = logged - startsAt
    // A start that is long over is known as well as the clocks have run since.
    let bound = error + BusDuration(nanoseconds: abs(since.nanoseconds) / 10_000 + 1_000)
    if skew > bound || skew < BusDuration(nanoseconds: -bound.nanoseconds) {
      fault("hub \(hub) starts \(skew.nanoseconds / 1000) µs off, and states \(error.nanoseconds / 1000)")
    }
  }

  mutating func note(_ event: RoomEvent, _ hub: Int) {
    if case .stage(let stage) = event { count("stage \(String(describing: stage).prefix { $0 != "(" })") }
    if case .stage(.recruiting) = event, hubs[hub].started != nil {
      hubs[hub].wasHeld = true
      // A start that was put off is told again when it comes.
      hubs[hub].cues.remove(.started)
    }
    if case .disputed(let who) = event, !hasLostTail, hubs.contains(where: { $0.member == who }) {
      fault("hub \(hub) says that an honest member disputes")
    }
  }

  mutating func note(_ cue: RoomCue, _ hub: Int) {
    count("cue \(cue.kind.rawValue)")
    guard let state = hubs[hub].desk.machine(of: room)?.state else { return fault("hub \(hub) cues in no room") }
    switch cue.kind {
    case .started:
      if hubs[hub].cues.contains(.started) { fault("hub \(hub) cues its start twice") }
    case .won, .drawn, .lost:
      if !hubs[hub].cues.isDisjoint(with: [.won, .drawn, .lost]) { fault("hub \(hub) cues its outcome twice") }
      let own = RoomResult(state)?.rows.first { $0.member == hubs[hub].member }
      if own?.outcome?.rawValue != cue.kind.rawValue { fault("hub \(hub) cues an outcome that is not its own") }
    case .overtaken, .cancelled: break
    }
    hubs[hub].cues.insert(cue.kind)
  }

  /// Every hub that has read as much as another has the same room.
  mutating func check(_ hub: Int) {
    guard let mine = hubs[hub].desk.digest(of: room) else { return }
    // A flood makes folds large.
    guard mine.count < 200 || mine.count.isMultiple(of: 50) else { return }
    if let wrong = hubs[hub].desk.check() { fault("hub \(hub): \(wrong)") }
    checkTime(hub)
    for other in hubs.indices where other != hub {
      // Who has not noticed a loss yet has read another log.
      guard let theirs = hubs[other].desk.digest(of: room), theirs.count == mine.count, !hasLostTail else { continue }
      if theirs.digest != mine.digest { fault("hubs \(hub) and \(other) have read different logs") }
      if !hasLostTail, hubs[hub].desk.machine(of: room) != hubs[other].desk.machine(of: room) {
        fault("hubs \(hub) and \(other) have different rooms")
      }
    }
  }
}
