/// How a core answers an inquiry of a caller on its machine.
enum InquiryReply: Sendable {
  /// At once.
  case atOnce(InquiryAnswer)
  /// Once these writes, and everything before them, are durable.
  case durably(InquiryAnswer, after: [StoreOperation] = [])
  /// With a part of a record, which is read once everything before it is durable.
  case read(RunID, from: Int)

  /// Refuses at once.
  static func refused(_ failure: InquiryFailure) -> InquiryReply { .atOnce(.failed(failure)) }

  /// Refuses at once, with a code and a sentence.
  static func refused(_ code: InquiryFailure.Code, _ sentence: String) -> InquiryReply {
    .refused(InquiryFailure(code, sentence))
  }

  /// Says whether an item of the outbox was cancelled. It could not be if it may have been sent.
  static func cancelled(_ isCancelled: Bool) -> InquiryReply {
    isCancelled ? .durably(.done(nil)) : .refused(.notCancellable)
  }

  /// The part of a record from a byte on.
  static func part(of run: RunID, from: Int, in kept: [RunID: RecordSummary]) -> InquiryReply {
    kept[run] == nil ? .refused(.noRecord) : .read(run, from: max(0, from))
  }
}
