/// Something in a room that a runner should notice now: a sound, a tap on the wrist, a line. The hub tells each once.
public struct RoomCue: Hashable, Sendable {
  /// What happened.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The run of the room has started.
    case started
    /// Another member is ahead now who was behind.
    case overtaken
    /// The result is complete: the runner has won, shares the first place, or is not first.
    case won, drawn, lost
    /// The room has ended before its run, or the runner has no place in it any more.
    case cancelled
  }
  /// Which room: 32 lowercase hexadecimal digits.
  public var room: String
  /// What happened.
  public var kind: Kind
  /// Who has overtaken the runner; `nil` for another kind.
  public var nickname: String?

  /// A cue from its parts.
  public init(room: String, kind: Kind, nickname: String? = nil) {
    self.room = room
    self.kind = kind
    self.nickname = nickname
  }
}
