// Answers questions about records from the copies that the peer keeps.
extension PeerCore {
  /// Answers a shell's question about records, now or later.
  mutating func answerAboutRecords(
    _ inquiry: Inquiry, _ number: UInt64, in turn: inout Turn
  ) {
    if let reply = records.answer(inquiry, number, at: turn.now) { give(reply, to: number, in: &turn) }
  }

  /// Answers the questions that need not wait any longer.
  mutating func answerWaiting(in turn: inout Turn) {
    for due in records.dueReplies(at: turn.now) { give(due.reply, to: due.number, in: &turn) }
  }
}
