// Rooms: what the desk is told, and what it wants done.
extension HubCore {
  /// What a hub's driver tells of rooms.
  package enum RoomNews: Sendable {
    /// What was asked, with the keys that an ask to open or to enter needs.
    case ask(RoomAsk, RoomKeys?, RoomAsker)
    /// A member has told something beside the log; when, on the monotonic clock.
    case heard(RoomLive, at: BusTime)
    /// Entries of a log were read, in the reading with a number. `heard` is when the log said that there is something to
    /// read, on the monotonic clock.
    case read(RoomID, [ReadEntry], isEnd: Bool, reading: UInt64, heard: BusTime)
    /// The reading with a number is over: the log is another one, or lacks something that was read.
    case replaced(RoomID, reading: UInt64)
    /// A log cannot be read, or takes no entry now; why, in one sentence.
    case unreachable(RoomID, because: String)
    /// A room's log was compared with what was read of it, for ``RoomAct/prove(_:_:)``; the digest that it has there.
    case proved(RoomID, RoomReading, found: LogHash)
    /// A log takes no more entries of this hub; the number is that of the one it did not take.
    case refused(RoomID, number: UInt64)
    /// The adverts that a search reads, and the log's time then.
    case adverts([RoomAdvert], at: LogTime)
    /// The keys for ``RoomAct/key(_:)``.
    case keys(RoomKeys)
  }

  /// Who has asked something about rooms.
  package enum RoomAsker: Hashable, Sendable {
    /// A caller on this machine, by a numbered inquiry: it has one answer, and asks again for a later one.
    case inquiry(UInt64)
    /// A device in its session: it is told each stage of the answer.
    case session(ConnectionID, UInt64)
    /// A connection without a session: it has one answer.
    case request(ConnectionID)
  }

  /// What a hub's driver is to do for rooms.
  package enum RoomAct: Hashable, Sendable {
    /// Read a room's log, and tell ``RoomNews/read(_:_:isEnd:reading:heard:)``.
    case follow(RoomID, RoomReading)
    /// Read it no more.
    case unfollow(RoomID)
    /// Compare a room's log with what was read of it, and tell ``RoomNews/proved(_:_:found:)``.
    case prove(RoomID, RoomReading)
    /// Something was noticed about a room's log: a line for the hub's.
    case warn(RoomID, RoomWarning)
    /// Sign an entry and append it to its room's log.
    indirect case append(RoomContent)
    /// Make the keys of an ask, and tell ``RoomNews/ask(_:_:_:)``.
    case prepare(RoomAsk, RoomAsker)
    /// Hear what members tell beside a room's log, and tell ``RoomNews/heard(_:at:)``.
    case listen(RoomID)
    /// Sign a message and tell it to the members beside the log.
    indirect case shout(RoomLive)
    /// Something happened in a room in which the runner takes part: a line for the log.
    case event(RoomID, RoomEvent)
    /// Read the adverts of a class now and every second, and tell ``RoomNews/adverts(_:at:)``; `nil`: of none any more.
    case seek(listedAs: String?)
    /// Make the keys to enter a room, or for `nil` to open one, and tell ``RoomNews/keys(_:)``.
    case key(RoomID?)
    /// Put the runner's advert of a class in the place of the one before; `nil` takes that away.
    indirect case advertise(RoomAdvert?, listedAs: String)
  }

  /// Somebody asks: on this machine, or a device over the bus. The ask comes back from the driver with its keys.
  mutating func receive(
    _ ask: RoomAsk, from asker: RoomAsker, by identity: ConnectionIdentity, in turn: inout Turn
  ) {
    guard together.desk != nil else { return tell(.refused(.alone), of: ask.id, to: asker, in: &turn) }
    guard members.list.mayUse(ask.source, identity) else {
      return tell(.refused(.forbidden), of: ask.id, to: asker, in: &turn)
    }
    guard members.admits(.questions, identity, at: turn.now) else {
      return tell(.refused(.busy), of: ask.id, to: asker, in: &turn)
    }
    turn.act(.room(.prepare(ask, asker)))
  }

