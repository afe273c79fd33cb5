/// An entry before it is signed: what its author says.
package struct RoomContent: Hashable, Sendable {
  /// The fleet.
  package var fleet: FleetID
  /// The room.
  package var room: RoomID
  /// Who says it.
  package var author: MemberID
  /// Its number among the author's entries of this room.
  package var number: UInt64
  /// What the author had read.
  package var seen: Seen
  /// What it asks.
  package var ask: RoomAskKind
  /// The number from which the room's id is made; in `open` only.
  package var nonce: RoomNonce?
  /// A content from its parts.
  package init(
    fleet: FleetID, room: RoomID, author: MemberID, number: UInt64, seen: Seen, ask: RoomAskKind,
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
