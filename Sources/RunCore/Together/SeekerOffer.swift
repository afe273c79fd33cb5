/// A search that another runner has advertised, as a ``Seeker`` looks at it. What it says is the other's word: a wrong
/// one costs the seeker an entry that is refused.
package struct SeekerOffer: Hashable, Sendable {
  /// The matched room.
  package var room: RoomID
  /// Who waits there.
  package var author: MemberID
  /// What it shows.
  package var card: RoomCard
  /// Whom it seeks.
  package var seek: Seek
  /// How long its search lasts, from ``openedAt``.
  package var left: BusDuration
  /// When the room was opened.
  package var openedAt: LogTime
  /// Whether two are in.
  package var isTaken: Bool

  /// An offer from its parts.
  package init(
    room: RoomID, author: MemberID, card: RoomCard, seek: Seek, left: BusDuration, openedAt: LogTime,
    isTaken: Bool = false
  ) {
    self.room = room
    self.author = author
    self.card = card
    self.seek = seek
    self.left = left
    self.openedAt = openedAt
    self.isTaken = isTaken
  }

  /// When levels may differ by one: after half of the search.
  var widensAt: LogTime { openedAt + BusDuration(nanoseconds: left.nanoseconds / 2) }
  /// When the search is over.
  var endsAt: LogTime { openedAt + left }
  /// Orders by who waits longer; the room decides between equal ones, so that two never give way to each other.
  static func precedes(_ left: Self, _ right: Self) -> Bool {
    (left.openedAt, left.room) < (right.openedAt, right.room)
  }
}

/// What a seeker's hub is to do.
package enum SeekerAction: Hashable, Sendable {
  /// Open a matched room whose search lasts so long, and say which one by the verdict.
  case open(left: BusDuration)
  /// Ask for a place in another's room.
  case enter(RoomID)
  /// Ask to end the search in a room.
  case close(RoomID)
  /// Give up the place in a room.
  case leave(RoomID)
  /// Tell the others that one waits in a room since a moment.
  case advertise(RoomID, since: LogTime)
  /// Tell them so no more.
  case withdraw
  /// Somebody is found. It may come again when the other one goes.
  case matched(RoomID)
  /// The search is over without a match.
  case over
}
