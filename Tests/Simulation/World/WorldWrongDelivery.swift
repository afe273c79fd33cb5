import RunCore

// What wrong members do to names, marks and numbers.
extension World {
  // MARK: The list of devices

  /// States versions that no device was told, without a proof, with that of another version, or with invented bytes.
  mutating func stateFalseVersions(_ member: Int) {
    let proofs = [nil, wrong.proof, ListProof((0..<ListProof.byteCount).map { UInt8($0) })]
    for ahead in [1, 2, 10_000, UInt64.max >> 4].shuffled(using: &random).prefix(2) {
      let place = voice(of: member)
      var hello = hello(self[place], termSeen: hub.store.term)
      hello.listVersion = hub.store.members.version + ahead
      hello.listProof = proofs.randomElement(using: &random)!
      say(.hello(hello), by: place)
    }
    announceTakenKeys(member)
  }

  /// Announces keys that are not its own to announce: those that other devices use, that of the hub, and zeros. It does
  /// not know a key that another device has announced and not used.
  private mutating func announceTakenKeys(_ member: Int) {
    let hubKeys = [Self.bus.key, KeyFingerprint(Array(repeating: 0, count: KeyFingerprint.byteCount))!]
    let used = peers.indices.compactMap { index -> KeyFingerprint? in
      guard index != owner.victim, case .key(let key) = peers[index].identity else { return nil }
      return key
    }
    let taken = used + hubKeys
    for key in taken.shuffled(using: &random).prefix(2) { say(.announceKey(key), by: voice(of: member)) }
  }

  // MARK: Names

  mutating func borrowNames(_ member: Int) {
    switch Int.random(in: 0..<8, using: &random) {
    case 0..<2:
      let place = newVoice(of: member, name: DeviceID("phone"))
      self[place].waiting = [someCommand(), .samples([someSample(1)])]
    case 2: ask(wrongCommand(wrong.identifier(), .lap), as: DeviceID("phone"))
    case 3..<5: borrowFromVictim(member)
    case 5:
      // Other sessions have numbers close to its own.
      let place = voice(of: member)
      let session = self[place].session
      let messages: [PeerMessage] = [
        .goodbye, .query, someCommand(), .delivery(.acknowledge(.verdicts, through: 1 << 20)),
      ]
      for offset in 1...3 as ClosedRange<UInt64> {
        say(messages.randomElement(using: &random)!, by: place, session: session &- offset)
        say(messages.randomElement(using: &random)!, by: place, session: session &+ offset)
      }
    case 6:
      // Two sessions of one store, and two stores on one connection.
      let place = voice(of: member)
      newVoice(of: member, store: self[place].store)
    default:
      let place = voice(of: member)
      self[place].store = wrong.identifier()
      self[place].next = [:]
      greet(place)
      self[place].waiting = [someCommand()]
    }
  }

  private mutating func borrowFromVictim(_ member: Int) {
    if chance(8) {
      tally.count("wrong: the hub's store")
      newVoice(of: member, store: hub.store.storeID, waiting: [someCommand()])
      return
    }
    // With identities the name of a device that the hub has not met is anybody's.
    guard let victim = wrong.victim, !climate.hasIdentities || hub.store.devices[peers[victim].name] != nil else {
      return press(voice(of: member))
    }
    tally.count("wrong: another's name")
    if wrong.isStoreBorrowed, chance(3) {
      tally.count("wrong: another's store")
      // Under a name of its own, only the identity tells a connection from the store's.
      let name = climate.hasIdentities && chance(2) ? nil : peers[victim].name
      newVoice(of: member, name: name, store: peers[victim].store.storeID)
    } else if chance(2) {
      newVoice(of: member, name: peers[victim].name, waiting: [someCommand()])
    } else {
      ask(wrongCommand(wrong.identifier(), .lap), as: peers[victim].name)
    }
  }

  // MARK: Numbers

  private static let longSpans: [BusDuration] = [
    BusDuration(nanoseconds: .max), BusDuration(nanoseconds: .max / 2), .seconds(100_000), .seconds(86_400),
  ]
  private static let oddSpans: [BusDuration] = longSpans + [BusDuration(nanoseconds: .min), .seconds(-100_000)]
  private static let counters: [UInt64] = [1 << 62, 1 << 62 - 1, 1 << 33, 1 << 32, 1 << 31, 1 << 20, 0]
  private static let readings: [Double] = [.nan, .infinity, -.infinity, -1.5, 1e300, 0.5, 149.5]

