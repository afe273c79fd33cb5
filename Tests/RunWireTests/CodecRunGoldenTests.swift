import RunCore
import Testing

@testable import RunWire

/// Bytes made once by `protoc --encode` from the schema; see ``CodecGoldenTests``.
@Suite("The bytes of a run's numbers and its route do not change")
struct CodecRunGoldenTests {
  private static let run = RunID(high: 0x2122_2324_2526_2728, low: 0x292A_2B2C_2D2E_2F30)

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test("A snapshot with every number")
  func snapshot() throws {
    let metrics = RunMetrics(
      elapsed: .milliseconds(185_250), active: .seconds(180), distanceMeters: 520.5, pedometerMeters: 20.5,
      currentPaceSecondsPerKilometer: 341.25, averagePaceSecondsPerKilometer: 345.5,
      bestPaceSecondsPerKilometer: 330, worstPaceSecondsPerKilometer: 361.5, heartRateBpm: 148,
      averageHeartRateBpm: 140.5, maxHeartRateBpm: 160, cadenceStepsPerMinute: 172,
      averageCadenceStepsPerMinute: 170.25, altitudeMeters: 101.5, elevationGainMeters: 12.5, elevationLossMeters: 3,
      energyJoules: 83_680, positionAccuracyMeters: 4.5, activity: .running, isActivityInferred: true,
      isAutoPaused: true, lapCount: 2,
      moments: MetricMoments(
        distance: .seconds(185), position: .seconds(185), heartRate: .milliseconds(143_250), cadence: .zero,
        elevation: nil, activity: BusDuration(nanoseconds: 300)))
    let snapshot = Snapshot(
      order: SnapshotOrder(term: 1, revision: 2, tick: 14), phase: .running, runID: nil, changedBy: nil,
      startedAt: nil, capturedAt: BusTime(nanoseconds: 185_250_000_000), metrics: metrics)
    let event = BusEvent.snapshot(StateMessage(snapshot: snapshot, age: BusDuration(nanoseconds: 1)))
    #expect(
      hex(Codec.encode(event)) == """
        0ae3010ade010a0608011002180e10023080d98a8eb2053aca010880d98a8eb205108090d8c69e051900000000004480402100\
        000000005475402900000000009875403100000000008062403900000000009061404100000000000064404900000000008065\
        405100000000000029405900000000000008406100000000000012406802700279000000000080344081010000000000a07440\
        890100000000009876409101000000000048654099010000000000605940a10100000000006ef440a80101b00101ba011a0880\
        f4ef96b1051080f4ef96b105188091f6d29504200030ac021001
        """)
    #expect(try Codec.busEvent(Codec.encode(event)) == event)
  }

  @Test("A push to lock screens")
  func live() throws {
    let push = LivePush(
      order: SnapshotOrder(term: 1, revision: 2, tick: 14),
      content: LiveContent(
        runID: Self.run, phase: .running, changedBy: .watch,
        clock: LiveClock(active: .seconds(180), at: BusTime(nanoseconds: 185_250_000_000), isTicking: true),
        numbers: LiveNumbers(distanceMeters: 520, paceSecondsPerKilometer: 341, heartRateBpm: 148, lapCount: 2),
        pending: [.pause]),
      number: 17, kind: .numbers, pushedAt: BusTime(nanoseconds: 186_000_000_000),
      staleAt: BusTime(nanoseconds: 246_000_000_000), budgetLeft: 12, activity: 1)
    let event = BusEvent.live(LiveMessage(push: push, age: .milliseconds(250)))
    #expect(
      hex(Codec.encode(event)) == """
        3a710a0608011002180e12102122232425262728292a2b2c2d2e2f30180222057761746368308090d8c69e053880d98a8eb20540\
        0160940170027a010280011188010490018088dbf3b405980180e59a77a00180b8f8b59407a8010cb00101b90100000000004080\
        40c1010000000000507540
        """)
    #expect(try Codec.busEvent(Codec.encode(event)) == event)
  }

  @Test("A push in the countdown of a room, and one with the place in its run")
  func liveRoom() throws {
    func push(_ content: LiveContent) -> BusEvent {
      .live(
        LiveMessage(
          push: LivePush(
            order: SnapshotOrder(term: 1, revision: 2, tick: 14), content: content, number: 17, kind: .phase,
            pushedAt: BusTime(nanoseconds: 186_000_000_000), staleAt: nil, budgetLeft: 12, activity: 1)))
    }
    let startsAt = BusTime(nanoseconds: 190_000_000_000)
    let countdown = push(
      LiveContent(
        runID: Self.run, phase: .idle, clock: LiveClock(active: .zero, at: startsAt, isTicking: false),
        startsAt: startsAt))
    #expect(
      hex(Codec.encode(countdown)) == """
        3a3f0a0608011002180e12102122232425262728292a2b2c2d2e2f3018013880d887e7c30580011188010190018088dbf3b405a8\
        010cb00101d00180d887e7c305
        """)
    let place = push(
      LiveContent(
        runID: Self.run, phase: .running,
        clock: LiveClock(active: .seconds(180), at: BusTime(nanoseconds: 185_250_000_000), isTicking: true),
        room: LiveRoom(place: 2, count: 4, metersBehind: 120.5)))
    #expect(
      hex(Codec.encode(place)) == """
        3a500a0608011002180e12102122232425262728292a2b2c2d2e2f301802308090d8c69e053880d98a8eb2054001800111880101\
        90018088dbf3b405a8010cb00101da010d08021004190000000000205e40
        """)
    for event in [countdown, place] { #expect(try Codec.busEvent(Codec.encode(event)) == event) }
  }

  @Test("A part of the route")
  func route() throws {
    let points = [
      RoutePoint(
        offset: .seconds(1), position: Position(latitude: -33.5, longitude: 151.25, horizontalAccuracyMeters: -1),
        verdict: .invalid),
      RoutePoint(
        offset: .seconds(2), position: Position(latitude: -33.5, longitude: 151.5), verdict: .counted,
        altitudeMeters: -2.5, distanceMeters: 0),
    ]
    let part = RoutePart(runID: Self.run, term: 2, number: 300, from: 600, points: points, total: 602)
    #expect(
      hex(Codec.encode(.route(part))) == """
        2a740a102122232425262728292a2b2c2d2e2f30100218ac0220d8042a25088094ebdc03121b090000000000c040c011000000\
        0000e8624019000000000000f0bf18052a2e0880a8d6b9071212090000000000c040c0110000000000f0624018012100000000\
        000004c029000000000000000030da04
        """)
    let answer = RoutePart(runID: Self.run, term: 2, number: 300, from: 600, points: [], total: 0)
    #expect(
      hex(Codec.encode(HubFrame(session: 77, message: .answer(.route(answer)))))
        == "084d421e3a1c0a1a0a102122232425262728292a2b2c2d2e2f30100218ac0220d804")
  }

  @Test("A report, and the inquiries for it and for the route")
  func report() throws {
    func split(_ number: Int, _ active: Int64, _ start: Int64, _ end: Int64, isComplete: Bool) -> Split {
      Split(
        number: number, distanceMeters: nil, active: BusDuration(nanoseconds: active),
        startedAt: BusDuration(nanoseconds: start), endedAt: BusDuration(nanoseconds: end), isComplete: isComplete)
    }
    var kilometer = split(1, 300, 0, 301, isComplete: true)
    kilometer.distanceMeters = 1000
    kilometer.averageHeartRateBpm = 150
    kilometer.elevationGainMeters = 1.5
    kilometer.elevationLossMeters = 0
    let report = RunReport(
      metrics: RunMetrics(elapsed: BusDuration(nanoseconds: 1), active: BusDuration(nanoseconds: 1)),
      kilometers: [kilometer], miles: [split(1, 300, 0, 301, isComplete: false)],
      laps: [split(2, 1, 2, 3, isComplete: true)],
      stretches: [
        DistanceStretch(
          source: .pedometer, startedAt: BusDuration(nanoseconds: 5), endedAt: BusDuration(nanoseconds: 6), meters: 20.5
        )
      ])
    #expect(
      hex(Codec.encode(HubFrame(session: 77, message: .answer(.report(report))))) == """
        084d4261325f0a5d0a0408011001122e0801110000000000408f4018ac0228ad02310000000000c0624039000000000000f83f\
        41000000000000000048011a08080118ac0228ad02220a080218012002280348012a0f080210051806210000000000803440
        """)
    #expect(hex(Codec.encode(HubFrame(session: 77, message: .answer(.report(nil))))) == "084d42023200")
    let series = RunSeries(
      runID: Self.run,
      samples: [
        RunSeries.Sample(
          offset: BusDuration(nanoseconds: 300),
          values: RecordSeries.Sample(
            distanceMeters: 1000, paceSecondsPerKilometer: 300, altitudeMeters: 1.5, heartRateBpm: 150,
            cadenceStepsPerMinute: 170)), RunSeries.Sample(offset: .zero, values: RecordSeries.Sample()),
      ], pauses: [BusDuration(nanoseconds: 5)..<BusDuration(nanoseconds: 6)])
    #expect(
      hex(Codec.encode(HubFrame(session: 77, message: .answer(.series(series))))) == """
        084d42506a4e0a4c0a102122232425262728292a2b2c2d2e2f30123008ac02110000000000408f40190000000000c0724021\
        000000000000f83f290000000000c0624031000000000040654012001a0408051006
        """)
    #expect(hex(Codec.encode(HubFrame(session: 77, message: .answer(.series(nil))))) == "084d42026a00")
    func question(_ inquiry: Inquiry) -> String {
      hex(Codec.encode(PeerFrame(session: 77, sentAt: BusTime(nanoseconds: 1), message: .inquire(inquiry))))
    }
    #expect(question(.report) == "084d10015a023a00")
    #expect(question(.series) == "084d10015a03b20100")
    #expect(question(.route(from: 600)) == "084d10015a05420308d804")
  }

  @Test("Inquiries for records, and their answers")
  func records() {
    func question(_ inquiry: Inquiry) -> String {
      hex(Codec.encode(PeerFrame(session: 77, sentAt: BusTime(nanoseconds: 1), message: .inquire(inquiry))))
    }
    func answer(_ answer: InquiryAnswer) -> String {
      hex(Codec.encode(HubFrame(session: 77, message: .answer(answer))))
    }
    let run = Self.run
    #expect(question(.records(from: 256)) == "084d10015a055203088002")
    #expect(question(.records(from: 0)) == "084d10015a025200")
    #expect(question(.record(run, from: 32_768)) == "084d10015a185a160a102122232425262728292a2b2c2d2e2f3010808002")
    #expect(
      question(.editRecord(run, title: "River", note: nil))
        == "084d10015a1b62190a102122232425262728292a2b2c2d2e2f3012055269766572")
    #expect(
      question(.editRecord(run, title: nil, note: ""))
        == "084d10015a1662140a102122232425262728292a2b2c2d2e2f301a00")
    #expect(question(.removeRecord(run)) == "084d10015a126a102122232425262728292a2b2c2d2e2f30")
    #expect(question(.putRecord(RecordUpload(from: 3, bytes: [1, 2], total: 5))) == "084d10015a0a72080803120201021805")
    let note = AppMessage(id: MessageID(high: 1, low: 2), name: "n", body: [7])
    #expect(
      question(.post(note, to: DeviceID("watch")))
        == "084d10015a237a210a180a100000000000000001000000000000000212016e1a010712057761746368")
    #expect(answer(.records([], total: 7)) == "084d420442021007")
    #expect(
      answer(.record(RecordPart(runID: run, version: 2, from: 32_768, bytes: [1, 2], total: 32_770)))
        == "084d42224a200a102122232425262728292a2b2c2d2e2f301002188080022202010228828002")
    #expect(answer(.taken(isKnown: true)) == "084d420452020801")
    #expect(answer(.taken(isKnown: false)) == "084d42025200")
  }

  @Test("A snapshot of an earlier hub is read, and what it lacks is unknown")
  func before() throws {
    // A snapshot before moments were added.
    let bytes: [UInt8] = [0x0A, 0x0C, 0x0A, 0x0A, 0x0A, 0x02, 0x08, 0x01, 0x10, 0x01, 0x3A, 0x02, 0x70, 0x02]
    guard case .snapshot(let state) = try Codec.busEvent(bytes) else {
      Issue.record("not a snapshot")
      return
    }
    #expect(state.snapshot.metrics == RunMetrics(lapCount: 2))
  }
}
