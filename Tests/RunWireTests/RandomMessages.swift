import RunCore

/// Draws valid messages, with and without every optional part, with every case of every enum.
struct RandomMessages {
  private var generator: SeededGenerator
  /// Creates a generator that draws the same messages for the same seed.
  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func bits() -> UInt64 { generator.next() }
  mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
  mutating func coin() -> Bool { Bool.random(using: &generator) }
  mutating func one<T>(of all: [T]) -> T { all[number(below: all.count)] }
  mutating func maybe<T>(_ make: (inout Self) -> T) -> T? { coin() ? make(&self) : nil }

  /// Small, large and extreme numbers.
  mutating func counter() -> UInt64 { one(of: [0, 1, 127, 128, 1 << 62, bits() >> 2, bits() >> 40]) }
  mutating func sequence() -> UInt64 { max(1, counter()) }
  mutating func nanoseconds() -> Int64 { one(of: [0, -1, 1, .min, .max, Int64(truncatingIfNeeded: bits())]) }
  mutating func age() -> BusDuration { BusDuration(nanoseconds: one(of: [0, 1, .max, Int64(bits() >> 1)])) }
  mutating func span() -> BusDuration { BusDuration(nanoseconds: nanoseconds()) }
  mutating func time() -> BusTime { BusTime(nanoseconds: nanoseconds()) }
  mutating func double() -> Double {
    one(of: [0, -0.5, 1e-300, -1e300, Double.random(in: -1e6...1e6, using: &generator)])
  }
  mutating func positive() -> Double { abs(double()) }
  mutating func id<Kind>() -> Identifier<Kind> {
    one(of: [
      Identifier(using: &generator), Identifier(high: 0, low: 0), Identifier(high: .max, low: .max),
      Identifier(high: 1, low: 2),
    ])
  }
  mutating func device() -> DeviceID {
    one(of: ["phone", "watch", "0", "a.b_c-d", String(repeating: "z", count: 32)].compactMap { DeviceID($0) })
  }
  mutating func source() -> ControlSource {
    let unknown = ["ring", "Läufer-Knopf", "🏃", String(repeating: "s", count: 64)].map(ControlSource.init(rawValue:))
    return one(of: [.phone, .watch, .liveActivity, .shell] + unknown)
  }
  mutating func role() -> NodeRole {
    one(of: [.phone, .watch, .widget, .shell, NodeRole(rawValue: "treadmill"), NodeRole(rawValue: "腕時計")])
  }
  mutating func kind() -> CommandKind { one(of: CommandKind.allCases) }

  mutating func goal() -> RunGoal { RunGoal(time: .milliseconds(Int64(number(below: 86_400_000)) + 1))! }

  mutating func command() -> Command {
    var command = Command(
      id: id(), kind: kind(), source: source(), runID: maybe { $0.id() },
      base: maybe { random in ObservedRevision(revision: random.counter(), commandID: random.maybe { $0.id() }) },
      runOffset: maybe { $0.span() })
    if coin() { _ = command.aim(at: goal()) }
    command.ifRevision = maybe { $0.counter() }
    return command
  }

  mutating func receipt() -> Receipt {
    var receipt = verdictReceipt()
    if number(below: 3) > 0 {
      receipt = Receipt(
        commandID: receipt.commandID, kind: receipt.kind, source: receipt.source, stage: coin() ? .queued : .pending,
        effectiveAge: receipt.effectiveAge)
    }
    return receipt
  }

  mutating func verdictReceipt() -> Receipt {
    let (id, kind, source): (CommandID, CommandKind, ControlSource) = (id(), kind(), source())
    let reasons: [RejectionReason] =
      [
        .otherRun, .staleRevision, .tooOld, .busy, .unsupported, .cancelled, .expired, .quarantined, .forbidden,
        .revisionChanged(counter()), .unknown(17), .unknown(-1),
      ]
      + RunPhase.allCases.map { .illegal($0) }
    let outcomes: [Outcome] = [
      .applied, .coalesced(into: self.id()), .superseded(by: self.id()), .rejected(one(of: reasons)),
      .unknown,
    ]
    let verdict = Verdict(
      commandID: id, kind: kind, source: source, outcome: one(of: outcomes), runID: maybe { $0.id() }, term: counter(),
      revision: counter(), effectiveAt: maybe { $0.time() })
    return Receipt(
      commandID: id, kind: kind, source: source, stage: .verdict(verdict), effectiveAge: maybe { $0.span() },
      phase: maybe { $0.one(of: RunPhase.allCases) })
  }

