/// How a core answers an inquiry of a caller on its machine.
enum InquiryReply: Sendable {
  /// At once.
  case atOnce(InquiryAnswer)
  /// Once these writes, and everything before them, are durable.
  case durably(InquiryAnswer, after: [StoreOperation] = [])
  /// With a part of a record, which is read once everything before it is durable.
  case read(RunID, from: Int)

  /// Refuses at once, with the reason.
  static func refused(_ reason: String) -> InquiryReply { .atOnce(.failed(reason)) }

  /// Says whether an item of the outbox was cancelled. It could not be if it may have been sent.
  static func cancelled(_ isCancelled: Bool) -> InquiryReply {
    isCancelled ? .durably(.done(nil)) : .refused(InquiryFailure.notCancellable)
  }

  /// The part of a record from a byte on.
  static func part(of run: RunID, from: Int, in kept: [RunID: RecordSummary]) -> InquiryReply {
    kept[run] == nil ? .refused(InquiryFailure.noRecord) : .read(run, from: max(0, from))
  }
}
