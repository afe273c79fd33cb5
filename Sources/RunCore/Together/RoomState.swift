/// A room after the entries of its log up to some position.
package struct RoomState: Hashable, Sendable {
  /// A runner who has a place.
  package struct Member: Hashable, Sendable {
    /// Who it is.
    package let id: MemberID
    /// What it shows.
    package let card: RoomCard
    /// Whether it is ready to begin.
    package internal(set) var isReady: Bool
    /// Whether it is at the start; means something while the room gathers.
    package internal(set) var isHere: Bool
    /// The latest mark of its run.
    package internal(set) var mark: RoomMark?
    /// The latest version of its record.
    package internal(set) var record: RoomRecord?

    /// A member from its parts; one who has just come is not ready.
    package init(
      id: MemberID, card: RoomCard, isReady: Bool = false, isHere: Bool = false, mark: RoomMark? = nil,
      record: RoomRecord? = nil
    ) {
      self.id = id
      self.card = card
      self.isReady = isReady
      self.isHere = isHere
      self.mark = mark
      self.record = record
    }
  }

  /// Where the room stands.
  package internal(set) var stage = RoomStage.none
  /// What the room is for; `nil` while nobody has opened it.
  package internal(set) var terms: RoomTerms?
  /// The member who has been there longest; `nil` while nobody is.
  package internal(set) var owner: MemberID?
  /// The members, longest there first.
  package internal(set) var members: [Member] = []
  /// Who was removed and may not enter again.
  package internal(set) var barred: Set<MemberID> = []
  /// Members who have stated a history of the log that is not this one.
  package internal(set) var disputes: Set<MemberID> = []
  /// The log's time: of the last entry, or to which it was let pass.
  package internal(set) var time = LogTime.zero

  /// A room from its parts; without any, one that nobody has opened.
  package init(
    stage: RoomStage = .none, terms: RoomTerms? = nil, owner: MemberID? = nil, members: [Member] = [],
    barred: Set<MemberID> = [], disputes: Set<MemberID> = [], time: LogTime = .zero
  ) {
    self.stage = stage
    self.terms = terms
    self.owner = owner
    self.members = members
    self.barred = barred
    self.disputes = disputes
    self.time = time
  }

  /// A member by its id.
  package func member(_ id: MemberID) -> Member? { members.first { $0.id == id } }
  /// Who is not ready, in the order of the roster.
  package var notReady: [MemberID] { members.filter { !$0.isReady }.map(\.id) }
  /// Who is not at the start, in the order of the roster.
  package var notHere: [MemberID] { members.filter { !$0.isHere }.map(\.id) }
}

/// What the fold makes of an entry.
package enum Folded: Hashable, Sendable {
  /// It was judged.
  case verdict(RoomVerdict)
  /// Its number was used up before, with this verdict; `nil` for a verdict that is not kept.
  case known(RoomVerdict?)
  /// Numbers before it are missing: its author appends again from there.
  case gap
  /// It is beyond what the fold follows.
  case leftOut
}
