/// Something that happened in a room, for cues, feeds and logs.
package enum RoomEvent: Hashable, Sendable {
  /// How a member lost its place.
  package enum Departure: String, Hashable, Sendable, CaseIterable {
    /// It gave the place up.
    case left
    /// The owner removed it.
    case removed
    /// It was silent for too long, or not ready in time.
    case gone
  }
  /// A runner has a place.
  case entered(MemberID)
  /// A member is ready, or not any more.
  case ready(MemberID, Bool)
  /// A member is at the start, or not any more.
  case here(MemberID, Bool)
  /// A member has lost its place.
  case departed(MemberID, Departure)
  /// Another member is the owner now.
  case owner(MemberID)
  /// The room is at another stage.
  case stage(RoomStage)
  /// A member's record came, or a newer version of it.
  case recorded(MemberID)
  /// A member has stated a history of the log that is not this one.
  case disputed(MemberID)
}