  mutating func order() -> SnapshotOrder { SnapshotOrder(term: counter(), revision: counter(), tick: counter()) }

  mutating func state() -> StateMessage {
    let metrics = metrics()
    let snapshot = Snapshot(
      order: order(), phase: one(of: RunPhase.allCases), runID: maybe { $0.id() },
      changedBy: maybe { Author(source: $0.source(), deviceID: $0.device(), commandID: $0.id()) },
      startedAt: maybe { $0.time() }, capturedAt: time(), metrics: metrics,
      isRecovering: coin(), isClockStopped: coin(), goal: maybe { $0.goal() })
    return StateMessage(snapshot: snapshot, age: span())
  }

  mutating func position() -> Position {
    Position(
      latitude: Double.random(in: -90...90, using: &generator),
      longitude: Double.random(in: -180...180, using: &generator),
      horizontalAccuracyMeters: maybe { $0.double() })
  }

  mutating func sample() -> SampleTransmission {
    let position = position()
    let values: [SampleValue] = [
      .position(position), .altitude(meters: double(), one(of: [.gps, .barometer, .unstated])),
      .heartRate(bpm: positive()),
      .cadence(stepsPerMinute: positive()), .pedometer(meters: positive()), .motion(one(of: MotionActivity.allCases)),
    ]
    return SampleTransmission(
      sequence: sequence(), moment: coin() ? .age(age()) : .runOffset(span()),
      value: number(below: 10) == 0 ? nil : one(of: values),
      runID: maybe { $0.id() })
  }

  mutating func request() -> Request {
    let command = CommandRequest(
      command: command(), deviceID: device(), age: age(), isUncertain: coin(),
      pressed: maybe { MachineTime(bootID: "d3c0ffee-\($0.bits())", reading: $0.time()) })
    return Request(one(of: [.command(command), .state, .inquiry(one(of: inquiries()))]))
  }

  mutating func transmission() -> CommandTransmission {
    CommandTransmission(
      command: command(), sequence: sequence(), age: age(), isUncertain: coin(), stopFollows: coin())
  }

  mutating func peerFrame() -> PeerFrame {
    let hello = Hello(
      version: one(of: [0, 1, 2, .max]), deviceID: device(), role: role(), nodeID: id(), storeID: id(), nonce: bits(),
      termSeen: counter(), hub: maybe { $0.id() }, acknowledged: marks().mapValues(\.sequence),
      received: marks(), listVersion: counter(), listProof: maybe { $0.proof() }, nextHubKey: maybe { $0.key() },
      isEphemeral: coin())
    let samples = (0...number(below: 8)).map { _ in sample() }
    let message = one(of: [
      PeerMessage.hello(hello), .command(transmission()), .samples(samples),
      .ping(
        bits(), nextWithin: one(of: [.seconds(1), .milliseconds(2500), .seconds(60)]), roundTrip: maybe { $0.age() }),
      .query, .goodbye, .request(request()),
      .delivery(one(of: deliveries())), .inquire(one(of: inquiries())),
      .fetchRecord(RecordFetch(after: counter(), from: number(below: 1 << 20))),
      .pair(pairingRequest()), .announceKey(key()),
    ])
    return PeerFrame(session: one(of: [0, bits()]), sentAt: time(), message: message)
  }

