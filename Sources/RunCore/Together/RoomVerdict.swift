/// The one answer to an entry.
package enum RoomVerdict: Hashable, Sendable {
  /// The room is open, and its opener its first member.
  case opened
  /// The author has a place.
  case entered
  /// It is so now, or was so already.
  case noted
  /// The room gathers, or counts down.
  case begun
  /// The countdown has stopped.
  case held
  /// The author's place is free.
  case left
  /// The member's place is free, and the member barred.
  case removed
  /// The search is over.
  case closed
  /// The room is over before its run.
  case cancelled
  /// Nothing changed.
  case rejected(RoomRefusal)
}

/// Why an entry changed nothing.
package enum RoomRefusal: Hashable, Sendable {
  /// What does not fit between two who seek.
  package enum Unfit: String, Hashable, Sendable, CaseIterable {
    case goal, gender, level
  }
  /// The room is open already.
  case known
  /// The room's id belongs to another's key.
  case notYours
  /// The rules of the room, or the ask, are of a later version; or the ask is none of this kind of room.
  case unsupported
  /// Nobody has opened the room.
  case unknownRoom
  /// The room is over or cancelled.
  case over
  /// The author (for `remove`: the named one) has no place in the room.
  case notIn
  /// The author has a place already.
  case alreadyIn
  /// The room takes nobody in now.
  case notRecruiting
  /// The author was removed.
  case barred
  /// The room is for another circle.
  case otherCircle
  /// The author is farther than 1,000 m from the start; `nil`: it is not known how far.
  case tooFar(metres: Int?)
  /// The two do not fit.
  case unfit(Unfit)
  /// All places are taken.
  case full
  /// Only the owner may.
  case notOwner
  /// There are fewer than two.
  case tooFew
  /// These are not ready, in the order of the roster.
  case notReady([MemberID])
  /// These are not at the start, in the order of the roster.
  case notHere([MemberID])
  /// The room does not gather now.
  case notGathering
  /// The room does not count down now.
  case notCounting
  /// The start is less than a second away, or over.
  case tooLate
  /// The run is on: who wants to end it stops its own run.
  case alreadyRunning
  /// Another one has a place in the search's room: that is the match.
  case matched
  /// The room's run is not on and not just over.
  case notRunning
  /// The distance is more than 10 m/s for the whole time.
  case implausible
  /// The author has written too much in this room.
  case tooMany
}

/// Why a room was over before its run.
package enum RoomEnd: String, Hashable, Sendable, CaseIterable {
  /// The owner ended it.
  case owner
  /// The seeker ended the search.
  case closed
  /// All have left.
  case left
  /// Nobody came in a day.
  case nobodyCame
  /// Nobody was found in time.
  case nobodyFound
}

/// Where a room stands.
///
/// ```
/// none → recruiting ⇄ [gathering] → countdown → running → settling → over
///             └───────────┴─────────────┴→ cancelled
/// ```
/// `gathering` and `countdown` lead back to `recruiting` when members go, and `countdown` by `hold`.
package enum RoomStage: Hashable, Sendable {
  /// Nobody has opened it. Can go to: recruiting.
  case none
  /// Members enter and get ready. Can go to: gathering, countdown, cancelled.
  case recruiting
  /// Members walk to the start. Can go to: recruiting, countdown, cancelled.
  case gathering
  /// The run starts at that moment. Can go to: recruiting, running, cancelled.
  case countdown(startsAt: LogTime)
  /// The run is on since that moment. Can go to: settling.
  case running(startsAt: LogTime)
  /// The run is over since `endedAt`; records come in. Can go to: over.
  case settling(startsAt: LogTime, endedAt: LogTime)
  /// The result is final.
  case over(startsAt: LogTime)
  /// Over before its run.
  case cancelled(RoomEnd)
}
