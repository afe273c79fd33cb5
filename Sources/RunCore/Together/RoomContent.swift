/// What a ``RoomNonce`` is.
package enum RoomNonceTag: Sendable {}
/// The random number from which, with its opener's key, a room's id is made.
package typealias RoomNonce = Identifier<RoomNonceTag>

/// What the author of an entry signs.
package struct RoomContent: Hashable, Sendable {
  /// The fleet whose log it is for.
  package var fleet: FleetID
  /// The room.
  package var room: RoomID
  /// Who writes it.
  package var author: MemberID
  /// Its number among the author's entries of this room: 1, 2, 3 …
  package var number: UInt64
  /// What the author had read.
  package var seen: Seen
  /// What it asks.
  package var ask: RoomAskKind
  /// The number from which the room's id is made: that of an `open`, `nil` for every other ask.
  package var nonce: RoomNonce?

  /// A content from its parts.
  package init(
    fleet: FleetID, room: RoomID, author: MemberID, number: UInt64, seen: Seen = .nothing, ask: RoomAskKind,
    nonce: RoomNonce? = nil
  ) {
    self.fleet = fleet
    self.room = room
    self.author = author
    self.number = number
    self.seen = seen
    self.ask = ask
    self.nonce = nonce
  }
}
