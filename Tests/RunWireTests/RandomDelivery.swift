import RunCore

@testable import RunWire

// Deliveries and inquiries. Frames contain one of every kind, so that no kind is left to chance.
extension RandomMessages {
  mutating func streamKind() -> StreamID.Kind { one(of: StreamID.Kind.allCases) }

  mutating func mark() -> StreamMark {
    let sequence = counter()
    return StreamMark(sequence: sequence, id: sequence > 0 ? maybe { $0.id() } : nil)
  }
  mutating func marks() -> [StreamID.Kind: StreamMark] {
    var marks: [StreamID.Kind: StreamMark] = [:]
    for kind in StreamID.Kind.allCases where coin() { marks[kind] = mark() }
    return marks
  }

  /// A name or a key.
  mutating func name() -> String {
    one(of: ["p", "heart.zones", "Läufer-Ziel", "🏃", String(repeating: "n", count: 64)])
  }
  mutating func sentence() -> String { one(of: ["", "no such key", String(repeating: "é", count: 512)]) }
  mutating func appMessage() -> AppMessage {
    let count = one(of: [0, 1, 16, 127, 128, 300])
    return AppMessage(id: id(), name: name(), body: (0..<count).map { _ in UInt8(truncatingIfNeeded: bits()) })
  }

  mutating func deliveries() -> [DeliveryMessage] {
    let messages = (0...number(below: 4)).map { _ in
      MessageTransmission(sequence: sequence(), message: appMessage())
    }
    let verdicts = (0...number(below: 4)).map { _ in
      VerdictTransmission(sequence: sequence(), receipt: verdictReceipt())
    }
    let from = one(of: [1, 128, (1 << 62) - (1 << 20)] as [UInt64])
    let through = from + one(of: [0, 1, 300, (1 << 20) - 1])
    return [
      .messages(messages), .verdicts(verdicts), .tombstones(streamKind(), from: from, through: through),
      .acknowledge(streamKind(), through: counter()), .delivered(through: counter()),
      .goBack(streamKind(), to: sequence(), failure: maybe { $0.sentence() }),
      .latest(key: name(), version: counter(), appMessage()), .acknowledgeLatest(key: name(), version: counter()),
      .refuseLatest(key: name(), version: counter()),
      .live(appMessage()),
    ]
  }

  mutating func inquiries() -> [Inquiry] {
    [
      .peers, .outbox, .cancel(id()), .quarantine, .retry(id()), .discard(id()), .report, .route(from: count()),
      .series,
      .recover(one(of: RecoveryAnswer.allCases)), .records(from: count()), .record(id(), from: count()),
      .editRecord(id(), title: maybe { $0.title() }, note: maybe { $0.sentence() }), .removeRecord(id()),
      .putRecord(RecordUpload(from: count(), bytes: someBytes(), total: count())),
      .post(appMessage(), to: maybe { $0.device() }),
      .devices, .orderDevice(key(), one(of: [.revoke, .forget, .rename(device()), .sources(sources())])),
      .confirmDevices, .rotateKey(now: coin()), .backUp(to: "/tmp/copy"),
      .messages(.send(appMessage(), deliveryClass(), to: maybe { $0.device() }, patience: maybe { $0.age() })),
      .messages(.ask(appMessage(), of: maybe { $0.device() }, patience: age())),
      .messages(.take(id(), .messages(maybe { $0.name() }), maybe { $0.listenerReport() })),
      .messages(.take(id(), .questions(name()), maybe { $0.listenerReport() })),
      .messages(.leave(id(), maybe { $0.listenerReport() })),
      .messages(.values(from: count())), .messages(.value(key: name(), from: maybe { $0.device() })),
      .pairing(
        one(of: [
          .status(of: maybe { $0.token() }), .open, .close(of: token()), .refuse(key(), of: token()),
          .admit(key(), of: token(), as: device(), sources: sources(), replaces: coin()),
        ])),
    ]
  }

  private mutating func deliveryClass() -> DeliveryClass { one(of: [.live, .latest(key: name()), .queued]) }
  private mutating func listenerReport() -> ListenerReport {
    ListenerReport(counter(), one(of: [.working, .processed, .failed(sentence()), .answer(someBytes())]))
  }
  private mutating func messageAnswers() -> [InquiryAnswer] {
    let received = ReceivedMessage(message: appMessage(), from: device(), deliveryClass: deliveryClass())
    let values = (0..<number(below: 4)).map { _ in
      ValueReport(key: name(), from: device(), name: name(), bytes: counter(), age: maybe { $0.age() })
    }
    let stages: [DeliveryStage] = [.sent, .queued, .delivered, .processed, .replaced, .rejected(.busy)]
    let answers: [MessageAnswer] = [
      .stage(one(of: stages)), .reply(someBytes()), .handed(HandedMessage(counter(), received)), .nothing,
      .values(values, total: count()), .value(appMessage(), from: device()),
    ]
    return answers.map(InquiryAnswer.messages)
  }

  /// A code of a later version has no number to be written with.
  private mutating func failure() -> InquiryAnswer {
    .failed(InquiryFailure(one(of: InquiryFailure.Code.allCases.filter { $0 != .unknown }), sentence()))
  }

