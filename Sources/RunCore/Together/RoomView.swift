/// A room as the runner's other devices and screens get it from the hub. It has no sentence for people.
package struct RoomView: Hashable, Sendable {
  /// Which of two views is newer.
  package struct Order: Hashable, Comparable, Sendable {
    /// The term of the hub.
    package var term: UInt64
    /// Counts the rooms of which the hub has spoken in the term; ids have no order of time.
    package var room: UInt64
    /// The position in the log up to which the room was folded.
    package var position: UInt64
    /// Counts the views at that position.
    package var tick: UInt64
    /// An order from its parts.
    package init(term: UInt64, room: UInt64, position: UInt64, tick: UInt64) {
      (self.term, self.room, self.position, self.tick) = (term, room, position, tick)
    }
    /// Newer views are larger.
    package static func < (left: Self, right: Self) -> Bool {
      (left.term, left.room, left.position, left.tick) < (right.term, right.room, right.position, right.tick)
    }
  }
  /// What stands between the room and its next stage.
  package enum Gate: Hashable, Sendable {
    /// Nothing: the owner may begin or proceed.
    case open
    /// There are fewer than two.
    case tooFew
    /// These are not ready, in the order of the roster.
    case notReady([MemberID])
    /// These are not at the start, in the order of the roster.
    case notHere([MemberID])
  }
  /// A member's line of the roster.
  package struct Member: Hashable, Sendable {
    /// Who it is.
    package let id: MemberID
    /// The name that others see.
    package let nickname: Nickname
    /// Whether it is ready to begin, and at the start.
    package let (isReady, isHere): (Bool, Bool)
    /// Whether it may begin the room; nobody may in a matched one.
    package let isOwner: Bool
    /// Whether it is the runner of the devices that get the view.
    package let isSelf: Bool

    /// A line from its parts.
    package init(id: MemberID, nickname: Nickname, isReady: Bool, isHere: Bool, isOwner: Bool, isSelf: Bool) {
      (self.id, self.nickname, self.isReady, self.isHere) = (id, nickname, isReady, isHere)
      (self.isOwner, self.isSelf) = (isOwner, isSelf)
    }
  }

  /// Which room.
  package let room: RoomID
  /// Which of two views is newer.
  package let order: Order
  /// What the room is for; `nil` while nobody has opened it.
  package let terms: RoomTerms?
  /// Where it stands.
  package let stage: RoomStage
  /// What stands between it and its next stage; `nil` where only time does.
  package let gate: Gate?
  /// The members, longest there first; at most 32.
  package let roster: [Member]
  /// Who is ahead, from the start on.
  package let standings: [StandingsTable.Row]
  /// What came out; `nil` before the end of the run.
  package let result: RoomResult?
  /// Whether the view rests on the own estimate of the log's time: an entry that is not read yet may still change it.
  package let isProvisional: Bool
  /// Whether the log is out of reach, so that the view may be old.
  package let isStale: Bool

  /// A view from its parts.
  package init(
    room: RoomID, order: Order, terms: RoomTerms?, stage: RoomStage, gate: Gate?, roster: [Member],
    standings: [StandingsTable.Row], result: RoomResult?, isProvisional: Bool, isStale: Bool
  ) {
    self.room = room
    self.order = order
    self.terms = terms
    self.stage = stage
    self.gate = gate
    self.roster = roster
    self.standings = standings
    self.result = result
    self.isProvisional = isProvisional
    self.isStale = isStale
  }
}

extension RoomView {
  /// The view of a folded room.
  ///
  /// - Parameters:
  ///   - state: The room as it stands, advanced to the own estimate of the log's time.
  ///   - standings: Who is ahead, at a moment of the hub's own clock.
  ///   - own: The runner of the hub.
  package init(
    _ state: RoomState, of room: RoomID, order: Order, standings: (table: StandingsTable, now: BusTime)?, own: MemberID,
    isProvisional: Bool, isStale: Bool
  ) {
    let isOpened = state.terms?.isMatched == false
    let roster = state.members.prefix(RoomTerms.placesBounds.upperBound).map { member in
      Member(
        id: member.id, nickname: member.card.nickname, isReady: member.isReady, isHere: member.isHere,
        isOwner: isOpened && member.id == state.owner, isSelf: member.id == own)
    }
    let isOn =
      switch state.stage {
      case .running, .settling, .over: true
      case .none, .recruiting, .gathering, .countdown, .cancelled: false
      }
    let isRun = if case .running = state.stage { true } else { false }
    self.init(
      room: room, order: order, terms: state.terms, stage: state.stage, gate: Gate(state), roster: roster,
      standings: isOn ? standings.map { $0.table.rows(at: $0.now) } ?? [] : [], result: isRun ? nil : RoomResult(state),
      isProvisional: isProvisional, isStale: isStale)
  }

  /// The own line of the roster; `nil` without a place.
  package var ownMember: Member? { roster.first(where: \.isSelf) }
  /// The own line of the standings.
  package var ownStanding: StandingsTable.Row? { ownMember.flatMap { own in standings.first { $0.member == own.id } } }
  /// The own line of the result.
  package var ownResult: RoomResult.Row? { ownMember.flatMap { own in result?.rows.first { $0.member == own.id } } }
  /// When the run starts, or has started, by the log's clock; its reader turns it into bus time.
  package var startsAt: LogTime? {
    switch stage {
    case .countdown(let startsAt), .running(let startsAt), .settling(let startsAt, _), .over(let startsAt): startsAt
    case .none, .recruiting, .gathering, .cancelled: nil
    }
  }

  /// What is wrong with the view; `nil` when everything that always holds does.
  package func check() -> String? {
    let ids = roster.map(\.id)
    if Set(ids).count != ids.count { return "a member is in the roster twice" }
    if ids.count > RoomTerms.placesBounds.upperBound { return "more members than places" }
    if roster.count(where: \.isOwner) > 1 { return "there are two owners" }
    switch gate {
    case .notReady(let who), .notHere(let who):
      return who.isEmpty || !who.allSatisfy(ids.contains) ? "the gate waits for nobody of the roster" : nil
    case .open, .tooFew, nil: return nil
    }
  }
}

extension RoomView.Gate {
  /// What stands between a room and its next stage; `nil` where only time does.
  init?(_ state: RoomState) {
    switch state.stage {
    case .recruiting where state.members.count < 2: self = .tooFew
    case .recruiting: self = state.notReady.isEmpty ? .open : .notReady(state.notReady)
    case .gathering: self = state.notHere.isEmpty ? .open : .notHere(state.notHere)
    case .none, .countdown, .running, .settling, .over, .cancelled: return nil
    }
  }
}
