import RunCore
import SwiftProtobuf

// What rooms are for, and who is in them.
extension Codec {
  /// The longest label of a place and the longest name of a circle.
  private static let roomTextBytesMax = 64
  /// The most wins or losses that a card claims.
  private static let roomClaimMax: UInt32 = 1_000_000_000

  // MARK: Terms

  static func message(_ terms: RoomTerms) -> WireRoomTerms {
    var message = WireRoomTerms()
    message.rules = terms.rules
    message.goalNs = moment(terms.goal)
    message.places = count(terms.places)
    message.countdownNs = moment(terms.countdown)
    if let start = terms.start {
      message.start.label = start.label
      message.start.latitudeThousandths = Int32(clamping: start.latitude)
      message.start.longitudeThousandths = Int32(clamping: start.longitude)
    }
    if let circle = terms.circle { message.circle = circle }
    if terms.speed != .realTime { message.speedThousandths = UInt32(clamping: terms.speed.thousandths) }
    switch terms.kind {
    case .opened: message.kind = .opened(WireEmpty())
    case .matched(let seek, let left):
      var matched = WireRoomMatched()
      matched.seek = self.message(seek)
      matched.leftNs = moment(left)
      message.kind = .matched(matched)
    }
    return message
  }

  /// What the numbers of terms are within.
  private struct TermsBounds {
    var goal: ClosedRange<BusDuration>
    var places: ClosedRange<Int>
    var countdown: ClosedRange<BusDuration>
    var left: ClosedRange<BusDuration>

    /// A week.
    static let spanMax = BusDuration.seconds(7 * 24 * 3600)
    static let first = TermsBounds(
      goal: RoomTerms.goalBounds, places: RoomTerms.placesBounds, countdown: RoomTerms.countdownBounds,
      left: RoomTerms.leftBounds)
    /// Later rules may allow longer runs or larger rooms: an entry that is valid there is to be one here, with the
    /// verdict `unsupported`. So these bounds are far wider, and only keep sums and tables of a reader within its
    /// numbers.
    static let later = TermsBounds(
      goal: .zero...spanMax, places: 1...4096, countdown: .zero...BusDuration.seconds(24 * 3600), left: .zero...spanMax)
  }

  static func value(_ message: WireRoomTerms) throws(WireError) -> RoomTerms {
    guard message.rules >= 1 else { throw .malformed("rules of a room are missing") }
    let isFirst = message.rules == 1
    let bounds = isFirst ? TermsBounds.first : .later
    let kind: RoomTerms.Kind
    switch message.kind {
    case .opened: kind = .opened
    case .matched(let matched):
      guard matched.hasSeek else { throw .malformed("search without what is sought") }
      let seek = try value(matched.seek)
      guard bounds.goal.contains(seek.goal) else { throw .malformed("goal that is sought is out of range") }
      kind = .matched(seek, left: try roomSpan(matched.leftNs, "time of a search", in: bounds.left))
    case nil: throw .unknown("a kind of room")
    }
    guard let places = Int(exactly: message.places), bounds.places.contains(places) else {
      throw .malformed("number of places is out of range")
    }
    let thousandths = message.speedThousandths == 0 ? BusSpeed.realTime.thousandths : Int64(message.speedThousandths)
    guard let speed = BusSpeed(thousandths: thousandths) else { throw .malformed("speed of a room is out of range") }
    let terms = RoomTerms(
      rules: message.rules, kind: kind, goal: try roomSpan(message.goalNs, "goal", in: bounds.goal), speed: speed,
      places: places, countdown: try roomSpan(message.countdownNs, "countdown", in: bounds.countdown),
      start: message.hasStart ? try value(message.start) : nil,
      circle: message.hasCircle ? try circle(message.circle) : nil)
    guard !isFirst || !terms.isMatched || (places == 2 && terms.start == nil && terms.circle == nil) else {
      throw .malformed("a matched room has two places, no start and no circle")
    }
    return terms
  }

  private static func value(_ message: WireRoomStart) throws(WireError) -> RoomStart {
    guard (-90_000...90_000).contains(message.latitudeThousandths),
      (-180_000...180_000).contains(message.longitudeThousandths)
    else { throw .malformed("the start of a room is not on earth") }
    return RoomStart(
      label: try text(message.label, "label of a place", bytesMax: roomTextBytesMax),
      latitude: Int(message.latitudeThousandths), longitude: Int(message.longitudeThousandths))
  }

  static func message(_ seek: Seek) -> WireRoomSeek {
    var message = WireRoomSeek()
    message.goalNs = moment(seek.goal)
    message.wish = word(seek.wish)
    return message
  }

  static func value(_ message: WireRoomSeek) throws(WireError) -> Seek {
    Seek(
      goal: try roomSpan(message.goalNs, "goal that is sought", in: .zero...TermsBounds.spanMax),
      wish: try gender(message.wish))
  }

  // MARK: Cards

  static func message(_ card: RoomCard) -> WireRoomCard {
    var message = WireRoomCard()
    message.nickname = card.nickname.text
    message.level = count(card.level)
    message.gender = word(card.gender)
    if let circle = card.circle { message.circle = circle }
    if let claim = card.claim {
      message.claim.won = count(claim.won)
      message.claim.lost = count(claim.lost)
    }
    return message
  }

  static func value(_ message: WireRoomCard) throws(WireError) -> RoomCard {
    guard let nickname = Nickname(message.nickname), isSettled(message.nickname) else {
      throw .malformed("nickname is not \(Nickname.rule)")
    }
    guard RoomCard.levels.contains(Int(clamping: message.level)) else { throw .malformed("level is out of range") }
    return RoomCard(
      nickname: nickname, level: Int(message.level), gender: try gender(message.gender),
      circle: message.hasCircle ? try circle(message.circle) : nil,
      claim: message.hasClaim ? try value(message.claim) : nil)
  }

  private static func value(_ message: WireRoomClaim) throws(WireError) -> RoomCard.Claim {
    guard message.won <= roomClaimMax, message.lost <= roomClaimMax else { throw .malformed("claim is out of range") }
    return RoomCard.Claim(won: Int(message.won), lost: Int(message.lost))
  }

  private static func word(_ gender: RoomCard.Gender?) -> WireRoomGender {
    switch gender {
    case .female: .female
    case .male: .male
    case .other: .other
    case nil: .unspecified
    }
  }

  private static func gender(_ word: WireRoomGender) throws(WireError) -> RoomCard.Gender? {
    switch word {
    case .female: .female
    case .male: .male
    case .other: .other
    case .unspecified: nil
    case .UNRECOGNIZED: throw .unknown("a gender")
    }
  }

  // MARK: Texts

  private static func circle(_ circle: String) throws(WireError) -> String {
    guard !circle.isEmpty, isSettled(circle) else {
      throw .malformed("circle is empty, or has characters that not every program knows")
    }
    return try text(circle, "circle", bytesMax: roomTextBytesMax)
  }

  /// Whether the characters of a text are of Unicode 15.0, which every version of the language knows that RunBus is
  /// built with. What a later character is, and which texts are equal, depends on the program that reads it; all
  /// readers of a room have to come to the same verdicts.
  private static func isSettled(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in scalar.properties.age.map { $0 <= (15, 0) } ?? false }
  }
}