  mutating func hubFrame() -> HubFrame {
    let speeds = [1, 1000, 60_000, BusSpeed.thousandthsMax].compactMap { BusSpeed(thousandths: $0) }
    let welcome = Welcome(
      nonce: bits(), nodeID: id(), storeID: id(), deviceID: device(),
      eventsEndpoint: one(of: ["tcp://127.0.0.1:49152", "ipc:///run/user/0/bus/événements"]), speed: one(of: speeds),
      debounce: age(), received: marks(), state: state(), recordsThrough: counter(),
      enrolment: maybe { $0.enrolment() })
    let refusal = Refusal(
      code: one(of: [
        .versionMismatch, .unknownSession, .malformed, .busy, .storeRegressed, .forbidden, .listBehind, .tooFast,
        .storeBehind, .unknown,
      ]),
      message: one(of: ["", "say hello first", String(repeating: "é", count: 512)]), version: one(of: [0, 1, .max]))
    let message = one(of: [
      HubMessage.welcome(welcome), .refused(refusal), .receipt(receipt()), .delivery(one(of: deliveries())),
      .pong(bits(), order(), recordsThrough: counter()), .recordChange(recordChange()), .state(state()),
      .answer(one(of: answers())), .pairing(pairingAnswer()), .goodbye,
    ])
    return HubFrame(session: one(of: [0, bits()]), message: message)
  }

  mutating func recordChange() -> RecordChange {
    let run: RunID = id()
    let summary = maybe {
      RecordSummary(
        runID: run, version: 3, deviceID: $0.device(), hubDeviceID: $0.device(), appVersion: "1.2",
        startedAtUnixSeconds: 1.75e9, elapsed: $0.age(), active: $0.age(), distanceMeters: 5000.5, title: "é")
    }
    let bytes = (0..<number(below: 64)).map { _ in UInt8(number(below: 256)) }
    return RecordChange(
      number: counter(), runID: run, version: counter(), summary: summary, from: number(below: 1 << 20), bytes: bytes,
      total: number(below: 1 << 20))
  }

  mutating func busEvent() -> BusEvent {
    one(of: [
      .snapshot(state()), .command(command(), device()), .receipt(receipt(), device()),
      .presence(Presence(deviceID: device(), role: role(), isReachable: coin())), .route(routePart()),
      .message(MessageEvent(appMessage(), from: device(), to: device())), .live(liveMessage()),
    ])
  }

  mutating func liveMessage() -> LiveMessage {
    let numbers = LiveNumbers(
      distanceMeters: maybe { Double($0.number(below: 1 << 31)) / 8 },
      paceSecondsPerKilometer: maybe { Double($0.number(below: 999)) / 8 },
      averagePaceSecondsPerKilometer: maybe { Double($0.number(below: 999)) / 8 },
      heartRateBpm: maybe { $0.number(below: 250) },
      elevationGainMeters: maybe { $0.number(below: 9999) }, lapCount: number(below: 99))
    let content = LiveContent(
      runID: id(), phase: one(of: [.idle, .running, .paused, .completed, .unknown]),
      changedBy: maybe { ControlSource(rawValue: $0.one(of: ["watch", "시계"])) }, isRecovering: coin(),
      clock: LiveClock(active: age(), at: BusTime(nanoseconds: Int64(bitPattern: bits())), isTicking: coin()),
      numbers: numbers, pending: one(of: [[], [.pause], [.lap, .start]]),
      startsAt: maybe { BusTime(nanoseconds: Int64(bitPattern: $0.bits())) },
      room: maybe {
        LiveRoom(
          place: $0.number(below: 33), count: $0.number(below: 33),
          metersBehind: $0.maybe { Double($0.number(below: 1 << 20)) / 8 })
      })
    let push = LivePush(
      order: order(), content: content, number: counter(), kind: one(of: LivePushKind.allCases),
      pushedAt: BusTime(nanoseconds: Int64(bitPattern: bits())),
      staleAt: maybe { BusTime(nanoseconds: Int64(bitPattern: $0.bits())) }, budgetLeft: number(below: 999),
      activity: number(below: 9))
    return LiveMessage(push: push, age: age())
  }
}