  mutating func receive(_ news: RoomNews, in turn: inout Turn) {
    let now = turn.monotonic
    switch news {
    case .ask(let ask, let keys, let asker):
      guard together.wait(for: ask.id, asker, at: now) else {
        return tell(.refused(.busy), of: ask.id, to: asker, in: &turn)
      }
      let isRunOn = commands.control.runOn != nil
      carryOut(together.withDesk(at: now) { $0.ask(ask, keys: keys, isRunOn: isRunOn, at: now) }, in: &turn)
    case .read(let room, let entries, let isEnd, let reading, let heard):
      carryOut(
        together.withDesk(at: now) { $0.read(room, entries, isEnd: isEnd, reading: reading, heard: heard, at: now) },
        in: &turn)
    case .heard(let live, let moment):
      carryOut(together.withDesk(at: now) { $0.heard(live, at: min(moment, now)) }, in: &turn)
    case .replaced(let room, let reading):
      carryOut(together.withDesk(at: now) { $0.replaced(room, reading: reading) }, in: &turn)
    case .unreachable(let room, let reason):
      carryOut(together.withDesk(at: now) { $0.unreachable(room, because: reason) }, in: &turn)
    case .proved(let room, let reading, let found):
      carryOut(together.withDesk(at: now) { $0.proved(room, reading, found: found, at: now) }, in: &turn)
    case .refused(let room, let number):
      carryOut(together.withDesk(at: now) { $0.refused(room, number: number, at: now) }, in: &turn)
    case .adverts(let adverts, let time):
      carryOut(together.withDesk(at: now) { $0.heard(adverts, at: time, now: now) }, in: &turn)
    case .keys(let keys): carryOut(together.withDesk(at: now) { $0.keyed(keys, at: now) }, in: &turn)
    }
  }

  /// How the rooms stand; empty for a hub that takes no part.
  func roomReports(at now: BusTime) -> [RoomReport] { together.desk?.reports(at: now) ?? [] }

  /// Reads the logs of the rooms that an earlier life followed.
  mutating func startTogether(in turn: inout Turn) {
    let now = turn.monotonic
    carryOut(together.withDesk(at: now) { $0.start() }, in: &turn)
    if let run = commands.control.runID, let began = commands.control.startedAt {
      let startedAt = settings.clock.real(at: began)
      let isOn = commands.control.runOn == run
      carryOut(together.withDesk(at: now) { $0.resumed(run, startedAt: startedAt, isOn: isOn, at: now) }, in: &turn)
    }
    // The earlier life may have died between the change of a record and what it had to say of it.
    for run in together.desk?.statedRuns ?? [] {
      amendTogether(run, records.removal(of: run) == nil ? .made : .removed, in: &turn)
    }
  }

  /// The record of a run was made, or is removed.
  mutating func amendTogether(
    _ run: RunID, _ change: TogetherDesk.RecordChange, _ made: RecordMaker.Made? = nil, in turn: inout Turn
  ) {
    let now = turn.monotonic
    carryOut(together.withDesk(at: now) { $0.amended(run, change, at: now) }, made: made, in: &turn)
  }

  /// Does what is due in rooms.
  mutating func actTogether(in turn: inout Turn) {
    let now = turn.monotonic
    carryOut(together.withDesk(at: now) { $0.act(at: now) }, in: &turn)
  }

  /// Rows of a room are durable.
  mutating func keep(_ receipt: DeskReceipt, in turn: inout Turn) {
    let now = turn.monotonic
    carryOut(together.withDesk(at: now) { $0.kept(receipt, at: now) }, in: &turn)
  }

  /// The hub's own sensors say where the runner is.
  mutating func moveTogether(_ sample: Sample, in turn: inout Turn) {
    guard together.desk != nil, case .position(let position) = sample.value,
      let accuracy = position.horizontalAccuracyMeters, (0...TogetherDesk.Fix.accuracyMax).contains(accuracy)
    else { return }
    let now = turn.monotonic
    let fix = TogetherDesk.Fix(latitude: position.latitude, longitude: position.longitude)
    carryOut(together.withDesk(at: now) { $0.moved(to: fix, at: now) }, in: &turn)
  }

