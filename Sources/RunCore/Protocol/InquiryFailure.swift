/// Why a node refuses a question. Hubs and peers use the same sentences.
public enum InquiryFailure {
  /// The record is not here.
  static let noRecord = "no such run is kept here"
  /// The message is not in quarantine.
  static let notQuarantined = "nothing of this id is in quarantine here"
  /// The outbox has no room for another message.
  static let outboxFull = "the outbox is full: try again when some of it is delivered"
  /// The message breaks a limit of the wire.
  static let messageTooLong = "its name or body is longer than the wire carries, or the name has control characters"
  /// The item has been sent at least once, so that cancelling it could not be kept.
  public static let notCancellable = "it may have been sent already: only what was never sent can be cancelled"
  /// The outbox has no such item.
  static let notWaiting = "nothing of this id waits here"
}

/// Bounds of questions that wait for a record that is being made or received.
enum RecordQuestions {
  /// How long such a question waits, in real time. It is shorter than the timeout of those who ask (5 s); reading a
  /// journal takes a second at most.
  static let patience = BusDuration.seconds(3)
  /// How many of them wait at a time; one more is answered with what there is.
  static let waitingMax = 64
}
