#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RunCore
import SwiftProtobuf

// What a hub shows of a room to its runner's devices, and what it tells a device that has asked.
extension Codec {
  // MARK: Views

  static func bytes(_ view: RoomView) -> Data {
    var message = WireRoomView()
    message.term = view.order.term
    message.number = view.order.number
    message.room = hex(view.room)
    if let goal = view.goal { message.goalNs = goal.nanoseconds }
    message.places = UInt32(clamping: view.places)
    message.matched = view.isMatched
    if let label = view.startLabel { message.startLabel = label }
    if let meters = view.metersToStart { message.metersToStart = UInt32(clamping: meters) }
    message.stage = word(view.stage)
    message.gate = word(view.gate)
    if let startsIn = view.startsIn { message.startsInNs = startsIn.nanoseconds }
    message.settled = word(view.settled)
    message.members = view.members.map { self.message($0) }
    message.provisional = view.isProvisional
    message.lost = view.isLost
    return Data(serialize(message))
  }

  static func roomView(_ bytes: Data) throws(WireError) -> RoomView {
    let message: WireRoomView = try parse(Array(bytes))
    guard message.members.count <= RoomTerms.placesBounds.upperBound else { throw .malformed("too many members") }
    return RoomView(
      order: RoomView.Order(
        term: try counter(message.term, "term"), number: try counter(message.number, "number of a view")),
      room: try hex(message.room, count: 16, "room"),
      goal: message.hasGoalNs ? try span(message.goalNs, "goal") : nil, places: Int(message.places),
      isMatched: message.matched,
      startLabel: message.hasStartLabel
        ? try text(message.startLabel, "name of a start", bytesMax: wordBytesMax) : nil,
      metersToStart: message.hasMetersToStart ? Int(message.metersToStart) : nil, stage: stage(message.stage),
      gate: gate(message.gate), startsIn: message.hasStartsInNs ? BusDuration(nanoseconds: message.startsInNs) : nil,
      settled: settled(message.settled),
      members: try message.members.map { member throws(WireError) in try value(member) },
      isProvisional: message.provisional, isLost: message.lost)
  }

  private static func message(_ member: RoomView.Member) -> WireRoomViewMember {
    var message = WireRoomViewMember()
    message.id = hex(member.id)
    message.nickname = member.nickname
    message.level = UInt32(clamping: member.level)
    message.self_p = member.isSelf
    message.owner = member.isOwner
    message.ready = member.isReady
    message.here = member.isHere
    if let standing = member.standing { message.standing = self.message(standing) }
    if let finish = member.finish {
      message.finish.place = UInt32(clamping: finish.place)
      if let meters = finish.meters { message.finish.decimeters = decimeters(meters) }
      message.finish.confirmed = finish.isConfirmed
      message.finish.outcome = word(finish.outcome)
    }
    return message
  }

  private static func value(_ message: WireRoomViewMember) throws(WireError) -> RoomView.Member {
    let finish = message.finish
    return RoomView.Member(
      id: try hex(message.id, count: 32, "member"),
      nickname: try text(message.nickname, "nickname", bytesMax: 4 * wordBytesMax), level: Int(message.level),
      isSelf: message.self_p, isOwner: message.owner, isReady: message.ready, isHere: message.here,
      standing: message.hasStanding ? try value(message.standing) : nil,
      finish: message.hasFinish
        ? RoomView.Finish(
          place: Int(finish.place), meters: finish.hasDecimeters ? Double(finish.decimeters) / 10 : nil,
          isConfirmed: finish.confirmed, outcome: outcome(finish.outcome))
        : nil)
  }

  private static func message(_ standing: RoomView.Standing) -> WireRoomViewStanding {
    var message = WireRoomViewStanding()
    if let place = standing.place { message.place = UInt32(clamping: place) }
    if let meters = standing.meters { message.decimeters = decimeters(meters) }
    if let meters = standing.metersBehind { message.decimetersBehind = decimeters(meters) }
    if let pace = standing.paceSecondsPerKilometer { message.paceSecondsPerKilometer = UInt32(clamping: pace) }
    if let phase = standing.phase { message.phase = word(phase) }
    if let age = standing.age { message.ageNs = max(0, age.nanoseconds) }
    message.stale = standing.isStale
    return message
  }

  private static func value(_ message: WireRoomViewStanding) throws(WireError) -> RoomView.Standing {
    RoomView.Standing(
      place: message.hasPlace ? Int(message.place) : nil,
      meters: message.hasDecimeters ? Double(message.decimeters) / 10 : nil,
      metersBehind: message.hasDecimetersBehind ? Double(message.decimetersBehind) / 10 : nil,
      paceSecondsPerKilometer: message.hasPaceSecondsPerKilometer ? Int(message.paceSecondsPerKilometer) : nil,
      phase: message.hasPhase ? phase(message.phase) : nil,
      age: message.hasAgeNs ? try span(message.ageNs, "age of a standing") : nil, isStale: message.stale)
  }

  private static func decimeters(_ meters: Double) -> UInt32 {
    UInt32(exactly: (meters * 10).rounded()) ?? .max
  }

