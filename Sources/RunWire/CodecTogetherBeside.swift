import RunCore
import SwiftProtobuf

// Adverts and live messages of rooms.
extension Codec {
  // MARK: Adverts

  static func message(_ advert: RoomAdvert) -> WireRoomAdvert {
    var message = WireRoomAdvert()
    message.fleet = data(advert.fleet)
    message.room = data(advert.room)
    message.author = data(advert.author)
    message.terms = self.message(advert.terms)
    message.card = self.message(advert.card)
    message.members = count(advert.members)
    message.position = advert.position
    message.openedAtNs = max(0, advert.openedAt.nanoseconds)
    message.listedAs = advert.listedAs
    return message
  }

  static func value(_ message: WireRoomAdvert) throws(WireError) -> RoomAdvert {
    guard message.hasTerms, message.hasCard else { throw .malformed("advert without terms or card") }
    let terms = try value(message.terms)
    guard let members = Int(exactly: message.members), members >= 1, members <= terms.places else {
      throw .malformed("number of members is out of range")
    }
    guard message.position >= 1 else { throw .malformed("position is missing") }
    guard (0...(1 << 62)).contains(message.openedAtNs) else { throw .malformed("time is out of range") }
    guard RoomAdvert.isClass(message.listedAs) else { throw .malformed("class of an advert is not one") }
    return RoomAdvert(
      fleet: try identifier(message.fleet, "fleet"), room: try identifier(message.room, "room"),
      author: try bytes32(message.author, "member"), terms: terms, card: try value(message.card), members: members,
      position: try counter(message.position, "position"), openedAt: LogTime(nanoseconds: message.openedAtNs),
      listedAs: message.listedAs)
  }

  // MARK: Live messages

  private static let nanosecondsPerMillisecond: Int64 = 1_000_000
  /// A day a kilometre.
  private static let paceMax = 86_400

  static func message(_ live: RoomLive) -> WireRoomLive {
    var message = WireRoomLive()
    message.fleet = data(live.fleet)
    message.room = data(live.room)
    message.author = data(live.author)
    message.number = live.number
    switch live.kind {
    case .beat: message.kind = .beat(WireEmpty())
    case .standing(let standing):
      var part = WireRoomStanding()
      part.elapsedMs = UInt32(clamping: standing.elapsed.nanoseconds / nanosecondsPerMillisecond)
      if let decimetres = standing.decimetres { part.decimeters = count(decimetres) }
      if let pace = standing.paceSecondsPerKilometre { part.paceSecondsPerKilometer = count(pace) }
      part.phase = word(standing.phase)
      message.kind = .standing(part)
    }
    return message
  }

  static func value(_ message: WireRoomLive) throws(WireError) -> RoomLive {
    let kind: RoomLive.Kind
    switch message.kind {
    case .beat: kind = .beat
    case .standing(let standing): kind = .standing(try value(standing))
    case nil: throw .unknown("a live message")
    }
    return RoomLive(
      fleet: try identifier(message.fleet, "fleet"), room: try identifier(message.room, "room"),
      author: try bytes32(message.author, "member"), number: try roomNumber(message.number), kind: kind)
  }

  private static func value(_ message: WireRoomStanding) throws(WireError) -> RoomLive.Standing {
    var standing = RoomLive.Standing(
      elapsed: try roomElapsed(Int64(message.elapsedMs) * nanosecondsPerMillisecond), phase: phase(message.phase))
    if message.hasDecimeters { standing.decimetres = try decimeters(message.decimeters) }
    if message.hasPaceSecondsPerKilometer {
      guard let pace = Int(exactly: message.paceSecondsPerKilometer), (1...paceMax).contains(pace) else {
        throw .malformed("pace is out of range")
      }
      standing.paceSecondsPerKilometre = pace
    }
    return standing
  }
}
