// Routes changes of the hub's records, and questions about them, to the copies that the peer keeps.
extension PeerCore {
  /// Notes the hub's last change and asks for what is missing.
  mutating func noteRecords(newest: UInt64, at now: BusTime, into actions: inout [Action]) {
    carryOut(records.note(newest: newest, at: now, generator: &generator), at: now, into: &actions)
  }

  /// Begins to fetch records in a new session.
  mutating func openRecords(newest: UInt64, at now: BusTime, into actions: inout [Action]) {
    carryOut(records.open(newest: newest, at: now, generator: &generator), at: now, into: &actions)
  }

  mutating func fetchRecords(at now: BusTime, into actions: inout [Action]) {
    carryOut(records.fetchNext(at: now, generator: &generator), at: now, into: &actions)
  }

  /// Handles a change of the hub's records, or a part of one.
  mutating func receive(_ change: RecordChange, at now: BusTime, into actions: inout [Action]) {
    carryOut(records.receive(change, at: now, generator: &generator), at: now, into: &actions)
  }

  /// Answers a shell's question about records, now or later.
  mutating func answerAboutRecords(
    _ inquiry: Inquiry, _ number: UInt64, at now: BusTime, into actions: inout [Action]
  ) {
    if let reply = records.answer(inquiry, number, at: now) { give(reply, to: number, into: &actions) }
  }

  /// Answers the questions that need not wait any longer.
  mutating func answerWaiting(at now: BusTime, into actions: inout [Action]) {
    for due in records.dueReplies(at: now) { give(due.reply, to: due.number, into: &actions) }
  }

  private mutating func carryOut(_ wanted: [RecordCopies.Action], at now: BusTime, into actions: inout [Action]) {
    for action in wanted {
      switch action {
      case .fetch(let fetch): send(.fetchRecord(fetch), at: now, into: &actions)
      case .write(let operations, let effect): commits.add(operations, then: effect.map { [.records($0)] } ?? [])
      case .note(let text): actions.append(.note(text))
      }
    }
  }
}
