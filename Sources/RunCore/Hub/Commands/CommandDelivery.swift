// The streams that bring commands and carry verdicts back, and who waits for a verdict.
extension HubCommands {
  /// A new mark of a stream, with its write and what follows that.
  struct Mark {
    let stream: StreamID
    let place: StreamMark
    var operation: StoreOperation { .setWatermark(stream, place) }
    var then: [Durable] { [.processed(stream, place), .acknowledge(stream)] }
  }

  /// Moves the mark of a stream.
  mutating func move(_ stream: StreamID, to place: StreamMark) -> Mark {
    _ = marks.receive(place, in: stream)
    return Mark(stream: stream, place: place)
  }

  /// Passes over a command of a kind that this version does not know, and answers it. The mark moves over it, because
  /// otherwise every later command of the sender would be a gap.
  mutating func pass(over sequence: UInt64, of hello: Hello, then answer: Durable, in turn: inout Turn) {
    let stream = StreamID(sender: hello.storeID, kind: .commands)
    switch marks.position(of: sequence, in: stream) {
    case .next:
      let mark = move(stream, to: StreamMark(sequence: sequence))
      turn.write([mark.operation], then: mark.then + [answer])
    case .known: turn.write([], then: [answer])
    case .gap: turn.act(.note("\(hello.deviceID) skipped commands: it sends them again"))
    }
  }

  /// Moves the mark of a stream over tombstones. What was held of the stream is judged without its stop.
  mutating func skip(_ stream: StreamID, from: UInt64, through: UInt64, in turn: inout Turn) -> Bool {
    switch marks.skip(stream, from: from, through: through) {
    case .moved(let mark):
      let fallen = abandon(stream)
      turn.write([.setWatermark(stream, mark)] + fallen, then: [.processed(stream, mark), .acknowledge(stream)])
      return true
    case .known: marks.acknowledge(stream)
    case .gap: break
    }
    return false
  }

  /// How far a store's commands are durably received.
  func mark(of store: StoreID) -> StreamMark { marks.durableMark(of: StreamID(sender: store, kind: .commands)) }
  /// Whether more of a store's commands was received than is durable.
  func isBehind(_ store: StoreID) -> Bool { marks.isBehind(StreamID(sender: store, kind: .commands)) }
  /// Whether a store has sent commands.
  func hasBegun(_ store: StoreID) -> Bool { marks.hasBegun(StreamID(sender: store, kind: .commands)) }
  /// How many streams of commands have a mark.
  var markCount: Int { marks.count }

  /// A mark is durable.
  mutating func makeDurable(_ mark: StreamMark, of stream: StreamID) { marks.makeDurable(mark, of: stream) }
  /// The sender of a stream is due an acknowledgement.
  mutating func acknowledge(_ stream: StreamID) { marks.acknowledge(stream) }
  /// Removes and returns the acknowledgements that are due.
  mutating func takeAcknowledgements() -> [(stream: StreamID, sequence: UInt64)] { marks.takeAcknowledgements() }

  /// Forgets how far the commands of a store were received, and returns the write for that.
  mutating func forgetMark(of store: StoreID) -> StoreOperation? {
    let stream = StreamID(sender: store, kind: .commands)
    book.forget(stream)
    return marks.forget(stream) ? .forgetStream(stream) : nil
  }

  // MARK: Who waits for a verdict

  /// Handles a known command that arrived on another stream. It does not count again, and its verdict is owed to that
  /// stream's sender as well. The claims of other stores stay.
  mutating func claim(_ id: CommandID, by store: StoreID, sequence: UInt64, in turn: inout Turn) {
    let mark = move(StreamID(sender: store, kind: .commands), to: StreamMark(sequence: sequence, id: id.message))
    var operations = [mark.operation]
    var then = mark.then
    switch book.claim(id, by: store) {
    case .judged(let verdict): owe(verdict, to: store, &operations, &then, at: turn.now)
    case .added: operations.append(.claim(id, store))
    case .known: break
    }
    turn.write(operations, then: then)
  }

  /// Whether a store has sent the same command as well. The rest of a run can arrive from it.
  func isClaimed(_ id: CommandID, by store: StoreID) -> Bool { book.isClaimed(id, by: store) }

  /// A connection waits for the verdict of a command.
  mutating func register(_ connection: ConnectionID, for id: CommandID) { book.register(connection, for: id) }
  /// The connections that wait for a verdict, in the order in which they asked.
  func connections(awaiting id: CommandID) -> [ConnectionID] { book.connections(awaiting: id) }
  /// Removes and returns the connections that wait for a verdict.
  mutating func takeConnections(awaiting id: CommandID) -> [ConnectionID] { book.takeConnections(awaiting: id) }
  /// A command is in this machine's spool.
  mutating func noteSpooled(_ id: CommandID) { book.noteSpooled(id) }
  /// Forgets that a command is in the spool; `false` if it was not.
  mutating func takeSpooled(_ id: CommandID) -> Bool { book.takeSpooled(id) }

