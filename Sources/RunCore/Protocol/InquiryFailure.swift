/// Why a node does not answer a question or carry out an order: a code for programs and a sentence for people.
package struct InquiryFailure: Error, Hashable, Sendable {
  /// The kind of a failure.
  package enum Code: Hashable, Sendable, CaseIterable {
    /// The inquiry says something that cannot be, or is not possible now.
    case invalid
    /// The node keeps no record, message, command or device of this name.
    case notFound
    /// What was to be cancelled may have been sent, so the node cannot promise that its receiver never sees it.
    case tooLate
    /// A bounded queue is full.
    case full
    /// Whoever asks may not ask that, or not from there.
    case forbidden
    /// Another node, or this node while it runs, can answer that.
    case notHere
    /// One of the two sides does not know the question or the answer.
    case unsupported
    /// No run waits for a decision about its recovery.
    case notRecovering
    /// The store cannot be read or written.
    case store
    /// The node has ended, or begins anew.
    case closed
    /// The other device is not in reach.
    case unreachable
    /// The other device's app did not answer in time.
    case timeout
    /// The other device's app answered that it cannot or will not.
    case refused
    /// These messages have a reader already.
    case alreadyHandled
    /// None is known: the failure of an older or a later version.
    case unknown
  }

  /// The kind, for programs.
  package let code: Code
  /// One line for people.
  package let message: String

  /// A failure from its parts.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The inquiry is one of a later version.
  package static let unknown = Self(
    .unsupported, "this version of RunBus does not know that question: update this node")
  /// The answer is one of a later version, or has parts of a later version without which it would be wrong.
  package static let unknownAnswer = Self(
    .unsupported, "the answer is one that this version of RunBus does not know: update this node")
  /// The node keeps no record of the run.
  package static let noRecord = Self(.notFound, "no such run is kept here")
  /// The message is not in quarantine.
  package static let notQuarantined = Self(.notFound, "nothing of this id is in quarantine here")
  /// The hub has forgotten the device that a message in quarantine was for.
  package static let receiverUnknown = Self(.notFound, "the device that it was for is not known any more")
  /// The outbox has no room for another message.
  package static let outboxFull = Self(.full, "the outbox is full: try again when some of it is delivered")
  /// The message breaks a limit of the wire.
  static let messageTooLong = Self(
    .invalid, "its name or body is longer than the wire carries, or the name has control characters")
  /// The item may have been sent.
  package static let notCancellable = Self(
    .tooLate, "it may have been sent already: only what was never sent can be cancelled")
  /// The outbox holds no such item.
  package static let notWaiting = Self(.notFound, "nothing of this id waits here")
  /// A decision about a recovery came, and no run waits for one.
  package static let nothingToRecover = Self(.notRecovering, "no run waits for an answer")
  /// The node keeps nothing in files.
  package static let noFiles = Self(.notHere, "this node keeps nothing in files, so there is nothing to copy")
  /// The hub has no listener for paired devices.
  package static let pairsNobody = Self(
    .invalid, "this hub has no listener for paired devices: start it with --listen tcp://ADDRESS:PORT")
  /// No device is paired with the key of an order.
  static let noDevice = Self(.notFound, "no device is paired with that key")

  /// The failure of an older node, which sends a sentence and no code. Those of its sentences that programs act on are
  /// the ones above.
  package init(sentence: String) {
    let known = [
      Self.unknown, .unknownAnswer, .noRecord, .notQuarantined, .receiverUnknown, .outboxFull, .messageTooLong,
      .notCancellable, .notWaiting, .nothingToRecover, .noDevice,
    ]
    self = known.first { $0.message == sentence } ?? Self(.unknown, sentence)
  }
}
