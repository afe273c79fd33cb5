import RunCore
import Testing

@testable import RunWire

@Suite("What a hub and its runner's devices say about rooms, and what a hub stores of them")
struct CodecRoomsTests {
  @Test("Every inquiry about rooms survives its bytes, in a frame")
  func inquiries() throws {
    var random = RandomMessages(seed: 1)
    for _ in 0..<50 {
      let wishes: [RoomAsk.Wish] = [
        .open(random.terms()), .enter(random.id(), seek: random.coin() ? nil : random.seek()), .ready(random.coin()),
        .leave, .begin, .proceed, .hold, .cancel, .close, .remove(random.bytes32()),
        .match(random.search()), .unmatch,
      ]
      for inquiry in wishes.map({ RoomInquiry.ask(RoomAsk(id: random.id(), wish: $0)) }) + [.reports] {
        let frame = PeerFrame(session: 0, sentAt: .zero, message: .inquire(.room(inquiry)))
        #expect(try Codec.peerFrame(Codec.encode(frame)).message == .inquire(.room(inquiry)))
      }
    }
  }

  @Test("An ask of a device and its answer survive their frames, a view and a cue their events")
  func devices() throws {
    var random = RandomMessages(seed: 6)
    for _ in 0..<50 {
      let ask = RoomAsk(
        id: random.id(), wish: .ready(random.coin()), source: ControlSource(rawValue: "watch"),
        age: random.coin() ? .zero : .seconds(3))
      let frame = PeerFrame(session: 7, sentAt: .zero, message: .room(ask))
      #expect(try Codec.peerFrame(Codec.encode(frame)).message == .room(ask))
      for case .answer(let answer) in random.roomAnswers() {
        let frame = HubFrame(session: 7, message: .room(ask.id, answer))
        #expect(try Codec.hubFrame(Codec.encode(frame, within: .full)).message == .room(ask.id, answer))
      }
      for event in [BusEvent.room(random.roomView()), .cue(random.roomCue())] {
        #expect(try Codec.busEvent(Codec.encode(event)) == event)
      }
    }
  }

  @Test("A view of a whole room fits the smallest frame")
  func wholeRoom() throws {
    var random = RandomMessages(seed: 7)
    var view = random.roomView()
    view.members = (0..<32).map { _ in random.roomViewMember(isFull: true) }
    #expect(Codec.encode(BusEvent.room(view)).count < 16_384)
  }

  @Test("Every answer about rooms survives its bytes")
  func answers() throws {
    var random = RandomMessages(seed: 2)
    for _ in 0..<50 {
      for answer in random.roomAnswers() {
        let bytes = Codec.bytes(answer, bytesMax: 1 << 20)
        #expect(try Codec.roomInquiryAnswer(bytes) == answer)
      }
    }
  }

