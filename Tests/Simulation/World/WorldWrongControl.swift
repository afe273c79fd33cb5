import RunCore

// What wrong members do to the run: commands that no honest device sends.
extension World {
  func wrongCommand(_ id: CommandID, _ kind: CommandKind, run: RunID? = nil, base: ObservedRevision? = nil) -> Command {
    var command = Command(id: id, kind: kind, source: .watch, runID: run, base: base)
    // A start with the id of an honest one may be judged in its place: the checks know the goal by the id.
    if kind == .start, let goal = Self.goal(of: id) { _ = command.aim(at: goal) }
    return command
  }

  /// Sends a command on a stream, with its next sequence number or with another one.
  mutating func send(
    _ command: Command, by place: WrongPlace, age: BusDuration = .zero, at sequence: UInt64? = nil,
    isUncertain: Bool = false, stopFollows: Bool = false
  ) {
    let sequence = sequence ?? self[place].place(.commands)
    say(
      .command(
        CommandTransmission(
          command: command, sequence: sequence, age: age, isUncertain: isUncertain, stopFollows: stopFollows)),
      by: place)
  }

  /// An ordinary press, now or in the past.
  mutating func press(_ place: WrongPlace, _ wanted: CommandKind? = nil, age: BusDuration? = nil) {
    let kinds: [CommandKind] = [.start, .start, .pause, .resume, .pause, .resume, .lap, .stop]
    let kind = wanted ?? kinds.randomElement(using: &random)!
    let run = chance(3) ? someRun() : kind == .start ? nil : wrong.rumours.runs.last
    let ages: [BusDuration] = [.zero, .zero, milliseconds(0...900), milliseconds(600...20_000)]
    send(
      wrongCommand(wrong.identifier(), kind, run: run, base: chance(3) ? nil : wrong.rumours.base), by: place,
      age: age ?? ages.randomElement(using: &random)!)
  }

  /// A run that is on, over or forgotten, an alias, or an invented run.
  private mutating func someRun() -> RunID? {
    switch Int.random(in: 0..<8, using: &random) {
    case 0..<3: wrong.rumours.runs.last
    case 3..<5: wrong.rumours.runs.randomElement(using: &random)
    case 5: wrong.rumours.runs.first
    case 6: hub.store.aliases.keys.min() ?? wrong.rumours.runs.first
    default: wrong.identifier()
    }
  }

  // MARK: Runs that arrive whole

  mutating func sendUnfinishedRuns(_ member: Int) {
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      sendRun(voice(of: member), named: wrong.identifier(), isFinished: chance(6))
    }
  }

  /// A start that says that its stop follows, some commands, and perhaps the stop.
  private mutating func sendRun(_ place: WrongPlace, named run: RunID?, isFinished: Bool) {
    var age = milliseconds(1_000...(chance(4) ? 4_000_000 : 30_000))
    var kinds: [CommandKind] = [.start]
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      kinds.append([.pause, .resume, .lap].randomElement(using: &random)!)
    }
    if isFinished { kinds.append(.stop) }
    for kind in kinds {
      send(
        wrongCommand(wrong.identifier(), kind, run: run, base: chance(2) ? wrong.rumours.base : nil), by: place,
        age: age,
        stopFollows: kind != .stop)
      age = max(.milliseconds(600), age - milliseconds(100...2000))
    }
  }

  mutating func sendNamedStarts(_ member: Int) {
    let place = voice(of: member)
    let run = someRun()
    switch Int.random(in: 0..<6, using: &random) {
    case 0..<2: sendRun(place, named: run, isFinished: true)
    case 2:
      send(
        wrongCommand(wrong.identifier(), .start, run: run), by: place, age: milliseconds(600...60_000),
        stopFollows: chance(2))
    case 3:
      ask(
        wrongCommand(wrong.identifier(), .start, run: run), as: wrong.members[member].name, age: milliseconds(0...5000))
    default: send(wrongCommand(wrong.identifier(), .start, run: run, base: wrong.rumours.base), by: place)
    }
  }

  /// A request in anybody's name.
  func wrongRequest(_ command: Command, as name: DeviceID, age: BusDuration) -> PeerFrame {
    PeerFrame(
      session: 0, sentAt: .zero,
      message: .request(Request(.command(CommandRequest(command: command, deviceID: name, age: age)))))
  }

  mutating func ask(_ command: Command, as name: DeviceID, age: BusDuration = .zero) {
    transmitWrong(wrongRequest(command, as: name, age: age), on: wrong.connection(), isRequest: true)
  }

  // MARK: Commands of others

  mutating func copyCommands(_ member: Int) {
    let known = wrong.rumours.commands
    guard !known.isEmpty else { return press(voice(of: member)) }
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let (copied, _) = chance(2) ? known[known.count - 1] : known.randomElement(using: &random)!
      var command = copied
      if chance(2) {
        command = wrongCommand(
          copied.id, CommandKind.allCases.randomElement(using: &random)!, run: someRun(), base: copied.base)
      }
      let age = milliseconds(0...3000)
      switch Int.random(in: 0..<6, using: &random) {
      case 0..<3: send(command, by: voice(of: member), age: age, stopFollows: chance(4))
      case 3: ask(command, as: wrong.members[member].name, age: age)
      case 4:
        say(wrongRequest(command, as: wrong.members[member].name, age: age).message, by: voice(of: member))
      default:
        let request = wrongRequest(command, as: wrong.members[member].name, age: age)
        transmitWrong(request, on: wrong.connection())
      }
    }
  }
}