  mutating func sendExtremes(_ member: Int) {
    func one<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
    let place = voice(of: member)
    switch Int.random(in: 0..<9, using: &random) {
    case 0: greet(place, termSeen: one(Self.counters + [hub.store.term + 1, hub.store.term + 1000]))
    case 1:
      var command = wrongCommand(wrong.identifier(), one(CommandKind.allCases), run: wrong.rumours.runs.last)
      command.runOffset = one(Self.oddSpans)
      send(command, by: place, age: chance(2) ? one(Self.longSpans) : .zero, isUncertain: chance(2))
    case 2:
      let base = ObservedRevision(revision: one(Self.counters), commandID: wrong.rumours.base.commandID)
      send(
        wrongCommand(wrong.identifier(), one(CommandKind.allCases), base: base), by: place, age: one(Self.longSpans),
        stopFollows: chance(2))
    case 3: send(wrongCommand(wrong.identifier(), .lap), by: place, at: max(1, one(Self.counters)))
    case 4:
      let sentAt = one([BusTime(nanoseconds: .min), BusTime(nanoseconds: .max), .zero])
      // The codec refuses other intervals.
      let interval = one([Heartbeat.intervals.lowerBound, .seconds(10), Heartbeat.intervals.upperBound])
      say(
        .ping(one(Self.counters), nextWithin: interval, roundTrip: one(Self.longSpans)), by: place, sentAt: sentAt)
      say(someCommand(at: self[place].place(.commands)), by: place, sentAt: sentAt)
    case 5, 6: sendExtremeSamples(place)
    case 7:
      let message = AppMessage(id: wrong.identifier(), name: "x", body: [])
      say(.delivery(.latest(key: "k", version: one(Self.counters), message)), by: place)
      say(
        .delivery(.messages([MessageTransmission(sequence: max(1, one(Self.counters)), message: message)])), by: place)
    default:
      say(.fetchRecord(RecordFetch(after: one(Self.counters), from: one([0, .max, 1 << 31]))), by: place)
      say(.inquire(.route(from: one([0, .max, 1 << 31]))), by: place)
    }
  }