  @Test("An answer that does not fit tells of fewer rooms")
  func bounded() throws {
    var random = RandomMessages(seed: 3)
    let reports = (0..<16).map { _ in random.roomReport() }
    let bytes = Codec.bytes(.reports(reports), bytesMax: 4096)
    guard case .reports(let read) = try Codec.roomInquiryAnswer(bytes) else { return #expect(Bool(false)) }
    #expect(bytes.count <= 4096 && read.count < 16 && read == Array(reports.prefix(read.count)))
  }

  @Test("Every row of a room survives its bytes in a store")
  func rows() throws {
    var random = RandomMessages(seed: 4)
    for _ in 0..<50 {
      var rows: [RoomRow] = [
        .followed(run: random.id(), fleet: random.id()), .followed(run: random.id(), fleet: nil), .lost,
      ]
      for ask in random.asks() {
        let content = random.content(ask)
        rows.append(
          .entry(
            ReadEntry(
              entry: RoomEntry(
                position: random.sequence(), time: LogTime(nanoseconds: Int64(random.counter())),
                author: content.author, number: content.number, seen: content.seen, ask: ask,
                ownsRoom: random.coin()),
              hash: random.bytes32(), digest: random.bytes32(),
              taken: random.coin() ? LogTime(nanoseconds: Int64(random.counter())) : nil)))
        rows.append(
          .own(
            number: content.number, ask, nonce: content.nonce, seen: content.seen,
            ask: random.coin() ? random.id() : nil)
        )
      }
      for row in rows { #expect(try Codec.roomRow(Codec.stored(row)) == row) }
    }
  }

  @Test("Bytes that were changed or cut are an error or another value, and never end the process")
  func garbage() throws {
    var random = RandomMessages(seed: 5)
    for answer in random.roomAnswers() {
      let bytes = Codec.bytes(answer, bytesMax: 1 << 20)
      for place in bytes.indices {
        var wrong = bytes
        wrong[place] ^= UInt8(truncatingIfNeeded: random.bits() | 1)
        _ = try? Codec.roomInquiryAnswer(wrong)
        _ = try? Codec.roomInquiryAnswer(Array(bytes.prefix(place)))
        _ = try? Codec.roomInquiry(wrong)
      }
    }
    let row = Codec.stored(RoomRow.followed(run: random.id(), fleet: nil))
    for place in row.indices {
      var wrong = row
      wrong[place] ^= 0x40
      #expect(throws: StoredError.damaged) { try Codec.roomRow(wrong) }
    }
  }
}

extension RandomMessages {
  fileprivate mutating func roomView() -> RoomView {
    RoomView(
      order: RoomView.Order(term: counter(), number: counter()), room: "\(id() as RoomID)",
      goal: maybe { $0.within(RoomTerms.goalBounds) }, places: number(below: 33), isMatched: coin(),
      startLabel: maybe { _ in "Fountain" }, metersToStart: maybe { $0.number(below: 2000) },
      stage: one(of: RoomView.Stage.allCases), gate: maybe { $0.one(of: RoomView.Gate.allCases) },
      startsIn: maybe { $0.one(of: [.seconds(4), .zero - .seconds(4)]) },
      settled: maybe { $0.one(of: RoomView.Settled.allCases) },
      members: (0..<number(below: 4)).map { _ in roomViewMember(isFull: coin()) }, isProvisional: coin(),
      isLost: coin())
  }
  fileprivate mutating func roomViewMember(isFull: Bool) -> RoomView.Member {
    var member = RoomView.Member(
      id: "\(bytes32() as MemberID)", nickname: nickname().text, level: one(of: Array(RoomCard.levels)), isSelf: coin(),
      isOwner: coin(), isReady: coin(), isHere: coin())
    guard isFull else { return member }
    member.standing = RoomView.Standing(
      place: 3, meters: 1234.5, metersBehind: 0.1, paceSecondsPerKilometer: 301, phase: one(of: [.running, .paused]),
      age: .milliseconds(1500), isStale: coin())
    member.finish = RoomView.Finish(
      place: 1, meters: maybe { _ in 6123.4 }, isConfirmed: coin(),
      outcome: maybe { $0.one(of: RoomView.Outcome.allCases) })
    return member
  }
  fileprivate mutating func roomCue() -> RoomCue {
    RoomCue(
      room: "\(id() as RoomID)", kind: one(of: RoomCue.Kind.allCases), nickname: maybe { $0.nickname().text })
  }
  fileprivate mutating func roomAnswers() -> [RoomInquiryAnswer] {
    let who: [MemberID] = [bytes32(), bytes32()]
    let refusals: [RoomRefusal] = [
      .known, .notYours, .unsupported, .unknownRoom, .over, .notIn, .alreadyIn, .notRecruiting, .barred, .otherCircle,
      .tooFar(metres: nil), .tooFar(metres: 1240), .unfit(.goal), .unfit(.gender), .unfit(.level), .full, .notOwner,
      .tooFew, .notReady(who), .notHere(who), .notGathering, .notCounting, .tooLate, .alreadyRunning, .matched,
      .notRunning, .implausible, .tooMany,
    ]
    let verdicts: [RoomVerdict] =
      [.opened, .entered, .noted, .begun, .held, .left, .removed, .closed, .cancelled] + refusals.map { .rejected($0) }
    let denials: [RoomDenial] = [
      .alone, .inRoom(id()), .noRoom, .runIsOn, .tooFar(metres: nil), .tooFar(metres: 5), .otherSpeed, .update,
      .unknownRoom, .busy, .seeking, .notSeeking, .outOfReach,
    ]
    let searches: [RoomAnswer] =
      [.seeking, .matched(id())] + SearchEnd.allCases.map { .unmatched($0) }
    return [.answer(.pending(id())), .reports([]), .reports([roomReport(), roomReport()])]
      + verdicts.map { .answer(.judged(id(), $0)) } + denials.map { .answer(.refused($0)) }
      + searches.map { .answer($0) }
  }

  fileprivate mutating func roomReport() -> RoomReport {
    let at = LogTime(nanoseconds: Int64(counter()))
    let stages: [RoomStage] =
      [
        .none, .recruiting, .gathering, .countdown(startsAt: at), .running(startsAt: at),
        .settling(startsAt: at, endedAt: at), .over(startsAt: at),
      ] + RoomEnd.allCases.map { .cancelled($0) }
    let members = (0..<number(below: 5)).map { _ in
      RoomState.Member(
        id: bytes32(), card: card(), isReady: coin(), isHere: coin(),
        mark: coin() ? RoomMark(elapsed: elapsed(), decimetres: decimetres()) : nil, record: coin() ? record() : nil)
    }
    let state = RoomState(
      stage: one(of: stages), terms: coin() ? terms() : nil, owner: members.first?.id, members: members,
      disputes: coin() ? [bytes32()] : [], time: at)
    return RoomReport(
      room: id(), me: bytes32(), state: state, isProvisional: coin(), isLost: coin(),
      warnings: coin() ? [.altered] : [.misdated], count: counter(), digest: coin() ? bytes32() : nil,
      startsIn: coin() ? .milliseconds(-5) : nil, clockError: coin() ? .milliseconds(3) : nil,
      trouble: coin() ? "/a/log.sqlite is not a file" : nil)
  }
}
