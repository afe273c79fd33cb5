// Delivery of records to peers: each peer asks for the change after the last one that it has.
extension HubCore {
  /// Announces a durable change to the app, and to every peer by a pong.
  mutating func tell(_ news: RecordNews, _ change: UInt64, in turn: inout Turn) {
    records.makeDurable(change)
    turn.act(.record(news))
    for (connection, session) in sessions.inOrder {
      // The number 0 answers no ping: pings count from 1.
      turn.act(.send(HubFrame(session: session.number, message: pong(0)), to: connection))
    }
  }

  /// A pong with the order of the newest snapshot and the last durable change of the records.
  func pong(_ number: UInt64) -> HubMessage {
    .pong(number, authoritative.order, recordsThrough: records.durableChange)
  }

  /// Answers a peer that asks for the next change.
  mutating func receive(
    _ fetch: RecordFetch, of session: SessionTable.Session, on connection: ConnectionID, in turn: inout Turn
  ) {
    // Each peer has one read in flight; further requests are ignored until it is answered.
    guard !session.isFetching else { return }
    if let common = records.lastCommon(with: fetch.after) {
      // The peer has changes that this store has lost. The pong names the last change in common, which is less than the
      // peer has, so the peer fetches everything again.
      let pong = HubMessage.pong(0, authoritative.order, recordsThrough: common)
      return turn.act(.send(HubFrame(session: session.number, message: pong), to: connection))
    }
    guard let (run, change) = records.next(after: fetch.after) else {
      return turn.act(.send(HubFrame(session: session.number, message: pong(0)), to: connection))
    }
    sessions.beginFetch(on: connection)
    // A peer is told durable records only, so the read waits for the commit.
    if records.kept[run] != nil {
      let reader = RecordAsker.peer(connection, session: session.number, fetch)
      turn.write([], then: [.act(.readRecord(run, from: max(0, fetch.from), reader))])
    } else {
      let removal = RecordChange(number: change, runID: run, version: records.removal(of: run) ?? 1, summary: nil)
      turn.write([], then: [.tellChange(removal, connection, session: session.number)])
    }
  }

  /// Passes on a part of a record that was read.
  mutating func receive(_ reading: RecordReading, for reader: RecordAsker, in turn: inout Turn) {
    switch (reader, reading) {
    case (.inquiry(let number), _): turn.act(.answer(reading.answer, number))
    case (.peer(let connection, let number, let fetch), .found(let stored)):
      // The row on disk may be newer than the last commit that this core knows to be durable. No later pong states less
      // than the peer is told now.
      records.makeDurable(stored.change)
      if let first = records.next(after: fetch.after), first.change < stored.change {
        // The record changed again after it was chosen, and another record has an earlier change. A peer that accepts
        // this one counts as having all changes up to its number, so the choice is made again.
        if let session = sessions.endFetch(on: connection, session: number) {
          receive(fetch, of: session, on: connection, in: &turn)
        }
        return
      }
      let part = stored.part
      let change = RecordChange(
        number: stored.change, runID: part.runID, version: part.version, summary: stored.summary, from: part.from,
        bytes: part.bytes, total: part.total)
      tell(change, connection, session: number, in: &turn)
    case (.peer(let connection, let number, let fetch), .missing):
      guard let session = sessions.endFetch(on: connection, session: number) else { return }
      // If the record was removed meanwhile, the peer is told of the removal.
      let isRemoved = records.next(after: fetch.after).map { records.kept[$0.run] == nil } ?? true
      if isRemoved { receive(fetch, of: session, on: connection, in: &turn) }
    case (.peer(let connection, let number, _), .failed(let reason)):
      _ = sessions.endFetch(on: connection, session: number)
      turn.act(.note("a record cannot be read for a peer: \(reason)"))
    }
  }

  mutating func tell(
    _ change: RecordChange, _ connection: ConnectionID, session: UInt64, in turn: inout Turn
  ) {
    guard sessions.endFetch(on: connection, session: session) != nil else { return }
    turn.act(.send(HubFrame(session: session, message: .recordChange(change)), to: connection))
  }
}
