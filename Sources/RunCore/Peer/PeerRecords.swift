// Routes changes of the hub's records, and questions about them, to the copies that the peer keeps.
extension PeerCore {
  /// Notes the hub's last change and asks for what is missing.
  mutating func noteRecords(newest: UInt64, in turn: inout Turn) {
    carryOut(records.note(newest: newest, at: turn.now, generator: &turn.generator), in: &turn)
  }

  /// Begins to fetch records in a new session.
  mutating func openRecords(newest: UInt64, in turn: inout Turn) {
    carryOut(records.open(newest: newest, at: turn.now, generator: &turn.generator), in: &turn)
  }

  mutating func fetchRecords(in turn: inout Turn) {
    carryOut(records.fetchNext(at: turn.now, generator: &turn.generator), in: &turn)
  }

  /// Handles a change of the hub's records, or a part of one.
  mutating func receive(_ change: RecordChange, in turn: inout Turn) {
    carryOut(records.receive(change, at: turn.now, generator: &turn.generator), in: &turn)
  }

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

  private mutating func carryOut(_ wanted: [RecordCopies.Action], in turn: inout Turn) {
    for action in wanted {
      switch action {
      case .fetch(let fetch): send(.fetchRecord(fetch), in: &turn)
      case .write(let operations, let effect): turn.write(operations, then: effect.map { [.records($0)] } ?? [])
      case .note(let text): turn.act(.note(text))
      }
    }
  }
}
