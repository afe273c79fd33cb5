// Records on their way to the peers: each peer asks for the changes behind the last one that it has.
extension HubCore {
  /// A change is durable: the app hears of it, and every peer that there is something to ask for.
  mutating func tell(_ news: RecordNews, _ change: UInt64, into actions: inout [Action]) {
    records.makeDurable(change)
    actions.append(.record(news))
    for (connection, session) in sessions.sessions.sorted(by: { $0.value.number < $1.value.number })
    where !session.hello.isOneShot {
      // Nobody has asked: pings count from 1.
      actions.append(.send(HubFrame(session: session.number, message: pong(0)), to: connection))
    }
  }

  /// What is new here, as the answer to a ping.
  func pong(_ number: UInt64) -> HubMessage {
    .pong(number, authoritative.order, recordsThrough: records.durableChange)
  }

  /// A peer asks for the next change.
  mutating func receive(
    _ fetch: RecordFetch, of session: SessionTable.Session, on connection: ConnectionID, into actions: inout [Action]
  ) {
    // One read at a time for each: who asks again waits for the answer to the first.
    guard !session.hello.isOneShot, !session.isFetching else { return }
    if let common = records.lastCommon(with: fetch.after) {
      // It has taken in what this store has lost: it looks at everything again.
      let pong = HubMessage.pong(0, authoritative.order, recordsThrough: common)
      return actions.append(.send(HubFrame(session: session.number, message: pong), to: connection))
    }
    guard let (run, change) = records.next(after: fetch.after) else {
      return actions.append(.send(HubFrame(session: session.number, message: pong(0)), to: connection))
    }
    sessions[connection]?.isFetching = true
    // What is told of a record is durable.
    if records.kept[run] != nil {
      let reader = RecordAsker.peer(connection, session: session.number, fetch)
      commits.add([], then: [.act(.readRecord(run, from: max(0, fetch.from), reader))])
    } else {
      let removal = RecordChange(number: change, runID: run, version: records.removed[run] ?? 1, summary: nil)
      commits.add([], then: [.tellChange(removal, connection, session: session.number)])
    }
  }

  /// A part of a record was read.
  mutating func receive(_ reading: RecordReading, for reader: RecordAsker, into actions: inout [Action]) {
    switch (reader, reading) {
    case (.inquiry(let number), _): actions.append(.answer(reading.answer, number))
    case (.peer(let connection, let number, let fetch), .found(let stored)):
      // It was read from the disk, perhaps before this core hears that it is there: no pong says less than was told.
      records.makeDurable(stored.change)
      if let first = records.next(after: fetch.after), first.change < stored.change {
        // It has changed again since it was chosen, and another record before it: whoever takes this one takes in all
        // changes up to its number.
        guard sessions[connection]?.number == number else { return }
        sessions[connection]?.isFetching = false
        if let session = sessions[connection] { receive(fetch, of: session, on: connection, into: &actions) }
        return
      }
      let part = stored.part
      let change = RecordChange(
        number: stored.change, runID: part.runID, version: part.version, summary: stored.summary, from: part.from,
        bytes: part.bytes, total: part.total)
      tell(change, connection, session: number, into: &actions)
    case (.peer(let connection, let number, let fetch), .missing):
      guard sessions[connection]?.number == number else { return }
      sessions[connection]?.isFetching = false
      // It was removed meanwhile: that is the change to tell.
      let isRemoved = records.next(after: fetch.after).map { records.kept[$0.run] == nil } ?? true
      if isRemoved, let session = sessions[connection] { receive(fetch, of: session, on: connection, into: &actions) }
    case (.peer(let connection, let number, _), .failed(let reason)):
      if sessions[connection]?.number == number { sessions[connection]?.isFetching = false }
      actions.append(.note("a record cannot be read for a peer: \(reason)"))
    }
  }

  mutating func tell(
    _ change: RecordChange, _ connection: ConnectionID, session: UInt64, into actions: inout [Action]
  ) {
    guard sessions[connection]?.number == session else { return }
    sessions[connection]?.isFetching = false
    actions.append(.send(HubFrame(session: session, message: .recordChange(change)), to: connection))
  }
}
