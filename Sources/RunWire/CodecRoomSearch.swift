import RunCore
import SwiftProtobuf

// Searches for another runner, between a hub and its runner's devices.
extension Codec {
  static func message(_ search: RoomSearch) -> WireRoomSearch {
    var message = WireRoomSearch()
    message.seek = self.message(search.seek)
    message.leftNs = moment(search.left)
    message.readyByHand = !search.getsReady
    return message
  }

  static func value(_ message: WireRoomSearch) throws(WireError) -> RoomSearch {
    guard message.hasSeek else { throw .malformed("search without what is sought") }
    let seek = try value(message.seek)
    guard RoomTerms.goalBounds.contains(seek.goal) else { throw .malformed("goal that is sought is out of range") }
    return RoomSearch(
      seek: seek, left: try roomSpan(message.leftNs, "time of a search", in: RoomTerms.leftBounds),
      getsReady: !message.readyByHand)
  }

  static func word(_ end: SearchEnd) -> WireRoomSearchEnd {
    switch end {
    case .nobodyFound: .nobodyFound
    case .stopped: .stopped
    case .left: .left
    case .broken: .broken
    }
  }

  static func value(_ word: WireRoomSearchEnd) throws(WireError) -> SearchEnd {
    switch word {
    case .nobodyFound: .nobodyFound
    case .stopped: .stopped
    case .left: .left
    case .broken: .broken
    case .unspecified, .UNRECOGNIZED: throw .unknown("an end of a search")
    }
  }
}
