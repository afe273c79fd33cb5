import RunCore
import SwiftProtobuf

// What a hub and its runner's devices say to each other about rooms.
extension Codec {
  /// The most rooms of which an answer tells, and the most members of a room.
  private static let (roomReportsMax, roomMembersMax) = (TogetherDesk.roomsMax, RoomTerms.placesBounds.upperBound)

  // MARK: Inquiries

  static func bytes(_ inquiry: RoomInquiry) -> [UInt8] {
    var message = WireRoomInquiry()
    switch inquiry {
    case .ask(let ask): message.inquiry = .ask(self.message(ask))
    case .reports: message.inquiry = .reports(WireEmpty())
    }
    return serialize(message)
  }

  /// Reads an inquiry; `nil` for one of a later version.
  static func roomInquiry(_ bytes: some Collection<UInt8>) throws(WireError) -> RoomInquiry? {
    let message: WireRoomInquiry = try parse(Array(bytes))
    switch message.inquiry {
    case .ask(let ask): return try value(ask).map(RoomInquiry.ask)
    case .reports: return .reports
    case nil: return nil
    }
  }

  static func message(_ ask: RoomAsk) -> WireRoomAsk {
    var message = WireRoomAsk()
    message.id = data(ask.id)
    switch ask.wish {
    case .open(let terms): message.wish = .open(self.message(terms))
    case .enter(let room, let seek):
      var entering = WireRoomEntering()
      entering.room = data(room)
      if let seek { entering.seek = self.message(seek) }
      message.wish = .enter(entering)
    case .ready(let isReady): message.wish = .ready(isReady)
    case .leave: message.wish = .leave(WireEmpty())
    case .begin: message.wish = .begin(WireEmpty())
    case .proceed: message.wish = .proceed(WireEmpty())
    case .hold: message.wish = .hold(WireEmpty())
    case .cancel: message.wish = .cancel(WireEmpty())
    case .close: message.wish = .close(WireEmpty())
    case .remove(let who): message.wish = .remove(data(who))
    case .match(let search): message.wish = .match(self.message(search))
    case .unmatch: message.wish = .unmatch(WireEmpty())
    }
    message.source = ask.source.rawValue
    message.ageNs = max(0, ask.age.nanoseconds)
    return message
  }

  static func value(_ message: WireRoomAsk) throws(WireError) -> RoomAsk? {
    let wish: RoomAsk.Wish
    switch message.wish {
    case .open(let terms): wish = .open(try value(terms))
    case .enter(let entering):
      wish = .enter(
        try identifier(entering.room, "room"), seek: entering.hasSeek ? try value(entering.seek) : nil)
    case .ready(let isReady): wish = .ready(isReady)
    case .leave: wish = .leave
    case .begin: wish = .begin
    case .proceed: wish = .proceed
    case .hold: wish = .hold
    case .cancel: wish = .cancel
    case .close: wish = .close
    case .remove(let who): wish = .remove(try bytes32(who, "member"))
    case .match(let search): wish = .match(try value(search))
    case .unmatch: wish = .unmatch
    case nil: return nil
    }
    return RoomAsk(
      id: try identifier(message.id, "id of an ask"), wish: wish,
      source: message.source.isEmpty ? .shell : try source(message.source),
      age: try span(message.ageNs, "age of an ask"))
  }

  // MARK: Answers

  /// Encodes an answer. It tells of as many of the first rooms as fit.
  static func bytes(_ answer: RoomInquiryAnswer, bytesMax: Int) -> [UInt8] {
    var message = WireRoomInquiryAnswer()
    switch answer {
    case .answer(let answer): message = self.message(answer)
    case .reports(let reports):
      var list = WireRoomReports()
      list.reports = reports.prefix(roomReportsMax).map { self.message($0) }
      while size(of: list) > bytesMax - 8, !list.reports.isEmpty { list.reports.removeLast() }
      message.answer = .reports(list)
    }
    return serialize(message)
  }

  static func message(_ answer: RoomAnswer) -> WireRoomInquiryAnswer {
    var message = WireRoomInquiryAnswer()
    switch answer {
    case .pending(let room): message.answer = .pending(data(room))
    case .judged(let room, let verdict):
      var judged = WireRoomJudged()
      judged.room = data(room)
      judged.verdict = self.message(verdict)
      message.answer = .judged(judged)
    case .refused(let denial): message.answer = .refused(self.message(denial))
    case .seeking: message.answer = .seeking(WireEmpty())
    case .matched(let room): message.answer = .matched(data(room))
    case .unmatched(let end): message.answer = .unmatched(word(end))
    }
    return message
  }

  static func roomInquiryAnswer(_ bytes: some Collection<UInt8>) throws(WireError) -> RoomInquiryAnswer {
    try value(try parse(Array(bytes)) as WireRoomInquiryAnswer)
  }

  static func value(_ message: WireRoomInquiryAnswer) throws(WireError) -> RoomInquiryAnswer {
    switch message.answer {
    case .pending(let room): return .answer(.pending(try identifier(room, "room")))
    case .judged(let judged):
      return .answer(.judged(try identifier(judged.room, "room"), try value(judged.verdict)))
    case .refused(let denied): return .answer(.refused(try value(denied)))
    case .seeking: return .answer(.seeking)
    case .matched(let room): return .answer(.matched(try identifier(room, "room")))
    case .unmatched(let end): return .answer(.unmatched(try value(end)))
    case .reports(let list):
      guard list.reports.count <= roomReportsMax else { throw .malformed("too many rooms") }
      return .reports(try list.reports.map { report throws(WireError) in try value(report) })
    case nil: throw .unknown("an answer about rooms")
    }
  }