  /// - Parameter made: What was just made of the run that is to be measured.
  private mutating func carryOut(_ actions: [DeskAction], made: RecordMaker.Made? = nil, in turn: inout Turn) {
    for action in actions {
      switch action {
      case .keep(let room, let rows, let receipt): turn.write([.keepRoom(room, rows)], then: [.room(receipt)])
      case .forget(let room): turn.write([.forgetRoom(room)])
      case .follow(let room, let reading): turn.act(.room(.follow(room, reading)))
      case .unfollow(let room): turn.act(.room(.unfollow(room)))
      case .prove(let room, let reading): turn.act(.room(.prove(room, reading)))
      case .warn(let room, let warning): turn.act(.room(.warn(room, warning)))
      case .append(let content): turn.act(.room(.append(content)))
      case .answer(let ask, let answer):
        for asker in together.askers(of: ask, takes: answer) { tell(answer, of: ask, to: asker, in: &turn) }
      case .press(let press, let age): self.press(press, age: age, in: &turn)
      case .measure(let room, let run, let since, let use):
        measure(room, run, since: since, for: use, made: made, in: &turn)
      case .event(let room, let event): turn.act(.room(.event(room, event)))
      case .listen(let room): turn.act(.room(.listen(room)))
      case .shout(let live): turn.act(.room(.shout(live)))
      case .cue(let cue): turn.act(.publish(.cue(cue)))
      case .show: together.showAnew()
      case .seek(let name): turn.act(.room(.seek(listedAs: name)))
      case .key(let room): turn.act(.room(.key(room)))
      case .advertise(let advert, let name): turn.act(.room(.advertise(advert, listedAs: name)))
      }
    }
    showRoom(in: &turn)
  }

  /// Shows the room to the runner's devices, if it has changed or a new one subscribed.
  mutating func showRoom(in turn: inout Turn) {
    guard let view = together.view(term: term, at: turn.monotonic) else { return }
    turn.act(.publish(.room(view)))
    run.show(room: view, run: together.desk?.shownRun(at: turn.monotonic), at: turn.now)
  }

  private mutating func tell(
    _ answer: RoomAnswer, of ask: Identifier<RoomAskTag>, to asker: RoomAsker, in turn: inout Turn
  ) {
    switch asker {
    case .inquiry(let number): turn.act(.answer(.room(.answer(answer)), number))
    case .request(let connection): reply(.answer(.room(.answer(answer))), on: connection, in: &turn)
    case .session(let connection, let number):
      guard sessions[connection]?.number == number else { break }
      turn.act(.send(HubFrame(session: number, message: .room(ask, answer)), to: connection))
    }
  }

  /// Presses a button for a room. The id of the command is made from the run, so that a repetition in the next life is
  /// the same press.
  private mutating func press(_ press: RoomPress, age: BusDuration, in turn: inout Turn) {
    let command: Command
    switch press {
    case .start(let run, let goal):
      command = .start(
        id: CommandID(high: run.high, low: run.low), goal: RunGoal(time: goal), source: .room, runID: run)
    case .stop(let run):
      // A hub that slept through the run has nothing to stop; a press that was rejected would never count later.
      guard commands.ownRun == run else { return }
      command = Command(id: CommandID(high: run.high, low: ~run.low), kind: .stop, source: .room, runID: run)
    }
    let pressed = IncomingCommand.Moment.monotonic(turn.monotonic - age)
    admit(commands.ownPress(command, on: settings.deviceID, pressed: pressed, at: turn.now), in: &turn)
  }

  /// Measures a room's run between the room's start and its end, the run's stop, or now; one that is not the last any more
  /// by its record.
  private mutating func measure(
    _ room: RoomID, _ run: RunID, since: BusDuration, for use: StandingUse, made: RecordMaker.Made?,
    in turn: inout Turn
  ) {
    let now = turn.monotonic
    let began = turn.now - settings.clock.speed.bus(fromReal: since)
    let goal = together.desk?.machine(of: room)?.state.terms?.goal ?? .zero
    var standing = self.run.standing(
      of: run, isShown: commands.control.runID == run, from: began, to: began + goal, at: turn.now)
    if let shown = commands.control.runID { standing?.run = shown }
    if standing?.run != run, let made { standing = RunStanding(run, made, goal: goal) }
    carryOut(together.withDesk(at: now) { $0.measured(room, standing, for: use, at: now) }, in: &turn)
  }
}

extension RunStanding {
  /// A room's own run by its record: it started with the room. `nil` when it went on after the room's end.
  fileprivate init?(_ run: RunID, _ made: RecordMaker.Made, goal: BusDuration) {
    let report = made.body.report
    guard made.goal?.time == goal, report.metrics.elapsed <= goal else { return nil }
    let parts = Dictionary(grouping: report.stretches, by: \.source).mapValues { $0.reduce(0) { $0 + $1.meters } }
    self.init(
      run: run, phase: .completed, elapsed: report.metrics.elapsed,
      decimetres: report.metrics.distanceMeters.map { Int(($0 * 10).rounded()) },
      parts: DistanceSource.allCases.compactMap { source in
        parts[source].flatMap { $0 >= 1 ? RoomRecord.Part(source: source, metres: Int($0.rounded())) : nil }
      })
  }
}