  private mutating func sendExtremeSamples(_ place: WrongPlace) {
    var samples: [SampleTransmission] = []
    for _ in 0..<4 {
      let reading = Self.readings.randomElement(using: &random)!
      let value: SampleValue =
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .position(Position(latitude: reading, longitude: -reading, horizontalAccuracyMeters: reading))
        case 1: .altitude(meters: reading, .barometer)
        case 2: .cadence(stepsPerMinute: reading)
        case 3: .pedometer(meters: reading)
        default: .heartRate(bpm: reading)
        }
      let moment: SampleMoment =
        chance(2)
        ? .age(Self.longSpans.randomElement(using: &random)!) : .runOffset(Self.oddSpans.randomElement(using: &random)!)
      samples.append(
        SampleTransmission(
          sequence: self[place].place(.samples), moment: chance(3) ? .age(.zero) : moment, value: value,
          runID: wrong.rumours.runs.randomElement(using: &random)))
    }
    say(.samples(samples), by: place)
  }

  mutating func someCommand(at sequence: UInt64 = 1) -> PeerMessage {
    .command(
      CommandTransmission(
        command: wrongCommand(wrong.identifier(), [.pause, .resume, .lap].randomElement(using: &random)!),
        sequence: sequence,
        age: .zero))
  }

  mutating func someSample(_ sequence: UInt64) -> SampleTransmission {
    SampleTransmission(
      sequence: sequence, moment: .age(milliseconds(0...1000)),
      value: .heartRate(bpm: Double(Int.random(in: 60...200, using: &random)) + 0.5), runID: wrong.rumours.runs.last)
  }

  // MARK: Marks

  mutating func sendFalseMarks(_ member: Int) {
    let place = voice(of: member)
    let far = Self.counters.randomElement(using: &random)!
    let kind = StreamID.Kind.allCases.randomElement(using: &random)!
    switch Int.random(in: 0..<8, using: &random) {
    case 0: say(.delivery(.acknowledge(kind, through: far)), by: place)
    case 1: say(.delivery(.goBack(kind, to: chance(2) ? 0 : far, failure: chance(2) ? "no" : nil)), by: place)
    case 2:
      let from = max(1, self[place].next[kind] ?? 1)
      say(.delivery(.tombstones(kind, from: chance(2) ? 1 : from, through: from + 1 << 19)), by: place)
    case 3: say(.delivery(.tombstones(kind, from: 1, through: self[place].next[kind] ?? 1)), by: place)
    case 4: greet(place, acknowledged: [kind: far])
    case 5:
      greet(place, received: [kind: StreamMark(sequence: far, id: chance(2) && far > 0 ? wrong.identifier() : nil)])
    case 6:
      say(.delivery(.acknowledgeLatest(key: "k", version: far)), by: place)
      say(.delivery(.delivered(through: far)), by: place)
    default:
      // The hub owes it something that it never acknowledges.
      guard hub.core != nil else { return }
      let message = AppMessage(id: wrong.identifier(), name: "x", body: [1])
      feedHub(.post(message, chance(2) ? .queued : .latest(key: "k"), to: self[place].name))
    }
  }

  // MARK: Floods

  mutating func flood(_ member: Int) {
    let place = voice(of: member)
    let count = Int.random(in: 4...16, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<2: for _ in 0..<count { press(place, chance(2) ? .lap : nil, age: .zero) }
    case 2: for _ in 0..<count / 2 { toggle(place) }
    case 3:
      var samples: [SampleTransmission] = []
      for _ in 0..<count * 4 { samples.append(someSample(self[place].place(.samples))) }
      say(.samples(samples), by: place)
    case 4: for _ in 0..<count { say(someValue(key: "\(wrong.number())"), by: place) }
    case 5: for _ in 0..<count / 2 { greetOnce(as: inventedName()) }
    case 6:
      let inquiries: [Inquiry] = [.peers, .outbox, .quarantine, .report, .route(from: 0), .records(from: 0)]
      for _ in 0..<count { say(chance(2) ? .query : .inquire(inquiries.randomElement(using: &random)!), by: place) }
      say(.fetchRecord(RecordFetch(after: 0, from: 0)), by: place)
    case 7:
      for _ in 0..<count / 2 {
        ask(wrongCommand(wrong.identifier(), .lap), as: chance(4) ? honestName() : inventedName())
      }
    case 8:
      // The same requests again and again, without a session.
      let connection = wrong.connection()
      let name = wrong.members[member].name
      let command = wrong.rumours.commands.last?.command ?? wrongCommand(wrong.identifier(), .lap)
      for _ in 0..<count * 4 {
        let subject: Request.Subject = [
          .command(CommandRequest(command: command, deviceID: name, age: .zero)), .state, .inquiry(.report),
          .inquiry(.route(from: 0)),
        ].randomElement(using: &random)!
        transmitWrong(PeerFrame(session: 0, sentAt: now, message: .request(Request(subject))), on: connection)
      }
    default:
      var messages: [MessageTransmission] = []
      for _ in 0..<count {
        messages.append(
          MessageTransmission(
            sequence: self[place].place(.messages),
            message: AppMessage(id: wrong.identifier(), name: "x", body: [1, 2, 3])))
      }
      say(.delivery(.messages(messages)), by: place)
      say(.delivery(.live(AppMessage(id: wrong.identifier(), name: "x", body: []))), by: place)
    }
  }

  /// Late presses are judged alone, so each makes a transition, until the hub forgets the oldest ones.
  mutating func toggle(_ place: WrongPlace) {
    press(place, .pause, age: .milliseconds(700))
    press(place, .resume, age: .milliseconds(650))
  }

  mutating func someValue(key: String, body: [UInt8] = [1]) -> PeerMessage {
    .delivery(.latest(key: key, version: 1, AppMessage(id: wrong.identifier(), name: "x", body: body)))
  }

  /// A request may state any device, because nodes send on behalf of others.
  private mutating func honestName() -> DeviceID {
    chance(3) ? DeviceID("script") : peers.randomElement(using: &random)!.name
  }

  mutating func inventedName() -> DeviceID {
    wrong.namesInvented += 1
    return DeviceID("nobody-\(wrong.number())")!
  }

  /// A device that is never heard again.
  mutating func greetOnce(as name: DeviceID, waiting: [PeerMessage] = []) {
    let voice = WrongVoice(connection: wrong.connection(), name: name, store: wrong.identifier())
    transmitWrong(
      PeerFrame(session: 0, sentAt: now, message: .hello(hello(voice, termSeen: 0))), on: voice.connection)
    if chance(2) { schedule(.gone(life: hub.life, route(voice.connection)), in: milliseconds(100...3000)) }
  }

  // MARK: Repetitions

  mutating func repeatItself(_ member: Int) {
    let place = voice(of: member)
    switch Int.random(in: 0..<4, using: &random) {
    case 0..<2: for message in self[place].said.shuffled(using: &random) { say(message, by: place) }
    case 2:
      // An older copy of its store, on a new connection.
      guard let copy = wrong.members[member].copy else { break }
      tally.count("wrong: an old copy")
      let again = newVoice(of: member, name: copy.name, store: copy.store)
      self[again].next = copy.next
      self[again].lastVerdict = copy.lastVerdict
      greet(again, acknowledged: copy.next.mapValues { $0 - 1 })
      press(again)
    default: press(place)
    }
    if wrong.members[member].copy == nil || chance(3) { wrong.members[member].copy = self[place] }
  }
}
