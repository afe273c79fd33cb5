/// What a ``RoomAsk`` is identified by.
package enum RoomAskTag: Sendable {}

/// What a device of a runner asks of its hub about rooms. It has one answer, however often it is asked.
package struct RoomAsk: Hashable, Sendable {
  /// What is asked.
  package enum Wish: Hashable, Sendable {
    /// Open a room.
    case open(RoomTerms)
    /// Take a place in a room. `seek` is what is sought in a matched one.
    case enter(RoomID, seek: Seek? = nil)
    /// Be ready, or not any more.
    case ready(Bool)
    /// Give up the place.
    case leave
    /// Begin.
    case begin
    /// Count down.
    case proceed
    /// Stop the countdown.
    case hold
    /// End the room before its run.
    case cancel
    /// End the search.
    case close
    /// Take a member's place away for good.
    case remove(MemberID)
    /// Seek another runner.
    case match(RoomSearch)
    /// End the search for another runner.
    case unmatch
  }
  /// Which ask it is.
  package var id: Identifier<RoomAskTag>
  /// What is asked.
  package var wish: Wish
  /// On whose behalf it is asked. A paired device asks with the sources that it has.
  package var source: ControlSource
  /// Real time from the asking to the sending.
  package var age: BusDuration
  /// An ask from its parts.
  package init(
    id: Identifier<RoomAskTag>, wish: Wish, source: ControlSource = .shell, age: BusDuration = .zero
  ) {
    (self.id, self.wish, self.source, self.age) = (id, wish, source, age)
  }

  /// How old an ask may be, so that nobody enters or begins a room long after it was wanted.
  package static let lasts = BusDuration.seconds(60)
  /// Whether it is too old. Who wants to leave still does.
  package var isExpired: Bool {
    if case .leave = wish { return false }
    return age > Self.lasts
  }
}

/// What a hub seeks for its runner, and how.
package struct RoomSearch: Hashable, Sendable {
  /// Whom it seeks.
  package var seek: Seek
  /// How long the search lasts, in ``RoomTerms/leftBounds``.
  package var left: BusDuration
  /// Whether the hub gets ready by itself when somebody is found.
  package var getsReady: Bool
  /// A search from its parts.
  package init(seek: Seek, left: BusDuration = RoomTerms.defaultLeft, getsReady: Bool = true) {
    (self.seek, self.left, self.getsReady) = (seek, left, getsReady)
  }
}

/// Why a search is over without a match.
package enum SearchEnd: String, Hashable, Sendable, CaseIterable {
  /// Nobody who fits was found in time.
  case nobodyFound
  /// The runner ended it.
  case stopped
  /// The runner gave up the place, or was not ready in time.
  case left
  /// The log was out of reach from the beginning, or has lost the room of the search.
  case broken
}

/// What a hub's driver makes of hashes for an ask to open or to enter a room.
package struct RoomKeys: Hashable, Sendable {
  /// The room: a new one to open, or the one to enter.
  package var room: RoomID
  /// The random number from which, with the hub's key, a new room's id is made.
  package var nonce: RoomNonce
  /// The runner's own run in that room.
  package var run: RunID
  /// Keys from their parts.
  package init(room: RoomID, nonce: RoomNonce, run: RunID) { (self.room, self.nonce, self.run) = (room, nonce, run) }
}

/// What becomes of an ask.
package enum RoomAnswer: Hashable, Sendable {
  /// It is on its way: an entry of a room that nobody can lose any more.
  case pending(RoomID)
  /// The room's log has it, and this is its verdict.
  case judged(RoomID, RoomVerdict)
  /// The hub does not pass it on.
  case refused(RoomDenial)
  /// The search is on. Asked again, the answer is this one or one of the two below.
  case seeking
  /// The search has found another runner in this room. When that one goes before the run, the search goes on.
  case matched(RoomID)
  /// The search is over without a match.
  case unmatched(SearchEnd)
}

/// Why a hub does not pass an ask on.
package enum RoomDenial: Hashable, Sendable {
  /// The hub takes no part in rooms.
  case alone
  /// The hub has a place in a room already.
  case inRoom(RoomID)
  /// The hub has a place in no room.
  case noRoom
  /// A run is on: it has to be over before another one begins.
  case runIsOn
  /// The runner is farther than 1,000 m from the start; `nil`: there is no good fix of the last 30 s.
  case tooFar(metres: Int?)
  /// The room's time passes at another speed than the hub's.
  case otherSpeed
  /// The room's rules are of a later version.
  case update
  /// Nothing of this room was read yet.
  case unknownRoom
  /// It was asked too long ago; see ``RoomAsk/lasts``.
  case expired
  /// The device may not press as this source.
  case forbidden
  /// Asks wait already, or the hub follows as many rooms as it can.
  case busy
  /// A search is on.
  case seeking
  /// No search is on.
  case notSeeking
  /// The room's log cannot be read or written now, and something has to be read first. The report of the room says why.
  case outOfReach
}
