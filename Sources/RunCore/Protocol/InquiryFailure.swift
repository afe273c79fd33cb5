/// The sentences with which hubs and peers refuse an inquiry.
package enum InquiryFailure {
  /// The inquiry is one of a later version.
  package static let unknown = "this version of RunBus does not know that question: update this node"
  /// The answer is one of a later version, or has parts of a later version without which it would be wrong.
  package static let unknownAnswer = "the answer is one that this version of RunBus does not know: update this node"
  /// The node keeps no record of the run.
  package static let noRecord = "no such run is kept here"
  /// The message is not in quarantine.
  package static let notQuarantined = "nothing of this id is in quarantine here"
  /// The hub has forgotten the device that a message in quarantine was for.
  package static let receiverUnknown = "the device that it was for is not known any more"
  /// The outbox has no room for another message.
  package static let outboxFull = "the outbox is full: try again when some of it is delivered"
  /// The message breaks a limit of the wire.
  static let messageTooLong = "its name or body is longer than the wire carries, or the name has control characters"
  /// The item may have been sent, so the node cannot promise that its receiver never sees it.
  package static let notCancellable = "it may have been sent already: only what was never sent can be cancelled"
  /// The outbox holds no such item.
  package static let notWaiting = "nothing of this id waits here"
}
