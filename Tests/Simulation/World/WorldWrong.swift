import RunCore

// Wrong members: when they act, what they send, and what they hear.
extension World {
  /// Schedules a misdeed soon after a step of honest members, so that the two meet: after each step of a short world,
  /// after every fifth of a long one.
  mutating func scheduleMisdeed() {
    guard !wrong.members.isEmpty, !rhythm.isLong || steps.isMultiple(of: 5) else { return }
    schedule(.misdeed(steps), in: milliseconds(0...250))
  }

  mutating func misdeed(_ number: Int) {
    guard !isHealed, !options.cut.misdeeds.contains(number) else { return }
    random = WorldRandom(seed: seed, 8, UInt64(number))
    write(line: "misdeed \(number)")
    let member = Int.random(in: wrong.members.indices, using: &random)
    if let siege = nextSiege(of: member) {
      besiege(siege, by: member)
    } else {
      commit(wrong.members[member].habits.randomElement(using: &random)!, by: member)
    }
    random = WorldRandom(seed: seed, 9, UInt64(number))
    checkHoldings()
    checkList()
  }

  /// The siege whose next round a member plays; `nil` while it does something else.
  private mutating func nextSiege(of member: Int) -> WrongSiege? {
    guard let siege = wrong.members[member].siege, steps > 20 else { return nil }
    if wrong.members[member].rounds == 0 {
      guard chance(10) else { return nil }
      tally.count("siege: \(siege)")
      wrong.members[member].rounds = siege.rounds
    } else if chance(2) {
      return nil
    }
    wrong.members[member].rounds -= 1
    if wrong.members[member].rounds == 0 { wrong.members[member].siege = nil }
    return siege
  }

  private mutating func commit(_ habit: WrongHabit, by member: Int) {
    tally.count("wrong: \(habit)")
    switch habit {
    case .unfinishedRuns: sendUnfinishedRuns(member)
    case .namedStarts: sendNamedStarts(member)
    case .copiedCommands: copyCommands(member)
    case .borrowedNames: borrowNames(member)
    case .extremeNumbers: sendExtremes(member)
    case .falseMarks: sendFalseMarks(member)
    case .floods: flood(member)
    case .repetitions: repeatItself(member)
    case .falseVersions: stateFalseVersions(member)
    case .hurry: hurry(member)
    case .presses: for _ in 0..<Int.random(in: 1...6, using: &random) { press(voice(of: member)) }
    }
  }

  // MARK: Voices

  /// The position of a voice among its member's voices.
  struct WrongPlace {
    let member: Int
    let voice: Int
  }

  subscript(_ place: WrongPlace) -> WrongVoice {
    get { wrong.members[place.member].voices[place.voice] }
    set { wrong.members[place.member].voices[place.voice] = newValue }
  }

  private static let voicesMax = 4

  /// One of a member's voices; a voice without a session says hello first.
  mutating func voice(of member: Int) -> WrongPlace {
    let voices = wrong.members[member].voices
    guard voices.count == Self.voicesMax || !voices.isEmpty && !chance(6) else { return newVoice(of: member) }
    let place = WrongPlace(member: member, voice: .random(in: voices.indices, using: &random))
    if self[place].session == 0 || chance(20) { greet(place) }
    return place
  }

  /// Adds a voice with a connection and a store of its own, and drops the oldest one if there are too many.
  @discardableResult
  mutating func newVoice(
    of member: Int, name: DeviceID? = nil, store: StoreID? = nil, waiting: [PeerMessage] = []
  ) -> WrongPlace {
    var voice = WrongVoice(
      connection: wrong.connection(), name: name ?? wrong.members[member].name, store: store ?? wrong.identifier())
    (voice.waiting, voice.acknowledges) = (waiting, chance(2))
    if wrong.members[member].voices.count >= Self.voicesMax { leave(wrong.members[member].voices.removeFirst()) }
    wrong.members[member].voices.append(voice)
    let place = WrongPlace(member: member, voice: wrong.members[member].voices.count - 1)
    greet(place)
    return place
  }

  /// The hub does not always notice.
  private mutating func leave(_ voice: WrongVoice) {
    if chance(2) { schedule(.gone(life: hub.life, route(voice.connection)), in: milliseconds(0...3000)) }
  }

  mutating func greet(
    _ place: WrongPlace, termSeen: UInt64? = nil, acknowledged: [StreamID.Kind: UInt64]? = nil,
    received: [StreamID.Kind: StreamMark]? = nil
  ) {
    let voice = self[place]
    let isKnown = voice.session > 0 || voice.next.count > 0
    say(
      .hello(
        hello(
          voice, termSeen: termSeen ?? hub.store.term, hub: isKnown && !chance(8) ? hub.store.storeID : nil,
          acknowledged: acknowledged ?? [:],
          received: received
            ?? (voice.lastVerdict > 0 && isKnown ? [.verdicts: StreamMark(sequence: voice.lastVerdict)] : [:]))),
      by: place)
  }