  // MARK: Reports

  private static func message(_ report: RoomReport) -> WireRoomReport {
    var message = WireRoomReport()
    message.room = data(report.room)
    message.me = data(report.me)
    switch report.state.stage {
    case .none: message.stage = .unspecified
    case .recruiting: message.stage = .recruiting
    case .gathering: message.stage = .gathering
    case .countdown(let at): (message.stage, message.startsAtNs) = (.countdown, at.nanoseconds)
    case .running(let at): (message.stage, message.startsAtNs) = (.running, at.nanoseconds)
    case .settling(let at, let ended):
      (message.stage, message.startsAtNs, message.endedAtNs) = (.settling, at.nanoseconds, ended.nanoseconds)
    case .over(let at): (message.stage, message.startsAtNs) = (.over, at.nanoseconds)
    case .cancelled(let end): (message.stage, message.end) = (.cancelled, word(end))
    }
    if let terms = report.state.terms { message.terms = self.message(terms) }
    if let owner = report.state.owner { message.owner = data(owner) }
    message.members = report.state.members.map { self.message($0) }
    message.timeNs = report.state.time.nanoseconds
    message.provisional = report.isProvisional
    message.lost = report.isLost
    message.count = report.count
    if let digest = report.digest { message.digest = data(digest) }
    if let startsIn = report.startsIn { message.startsInNs = startsIn.nanoseconds }
    if let error = report.clockError { message.clockErrorNs = error.nanoseconds }
    message.disputes = report.state.disputes.sorted().map { data($0) }
    if let trouble = report.trouble { message.trouble = sentence(trouble) }
    message.altered = report.warnings.contains(.altered)
    message.misdated = report.warnings.contains(.misdated)
    return message
  }

  private static func value(_ message: WireRoomReport) throws(WireError) -> RoomReport {
    guard message.members.count <= roomMembersMax, message.disputes.count <= 600 * roomMembersMax else {
      throw .malformed("too many members of a room")
    }
    let startsAt = LogTime(nanoseconds: message.startsAtNs)
    let stage: RoomStage =
      switch message.stage {
      case .recruiting: .recruiting
      case .gathering: .gathering
      case .countdown: .countdown(startsAt: startsAt)
      case .running: .running(startsAt: startsAt)
      case .settling: .settling(startsAt: startsAt, endedAt: LogTime(nanoseconds: message.endedAtNs))
      case .over: .over(startsAt: startsAt)
      case .cancelled: .cancelled(try value(message.end))
      case .unspecified, .UNRECOGNIZED: .none
      }
    let members = try message.members.map { member throws(WireError) in try value(member) }
    let disputes = try message.disputes.map { who throws(WireError) -> MemberID in try bytes32(who, "member") }
    let state = RoomState(
      stage: stage, terms: message.hasTerms ? try value(message.terms) : nil,
      owner: message.hasOwner ? try bytes32(message.owner, "owner") : nil, members: members, disputes: Set(disputes),
      time: LogTime(nanoseconds: message.timeNs))
    return RoomReport(
      room: try identifier(message.room, "room"), me: try bytes32(message.me, "member"), state: state,
      isProvisional: message.provisional, isLost: message.lost,
      warnings: Set((message.altered ? [.altered] : []) + (message.misdated ? [.misdated] : [])), count: message.count,
      digest: message.hasDigest ? try bytes32(message.digest, "digest") : nil,
      startsIn: message.hasStartsInNs ? BusDuration(nanoseconds: message.startsInNs) : nil,
      clockError: message.hasClockErrorNs ? BusDuration(nanoseconds: message.clockErrorNs) : nil,
      trouble: message.trouble.isEmpty ? nil : try text(message.trouble, "trouble", bytesMax: troubleBytesMax))
  }

  /// The longest sentence about a log: it may have a path in it.
  private static let troubleBytesMax = 1024

  /// A sentence that is short enough and has nothing but characters.
  private static func sentence(_ text: String) -> String {
    var text = String(String.UnicodeScalarView(text.unicodeScalars.filter { !$0.isControl }))
    while text.utf8.count > troubleBytesMax { text.removeLast() }
    return text
  }

  private static func message(_ member: RoomState.Member) -> WireRoomMember {
    var message = WireRoomMember()
    message.id = data(member.id)
    message.card = self.message(member.card)
    message.ready = member.isReady
    message.here = member.isHere
    if let mark = member.mark { message.mark = self.message(mark) }
    if let record = member.record { message.record = self.message(record) }
    return message
  }

  private static func value(_ message: WireRoomMember) throws(WireError) -> RoomState.Member {
    RoomState.Member(
      id: try bytes32(message.id, "member"), card: try value(message.card), isReady: message.ready,
      isHere: message.here, mark: message.hasMark ? try value(message.mark) : nil,
      record: message.hasRecord ? try value(message.record) : nil)
  }
}
