/// What came out of a room's run: the same from every fold, whatever the order of the records.
package struct RoomResult: Hashable, Sendable {
  /// How settled a result is.
  package enum Standing: String, Hashable, Sendable, CaseIterable {
    /// Records are missing.
    case provisional
    /// All records are in; a record may be amended until the room is over.
    case complete
    /// Nothing changes any more.
    case final
  }
  /// What a member's place means.
  package enum Outcome: String, Hashable, Sendable, CaseIterable {
    case won, lost, drawn
  }
  /// A member's line.
  package struct Row: Hashable, Sendable {
    /// Whose line it is.
    package let member: MemberID
    /// Tenths of a metre; `nil` if unknown.
    package let decimetres: Int?
    /// Whether the distance is that of a record; otherwise it is that of a mark.
    package let isConfirmed: Bool
    /// Whether the member ran until the goal; `nil` without a record.
    package let isFinished: Bool?
    /// The place, from 1; equal distances share one.
    package let place: Int
    /// Won, lost or drawn; `nil` while that is open, and when nobody has a distance.
    package let outcome: Outcome?

    /// A line from its parts.
    package init(
      member: MemberID, decimetres: Int?, isConfirmed: Bool, isFinished: Bool?, place: Int, outcome: Outcome?
    ) {
      self.member = member
      self.decimetres = decimetres
      self.isConfirmed = isConfirmed
      self.isFinished = isFinished
      self.place = place
      self.outcome = outcome
    }
  }

  /// How settled it is.
  package let standing: Standing
  /// The lines, best first; those that share a place in the order of the roster.
  package let rows: [Row]

  /// A result from its parts.
  package init(standing: Standing, rows: [Row]) { (self.standing, self.rows) = (standing, rows) }
}

extension RoomResult {
  /// The result of a room; `nil` before its run, and without one.
  package init?(_ state: RoomState) {
    switch state.stage {
    case .none, .recruiting, .gathering, .countdown, .cancelled: return nil
    case .running: standing = .provisional
    case .settling: standing = state.members.allSatisfy { $0.record != nil } ? .complete : .provisional
    case .over: standing = .final
    }
    let isOpen = standing == .provisional

    let lines = state.members.enumerated().map { Line($0.element, place: $0.offset) }.sorted { $0.precedes($1) }
    let winners = lines.count { $0.ties(lines[0]) }
    let nobodyRan = lines.allSatisfy { $0.rank == Line.unknown }
    rows = lines.map { line in
      let place = (lines.firstIndex { $0.ties(line) } ?? 0) + 1
      let outcome: Outcome? = isOpen || nobodyRan ? nil : place > 1 ? .lost : winners == 1 ? .won : .drawn
      return Row(
        member: line.member.id, decimetres: line.decimetres, isConfirmed: line.rank == Line.confirmed,
        isFinished: line.member.record?.isFinished, place: place, outcome: outcome)
    }
  }

  /// A member's distance and what it rests on.
  private struct Line {
    static let (confirmed, unconfirmed, unknown) = (0, 1, 2)
    let member: RoomState.Member
    let place: Int
    let rank: Int
    let decimetres: Int?

    init(_ member: RoomState.Member, place: Int) {
      self.member = member
      self.place = place
      if let record = member.record {
        decimetres = record.decimetres
        rank = record.decimetres == nil ? Self.unknown : Self.confirmed
      } else {
        decimetres = member.mark?.decimetres
        rank = member.mark == nil ? Self.unknown : Self.unconfirmed
      }
    }
    func ties(_ other: Line) -> Bool { rank == other.rank && decimetres == other.decimetres }
    func precedes(_ other: Line) -> Bool {
      (rank, -(decimetres ?? 0), place) < (other.rank, -(other.decimetres ?? 0), other.place)
    }
  }
}

extension RoomMachine {
  /// What came out of the run; `nil` before it.
  package var result: RoomResult? { RoomResult(state) }
}