  mutating func hello(
    _ voice: WrongVoice, termSeen: UInt64, hub: StoreID? = nil, acknowledged: [StreamID.Kind: UInt64] = [:],
    received: [StreamID.Kind: StreamMark] = [:]
  ) -> Hello {
    Hello(
      deviceID: voice.name, role: .shell, nodeID: NodeID(high: WrongParty.mark, low: voice.connection),
      storeID: voice.store, nonce: random.next(), termSeen: min(termSeen, 1 << 62),
      hub: hub,
      // It may claim that its store is gone with it, and come back with that store.
      acknowledged: acknowledged, received: received, isEphemeral: chance(3))
  }

  mutating func say(
    _ message: PeerMessage, by place: WrongPlace, session: UInt64? = nil, sentAt: BusTime? = nil
  ) {
    let voice = self[place]
    // Without a session the hub accepts only a hello; now and then the voice tries anyway.
    guard voice.session > 0 || session != nil || Self.isHello(message) || chance(20) else {
      if voice.waiting.count < 256 { self[place].waiting.append(message) }
      return
    }
    transmitWrong(
      PeerFrame(session: session ?? voice.session, sentAt: sentAt ?? now, message: message), on: voice.connection)
    self[place].said.append(message)
    if voice.said.count > 8 { self[place].said.removeFirst() }
  }

  /// Frames of wrong members are never lost, because they are meant to arrive.
  mutating func transmitWrong(_ frame: PeerFrame, on connection: UInt64, isRequest: Bool = false) {
    tally.count("wrong frame")
    schedule(
      .toHub(ConnectionID(route: route(connection).route, isRequest: isRequest), frame), in: delay(),
      after: "from \(connection)")
  }

  /// A frame of the hub to a wrong member.
  mutating func hearWrong(_ frame: HubFrame, on connection: UInt64) {
    if options.isTraced { write(line: "to the wrong \(connection): \(frame.message)") }
    guard let (member, index) = wrong.voice(on: connection) else { return }
    let place = WrongPlace(member: member, voice: index)
    switch frame.message {
    case .welcome(let welcome):
      if self[place].name == DeviceID("phone") { faults.append("a member bears the hub's name") }
      self[place].session = frame.session
      noteAnswer(to: .hellos)
      if let proof = welcome.enrolment?.listProof { wrong.proof = proof }
      for kind in [StreamID.Kind.commands, .samples, .messages] {
        self[place].next[kind] = (welcome.received[kind]?.sequence ?? 0) + 1
      }
      let waiting = self[place].waiting
      self[place].waiting = []
      for message in waiting { say(message, by: place) }
    case .refused(let refusal):
      tally.count("wrong: refused \(refusal.code)")
      self[place].session = 0
      if refusal.code == .storeRegressed { (self[place].store, self[place].next) = (wrong.identifier(), [:]) }
    case .delivery(.verdicts(let transmissions)):
      guard let last = transmissions.last?.sequence, self[place].acknowledges else { return }
      self[place].lastVerdict = last
      say(.delivery(.acknowledge(.verdicts, through: last)), by: place)
    case .goodbye: self[place].session = 0
    case .answer: noteAnswer(to: .questions)
    case .receipt, .delivery, .pong, .state, .recordChange, .pairing, .room: break
    }
  }

  // MARK: The end

  /// Wrong members leave, and the hub restarts: nothing that they left may limit honest members.
  mutating func dismissWrong() {
    guard !wrong.members.isEmpty else { return }
    write(line: "the wrong members leave")
    faults += hub.store.crowds + hub.store.hoards
    _ = queue.removeAll {
      switch $0 {
      case .toHub(let connection, _): WrongParty.isWrong(Self.number(of: connection))
      case .misdeed: true
      default: false
      }
    }
    for member in wrong.members { for voice in member.voices { leave(voice) } }
    for index in wrong.members.indices { wrong.members[index].voices = [] }
    crash(.hub)
  }

  static func number(of connection: ConnectionID) -> UInt64 { connection.route.reduce(0) { $0 << 8 | UInt64($1) } }

  /// After the trouble one device stops the present run and makes another: each press must apply, in time.
  mutating func probe() {
    guard !wrong.members.isEmpty, faults.isEmpty,
      let index = peers.indices.first(where: { $0 != wrong.harmed && loss != .peer($0) })
    else { return }
    for kind in [CommandKind.stop, .start, .lap, .stop] {
      var command = command(of: index, kind)
      command.ifRevision = nil
      let isExpected =
        (kind != .stop || peers[index].core?.authoritative.phase.isOn == true) && !isUnknown(command.id)
      feedPeer(index, .press(command))
      advance(to: now + .seconds(5))
      let outcome = presses[command.id]?.verdict?.outcome
      if outcome == nil || isExpected && outcome != .applied {
        let end = outcome.map { "is \($0)" } ?? "is not judged"
        faults.append("after the wrong members have left, a \(kind.rawValue) \(end) within 5 s")
      }
    }
    for kind in [CommandKind.start, .stop] where faults.isEmpty {
      let command = command(of: nil, kind)
      feedHub(.press(command))
      advance(to: now + .seconds(5))
      if hub.store.verdicts[command.id]?.outcome != .applied {
        faults.append("after the wrong members have left, a \(kind.rawValue) by the hub's own button is not applied")
      }
    }
    faults += hub.store.hoards
    advance(to: now + .seconds(10))
  }
}
