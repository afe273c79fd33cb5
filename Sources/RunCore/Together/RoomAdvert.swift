/// Says that a room takes runners in. It lies beside the logs, and its author renews it while that is so.
package struct RoomAdvert: Hashable, Sendable {
  /// The fleet.
  package var fleet: FleetID
  /// The room.
  package var room: RoomID
  /// The member who says it.
  package var author: MemberID
  /// What the room is for; of a matched one, with what the author seeks.
  package var terms: RoomTerms
  /// The author's card.
  package var card: RoomCard
  /// How many are in.
  package var members: Int
  /// Where `open` is in the log: who reads the room begins there.
  package var position: UInt64
  /// When the log took `open`.
  package var openedAt: LogTime
  /// Under which class of rooms it is listed; see ``isClass(_:)``.
  package var listedAs: String

  /// An advert from its parts.
  package init(
    fleet: FleetID, room: RoomID, author: MemberID, terms: RoomTerms, card: RoomCard, members: Int, position: UInt64,
    openedAt: LogTime, listedAs: String
  ) {
    self.fleet = fleet
    self.room = room
    self.author = author
    self.terms = terms
    self.card = card
    self.members = members
    self.position = position
    self.openedAt = openedAt
    self.listedAs = listedAs
  }

  /// Whether a text names a class: 1 to 32 of a–z, 0–9, dot and hyphen, so that it fits into a subject.
  package static func isClass(_ text: String) -> Bool {
    (1...32).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