  mutating func answers() -> [InquiryAnswer] {
    let peers = (0..<number(below: 4)).map { _ in
      PeerReport(
        deviceID: device(), role: role(), isReachable: coin(), heardAge: maybe { $0.age() },
        roundTrip: maybe { $0.age() }, waiting: counter(), commandWatermark: counter())
    }
    let rows = (0..<number(below: 4)).map { _ in
      OutboxReport(
        kind: one(of: OutboxReport.Kind.allCases), id: maybe { $0.id() }, what: coin() ? name() : "",
        receiver: maybe { $0.device() }, age: age(), tries: one(of: [0, 1, .max]), count: counter(),
        isAccepted: coin())
    }
    let quarantine = (0..<number(below: 4)).map { _ in
      QuarantineReport(
        id: id(), name: name(), bytes: counter(), receiver: maybe { $0.device() }, reason: sentence(), age: age())
    }
    return [
      .peers(peers), .outbox(rows), .quarantine(quarantine), .done(maybe { $0.id() }), failure(),
      .report(maybe { $0.report() }), .route(maybe { $0.routePart() }),
      .series(maybe { $0.series() }),
      .records(
        (0..<number(below: 4)).map { _ in recordSummary() },
        removed: (0..<number(below: 4)).map { _ in RecordRemoval(runID: id(), version: counter()) }, total: count()),
      .record(RecordPart(runID: id(), version: counter(), from: count(), bytes: someBytes(), total: count())),
      .taken(isKnown: coin()),
      .devices(
        DeviceList(
          devices: (0..<number(below: 4)).map { _ in pairedDevice() }, version: counter(), isBehind: coin())),
      .pairing(
        PairingReport(
          stage: one(of: [.closed(one(of: PairingEnd.allCases)), .open, .asking(candidate())]),
          offer: maybe { PairingOffer(hubKey: $0.key(), token: $0.token(), addresses: $0.addresses()) })),
    ] + messageAnswers()
  }

  // MARK: Keys

  mutating func key() -> KeyFingerprint {
    KeyFingerprint((0..<KeyFingerprint.byteCount).map { _ in UInt8(truncatingIfNeeded: bits()) })!
  }
  mutating func proof() -> ListProof {
    ListProof((0..<ListProof.byteCount).map { _ in UInt8(truncatingIfNeeded: bits()) })!
  }
  mutating func token() -> [UInt8] {
    (0..<PairingRequest.tokenByteCount).map { _ in UInt8(truncatingIfNeeded: bits()) }
  }
  mutating func sources() -> Set<ControlSource> { Set((0...number(below: 4)).map { _ in source() }) }
  mutating func addresses() -> [String] { one(of: [[], ["tcp://192.168.1.7:7070", "tcp://[fd00::7]:7070"]]) }

  private mutating func pairedDevice() -> PairedDevice {
    var paired = PairedDevice(
      key: key(), deviceID: device(), role: role(), sources: sources(), pairedAt: positive(), isRevoked: coin())
    paired.formerNames = (0..<number(below: 3)).map { _ in device() }
    paired.nextKey = maybe { $0.key() }
    return paired
  }

  private mutating func candidate() -> PairingCandidate {
    PairingCandidate(key: key(), deviceID: device(), role: role(), sources: sources(), isNameTaken: coin())
  }

  mutating func pairingRequest() -> PairingRequest {
    PairingRequest(token: coin() ? token() : [], deviceID: device(), role: role(), sources: sources())
  }

  mutating func enrolment() -> Enrolment {
    Enrolment(
      busID: id(), deviceID: device(), sources: sources(), listVersion: counter(), listProof: maybe { $0.proof() },
      addresses: addresses(), nextHubKey: maybe { $0.key() }, nextDeviceKey: maybe { $0.key() })
  }

  mutating func pairingAnswer() -> PairingAnswer { one(of: [.waiting, .paired(enrolment()), .refused(sentence())]) }

  mutating func title() -> String { one(of: ["", "Río ⌚️", String(repeating: "é", count: 128)]) }
  private mutating func someBytes() -> [UInt8] {
    (0..<one(of: [0, 1, 100])).map { _ in UInt8(truncatingIfNeeded: bits()) }
  }

  mutating func recordSummary() -> RecordSummary {
    RecordSummary(
      runID: id(), version: one(of: [1, 2, 1 << 40]), deviceID: device(), hubDeviceID: device(), appVersion: name(),
      startedAtUnixSeconds: one(of: [0, 1_795_289_467.5, -1]), elapsed: age(), active: age(),
      distanceMeters: maybe { $0.positive() }, elevationGainMeters: maybe { $0.positive() },
      averageHeartRateBpm: maybe { $0.positive() }, energyJoules: maybe { $0.positive() },
      setup: RunSetup(weightKilograms: maybe { $0.positive() }, isAutoPauseOn: coin(), usesPedometer: coin()),
      isConflicted: coin(), title: title(), note: sentence())
  }

  /// A frame of each kind of delivery, inquiry and answer, from both sides.
  mutating func deliveryFrames() -> [[UInt8]] {
    var frames: [[UInt8]] = []
    for delivery in deliveries() {
      frames.append(Codec.encode(PeerFrame(session: bits(), sentAt: time(), message: .delivery(delivery))))
    }
    for delivery in deliveries() {
      frames.append(Codec.encode(HubFrame(session: bits(), message: .delivery(delivery))))
    }
    for inquiry in inquiries() {
      frames.append(Codec.encode(PeerFrame(session: bits(), sentAt: time(), message: .inquire(inquiry))))
    }
    for answer in answers() { frames.append(Codec.encode(HubFrame(session: bits(), message: .answer(answer)))) }
    return frames
  }
}
