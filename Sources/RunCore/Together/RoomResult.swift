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