  /// The bytes of hexadecimal digits that a view keeps for ids.
  private static func hex(_ digits: String) -> Data {
    var (data, high) = (Data(), UInt8?.none)
    for digit in digits {
      guard let value = digit.hexDigitValue.map(UInt8.init) else { return Data() }
      if let first = high { (data, high) = (data + [first << 4 | value], nil) } else { high = value }
    }
    return data
  }

  private static func hex(_ data: Data, count: Int, _ name: String) throws(WireError) -> String {
    guard data.count == count else { throw .malformed("\(name) is \(data.count) bytes long, not \(count)") }
    return data.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  // MARK: Cues

  static func bytes(_ cue: RoomCue) -> Data {
    var message = WireRoomCue()
    message.room = hex(cue.room)
    message.kind = word(cue.kind)
    if let nickname = cue.nickname { message.nickname = nickname }
    return Data(serialize(message))
  }

  static func roomCue(_ bytes: Data) throws(WireError) -> RoomCue {
    let message: WireRoomCue = try parse(Array(bytes))
    guard let kind = kind(message.kind) else { throw .unknown("a cue") }
    return RoomCue(
      room: try hex(message.room, count: 16, "room"), kind: kind,
      nickname: message.hasNickname ? try text(message.nickname, "nickname", bytesMax: 4 * wordBytesMax) : nil)
  }

  // MARK: Asks of devices

  static func bytes(_ ask: RoomAsk) -> Data { Data(serialize(message(ask))) }

  /// Reads an ask; one of a later version is a frame that this version does not know.
  static func roomAsk(_ bytes: Data) throws(WireError) -> RoomAsk {
    guard let ask = try value(try parse(Array(bytes)) as WireRoomAsk) else { throw .unknown("an ask about rooms") }
    return ask
  }

  static func bytes(_ answer: RoomAnswer, to ask: Identifier<RoomAskTag>) -> Data {
    var message = WireRoomAnswered()
    message.id = data(ask)
    message.answer = self.message(answer)
    return Data(serialize(message))
  }

  static func roomAnswered(_ bytes: Data) throws(WireError) -> (Identifier<RoomAskTag>, RoomAnswer) {
    let message: WireRoomAnswered = try parse(Array(bytes))
    guard case .answer(let answer) = try value(message.answer) else { throw .unknown("an answer about rooms") }
    return (try identifier(message.id, "id of an ask"), answer)
  }

  // MARK: Words

  private static func word(_ stage: RoomView.Stage) -> WireRoomStage {
    switch stage {
    case .recruiting: .recruiting
    case .gathering: .gathering
    case .countdown: .countdown
    case .running: .running
    case .settling: .settling
    case .over: .over
    case .cancelled: .cancelled
    case .unknown: .unspecified
    }
  }

  private static func stage(_ word: WireRoomStage) -> RoomView.Stage {
    switch word {
    case .recruiting: .recruiting
    case .gathering: .gathering
    case .countdown: .countdown
    case .running: .running
    case .settling: .settling
    case .over: .over
    case .cancelled: .cancelled
    case .unspecified, .UNRECOGNIZED: .unknown
    }
  }

  private static func word(_ gate: RoomView.Gate?) -> WireRoomGate {
    switch gate {
    case .open: .open
    case .tooFew: .tooFew
    case .notReady: .notReady
    case .notHere: .notHere
    case nil: .unspecified
    }
  }

  private static func gate(_ word: WireRoomGate) -> RoomView.Gate? {
    switch word {
    case .open: .open
    case .tooFew: .tooFew
    case .notReady: .notReady
    case .notHere: .notHere
    case .unspecified, .UNRECOGNIZED: nil
    }
  }

  private static func word(_ settled: RoomView.Settled?) -> WireRoomSettled {
    switch settled {
    case .provisional: .provisional
    case .complete: .complete
    case .final: .final
    case nil: .unspecified
    }
  }

  private static func settled(_ word: WireRoomSettled) -> RoomView.Settled? {
    switch word {
    case .provisional: .provisional
    case .complete: .complete
    case .final: .final
    case .unspecified, .UNRECOGNIZED: nil
    }
  }

  private static func word(_ outcome: RoomView.Outcome?) -> WireRoomOutcome {
    switch outcome {
    case .won: .won
    case .drawn: .drawn
    case .lost: .lost
    case nil: .unspecified
    }
  }

  private static func outcome(_ word: WireRoomOutcome) -> RoomView.Outcome? {
    switch word {
    case .won: .won
    case .drawn: .drawn
    case .lost: .lost
    case .unspecified, .UNRECOGNIZED: nil
    }
  }

  private static func word(_ kind: RoomCue.Kind) -> WireRoomCueKind {
    switch kind {
    case .started: .started
    case .overtaken: .overtaken
    case .won: .won
    case .drawn: .drawn
    case .lost: .lost
    case .cancelled: .cancelled
    }
  }

  private static func kind(_ word: WireRoomCueKind) -> RoomCue.Kind? {
    switch word {
    case .started: .started
    case .overtaken: .overtaken
    case .won: .won
    case .drawn: .drawn
    case .lost: .lost
    case .cancelled: .cancelled
    case .unspecified, .UNRECOGNIZED: nil
    }
  }
}
