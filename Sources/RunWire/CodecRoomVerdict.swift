import RunCore
import SwiftProtobuf

// Verdicts and refusals of rooms.
extension Codec {
  static func message(_ verdict: RoomVerdict) -> WireRoomVerdict {
    var message = WireRoomVerdict()
    switch verdict {
    case .opened: message.kind = .opened
    case .entered: message.kind = .entered
    case .noted: message.kind = .noted
    case .begun: message.kind = .begun
    case .held: message.kind = .held
    case .left: message.kind = .left
    case .removed: message.kind = .removed
    case .closed: message.kind = .closed
    case .cancelled: message.kind = .cancelled
    case .rejected(let refusal):
      message.kind = .rejected
      message.refusal = word(refusal)
      switch refusal {
      case .tooFar(let metres): if let metres { message.meters = count(metres) }
      case .unfit(let unfit): message.unfit = word(unfit)
      case .notReady(let who), .notHere(let who): message.who = who.map { data($0) }
      case .known, .notYours, .unsupported, .unknownRoom, .over, .notIn, .alreadyIn, .notRecruiting, .barred,
        .otherCircle, .full, .notOwner, .tooFew, .notGathering, .notCounting, .tooLate, .alreadyRunning, .matched,
        .notRunning, .implausible, .tooMany:
        break
      }
    }
    return message
  }

  static func value(_ message: WireRoomVerdict) throws(WireError) -> RoomVerdict {
    switch message.kind {
    case .opened: return .opened
    case .entered: return .entered
    case .noted: return .noted
    case .begun: return .begun
    case .held: return .held
    case .left: return .left
    case .removed: return .removed
    case .closed: return .closed
    case .cancelled: return .cancelled
    case .rejected: return .rejected(try refusal(message))
    case .unspecified, .UNRECOGNIZED: throw .unknown("a verdict of a room")
    }
  }

  private static func refusal(_ message: WireRoomVerdict) throws(WireError) -> RoomRefusal {
    guard message.who.count <= RoomTerms.placesBounds.upperBound else { throw .malformed("too many members") }
    let who = try message.who.map { who throws(WireError) -> MemberID in try bytes32(who, "member") }
    switch message.refusal {
    case .known: return .known
    case .notYours: return .notYours
    case .unsupported: return .unsupported
    case .unknownRoom: return .unknownRoom
    case .over: return .over
    case .notIn: return .notIn
    case .alreadyIn: return .alreadyIn
    case .notRecruiting: return .notRecruiting
    case .barred: return .barred
    case .otherCircle: return .otherCircle
    case .tooFar: return .tooFar(metres: message.hasMeters ? Int(message.meters) : nil)
    case .unfit: return .unfit(try unfit(message.unfit))
    case .full: return .full
    case .notOwner: return .notOwner
    case .tooFew: return .tooFew
    case .notReady: return .notReady(who)
    case .notHere: return .notHere(who)
    case .notGathering: return .notGathering
    case .notCounting: return .notCounting
    case .tooLate: return .tooLate
    case .alreadyRunning: return .alreadyRunning
    case .matched: return .matched
    case .notRunning: return .notRunning
    case .implausible: return .implausible
    case .tooMany: return .tooMany
    case .unspecified, .UNRECOGNIZED: throw .unknown("a refusal of a room")
    }
  }

  private static func word(_ refusal: RoomRefusal) -> WireRoomRefusal {
    switch refusal {
    case .known: .known
    case .notYours: .notYours
    case .unsupported: .unsupported
    case .unknownRoom: .unknownRoom
    case .over: .over
    case .notIn: .notIn
    case .alreadyIn: .alreadyIn
    case .notRecruiting: .notRecruiting
    case .barred: .barred
    case .otherCircle: .otherCircle
    case .tooFar: .tooFar
    case .unfit: .unfit
    case .full: .full
    case .notOwner: .notOwner
    case .tooFew: .tooFew
    case .notReady: .notReady
    case .notHere: .notHere
    case .notGathering: .notGathering
    case .notCounting: .notCounting
    case .tooLate: .tooLate
    case .alreadyRunning: .alreadyRunning
    case .matched: .matched
    case .notRunning: .notRunning
    case .implausible: .implausible
    case .tooMany: .tooMany
    }
  }

  private static func word(_ unfit: RoomRefusal.Unfit) -> WireRoomUnfit {
    switch unfit {
    case .goal: .goal
    case .gender: .gender
    case .level: .level
    }
  }

  private static func unfit(_ word: WireRoomUnfit) throws(WireError) -> RoomRefusal.Unfit {
    switch word {
    case .goal: .goal
    case .gender: .gender
    case .level: .level
    case .unspecified, .UNRECOGNIZED: throw .unknown("what does not fit")
    }
  }

  // MARK: What a hub does not pass on

  static func message(_ denial: RoomDenial) -> WireRoomDenied {
    var message = WireRoomDenied()
    switch denial {
    case .alone: message.denial = .alone
    case .inRoom(let room): (message.denial, message.room) = (.inRoom, data(room))
    case .noRoom: message.denial = .noRoom
    case .runIsOn: message.denial = .runIsOn
    case .tooFar(let metres):
      message.denial = .tooFar
      if let metres { message.meters = count(metres) }
    case .otherSpeed: message.denial = .otherSpeed
    case .update: message.denial = .update
    case .unknownRoom: message.denial = .unknownRoom
    case .expired: message.denial = .expired
    case .forbidden: message.denial = .forbidden
    case .busy: message.denial = .busy
    case .seeking: message.denial = .seeking
    case .notSeeking: message.denial = .notSeeking
    case .outOfReach: message.denial = .outOfReach
    }
    return message
  }

  static func value(_ message: WireRoomDenied) throws(WireError) -> RoomDenial {
    switch message.denial {
    case .alone: .alone
    case .inRoom: .inRoom(try identifier(message.room, "room"))
    case .noRoom: .noRoom
    case .runIsOn: .runIsOn
    case .tooFar: .tooFar(metres: message.hasMeters ? Int(message.meters) : nil)
    case .otherSpeed: .otherSpeed
    case .update: .update
    case .unknownRoom: .unknownRoom
    case .expired: .expired
    case .forbidden: .forbidden
    case .seeking: .seeking
    case .notSeeking: .notSeeking
    case .outOfReach: .outOfReach
    case .busy, .unspecified, .UNRECOGNIZED: .busy
    }
  }

  // MARK: Ends

  static func word(_ end: RoomEnd) -> WireRoomEnd {
    switch end {
    case .owner: .owner
    case .closed: .closed
    case .left: .left
    case .nobodyCame: .nobodyCame
    case .nobodyFound: .nobodyFound
    }
  }

  static func value(_ word: WireRoomEnd) throws(WireError) -> RoomEnd {
    switch word {
    case .owner: .owner
    case .closed: .closed
    case .left: .left
    case .nobodyCame: .nobodyCame
    case .nobodyFound: .nobodyFound
    case .unspecified, .UNRECOGNIZED: throw .unknown("an end of a room")
    }
  }
}
