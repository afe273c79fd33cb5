/// What a member tells the others in a room while it is there. Nobody keeps it, and nothing depends on it.
package struct RoomLive: Hashable, Sendable {
  /// The paces that a standing can state, seconds per kilometre.
  package static let paceBounds = 1...86_400

  /// How the author's run stands.
  package struct Standing: Hashable, Sendable {
    /// Time since the start, in whole milliseconds.
    package var elapsed: BusDuration
    /// Tenths of a metre; `nil` if unknown.
    package var decimetres: Int?
    /// The present pace, from 1 to 86,400; `nil` if unknown.
    package var paceSecondsPerKilometre: Int?
    /// The phase of the run.
    package var phase: RunPhase
    /// A standing from its parts.
    package init(elapsed: BusDuration, decimetres: Int? = nil, paceSecondsPerKilometre: Int? = nil, phase: RunPhase) {
      self.elapsed = elapsed
      self.decimetres = decimetres
      self.paceSecondsPerKilometre = paceSecondsPerKilometre
      self.phase = phase
    }
  }
  /// What it tells.
  package enum Kind: Hashable, Sendable {
    /// Still here.
    case beat
    /// How the run stands.
    case standing(Standing)
  }

  /// The fleet.
  package var fleet: FleetID
  /// The room.
  package var room: RoomID
  /// Who tells it.
  package var author: MemberID
  /// Grows from message to message of the author, from 1. A reader drops what is not above the last one.
  package var number: UInt64
  /// What it tells.
  package var kind: Kind

  /// A message from its parts.
  package init(fleet: FleetID, room: RoomID, author: MemberID, number: UInt64, kind: Kind) {
    self.fleet = fleet
    self.room = room
    self.author = author
    self.number = number
    self.kind = kind
  }
}
