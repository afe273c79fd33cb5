import RunCore

// Sieges: more of one thing than a hub holds.
extension World {
  mutating func besiege(_ siege: WrongSiege, by member: Int) {
    switch siege {
    case .unfinishedRuns: besiegeWithRuns(member)
    case .values: besiegeWithValues(member)
    case .devices: for _ in 0..<1200 { greetOnce(as: inventedName()) }
    case .verdicts: besiegeWithVerdicts(member)
    case .commands: besiegeWithCommands(member)
    case .oblivion: besiegeWithTransitions(member)
    }
  }

  private mutating func besiegeWithRuns(_ member: Int) {
    for _ in 0..<3 {
      var messages: [PeerMessage] = []
      // One run a stream: the next start of a stream lets go of the run before it.
      let start = wrongCommand(wrong.identifier(), .start)
      let run = RunID(high: start.id.high, low: start.id.low)
      for place in 1...250 as ClosedRange<UInt64> {
        let press = place == 1 ? start : wrongCommand(wrong.identifier(), .lap, run: run)
        messages.append(
          .command(CommandTransmission(command: press, sequence: place, age: .seconds(20), stopFollows: true)))
      }
      newVoice(of: member, name: chance(2) ? inventedName() : nil, waiting: messages)
    }
  }

  /// Many devices with values, or one voice with too many keys.
  private mutating func besiegeWithValues(_ member: Int) {
    guard chance(2) else {
      for _ in 0..<2 {
        var messages: [PeerMessage] = []
        for _ in 0..<1100 { messages.append(someValue(key: "\(wrong.number())")) }
        newVoice(of: member, waiting: messages)
      }
      return
    }
    let body = Array(repeating: UInt8(1), count: AppMessage.bodyMax)
    for _ in 0..<12 {
      var messages: [PeerMessage] = []
      for _ in 0..<140 { messages.append(someValue(key: "\(wrong.number())", body: body)) }
      newVoice(of: member, name: inventedName(), waiting: messages)
    }
  }

  private mutating func besiegeWithVerdicts(_ member: Int) {
    // Uses the same voice each time, while it exists.
    let silent = wrong.members[member].voices.firstIndex { $0.isSilent }
    let place = silent.map { WrongPlace(member: member, voice: $0) } ?? newVoice(of: member)
    (self[place].isSilent, self[place].acknowledges) = (true, false)
    for _ in 0..<150 { say(someCommand(at: self[place].place(.commands)), by: place) }
    // The welcome tells the voice how far the hub has come, so that it sends refused commands again.
    greet(place)
  }

  /// The whole queue by one device, or a share by each of many, with streams and requests.
  private mutating func besiegeWithCommands(_ member: Int) {
    let isAlone = chance(2)
    for count in isAlone ? [900] : [300, 300, 300] as [UInt64] {
      var messages: [PeerMessage] = []
      for place in 1...count { messages.append(someCommand(at: place)) }
      newVoice(of: member, name: inventedName(), waiting: messages)
    }
    for _ in 0..<(isAlone ? 0 : 3) {
      let name = inventedName()
      for _ in 0..<300 { ask(wrongCommand(wrong.identifier(), .lap), as: name) }
    }
  }

  private mutating func besiegeWithTransitions(_ member: Int) {
    let place = newVoice(of: member)
    self[place].acknowledges = true
    press(place, .start, age: .zero)
    for _ in 0..<60 { toggle(place) }
    // By now the hub knows the first run only by its record.
    guard wrong.members[member].rounds < 4, let first = wrong.rumours.runs.first else { return }
    ask(wrongCommand(wrong.identifier(), .start, run: first), as: wrong.members[member].name)
    send(wrongCommand(wrong.identifier(), .start, run: first), by: place, age: .seconds(20))
  }
}