  // MARK: Verdicts

  /// Owes a verdict to a store: the commit that makes the verdict also stores its row.
  mutating func owe(
    _ verdict: Verdict, to store: StoreID, _ operations: inout [StoreOperation], _ then: inout [Durable],
    at now: BusTime
  ) {
    let debt = verdicts.owe(verdict, to: store, at: rules.clock.real(at: now))
    operations.append(.enqueue(debt.row))
    then.append(
      .sendable(debt.row.stream, through: debt.row.sequence, durabilityGeneration: debt.durabilityGeneration))
  }

  /// Verdicts of a store are durable, and may be sent.
  mutating func makeSendable(_ store: StoreID, through sequence: UInt64, durabilityGeneration: UInt64) {
    verdicts.makeDurable(store, through: sequence, durabilityGeneration: durabilityGeneration)
  }

  /// Sends a store the verdicts that may go now.
  mutating func sendVerdicts(to store: StoreID, over link: HubCore.Action.Link, in turn: inout Turn) {
    let (frames, last, retransmissions) = verdicts.take(
      for: store, at: turn.monotonic, generator: &turn.generator)
    turn.tally.retransmissions += retransmissions
    for id in last { marks.noteVerdict(of: id, in: StreamID(sender: store, kind: .commands)) }
    for frame in frames {
      let message: DeliveryMessage
      switch frame {
      case .tombstones(let range):
        message = .tombstones(.verdicts, from: range.lowerBound, through: range.upperBound)
      case .verdicts(let verdicts):
        message = .verdicts(
          verdicts.map { VerdictTransmission(sequence: $0.sequence, receipt: Receipt($0.verdict, at: turn.now)) })
      }
      turn.act(.deliver(message, over: link, at: turn.now))
    }
  }

  /// Begins a session of a store with the mark that it states; `false` if the store has no stream or another history.
  mutating func openVerdicts(to store: StoreID, received mark: StreamMark) -> Bool {
    verdicts.open(store, received: mark)
  }
  /// Ends the session of a store.
  mutating func closeVerdicts(to store: StoreID) { verdicts.close(store) }
  /// The moments of the next retries of verdicts, real time.
  var retries: [StoreID: BusTime] { verdicts.deadlines }
  /// Schedules an early retry.
  mutating func postpone(_ store: StoreID, to time: BusTime) { verdicts.postpone(store, to: time) }
  /// Sends again from a number on, because the store asks for that.
  mutating func goBack(_ store: StoreID, to sequence: UInt64) { verdicts.goBack(store, to: sequence) }
  /// Compares the mark that a store states with its stream of verdicts.
  func check(_ mark: StreamMark, of store: StoreID) -> OutboundStream.HistoryCheck { verdicts.check(mark, of: store) }
  /// Whether a store has a stream of verdicts.
  func hasVerdicts(for store: StoreID) -> Bool { verdicts.hasStream(store) }
  /// How many verdicts wait for a store.
  func waitingCount(of store: StoreID) -> Int { verdicts.waitingCount(of: store) }
  /// Drops what a store is owed, and returns the write for that.
  mutating func dropVerdicts(of store: StoreID) -> StoreOperation { verdicts.drop(store) }
  /// Whether every verdict was acknowledged.
  var isAcknowledged: Bool { verdicts.isAcknowledged }
  /// The stores that have a stream of verdicts.
  var verdictStores: [StoreID] { Array(verdicts.stores) }

  /// The verdicts that wait, for a report.
  func reports(at now: BusTime, device: (StoreID) -> DeviceID?) -> [OutboxReport] {
    verdicts.reports(at: now, device: device)
  }

  /// Notes that a store has durably processed its verdicts up to a number.
  mutating func acknowledgeVerdicts(of store: StoreID, through sequence: UInt64, in turn: inout Turn) {
    let write = verdicts.acknowledge(store, through: sequence, at: turn.monotonic, generator: &turn.generator)
    if let write { turn.write([write], isUrgent: false) }
  }

  /// Sends again from the oldest verdict on to the stores that have not acknowledged it in time; returns these stores.
  mutating func retry(in turn: inout Turn) -> [StoreID] {
    let due = verdicts.due(at: turn.monotonic)
    for store in due {
      if let count = verdicts.retry(store, at: turn.monotonic, generator: &turn.generator) {
        turn.write([count], isUrgent: false)
      }
    }
    return due
  }
}
