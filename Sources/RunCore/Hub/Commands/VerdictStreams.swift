import DequeModule

/// The verdicts that the hub owes to the stores of its devices, on one numbered stream for each store. Times are real
/// time, because backlogs and retries do not depend on the speed of a bus.
struct VerdictStreams: Sendable {
  /// The most verdicts that one store may be owed, and the number it may be owed however many others are owed.
  static let (owedMax, owedShare) = (OutboundStream.Bounds.verdicts.rowsMax, 16)
  /// The most verdicts in a frame; with every field at its longest they fit the smallest one.
  private static let frameRowsMax = 128

  private var streams = RetryTable<OutboundStream>()
  /// How many streams have begun in this incarnation.
  private var begun: UInt64 = 0

  /// Streams from their stored rows.
  ///
  /// - Parameter shift: how far to move times, after a reboot.
  init(_ history: DeliveryHistory, shift: BusDuration?) {
    let rows = Dictionary(grouping: history.rows, by: \.stream)
    for id in Set(rows.keys).union(history.acknowledged.keys) where id.kind == .verdicts {
      var stream = OutboundStream(
        id, bounds: .verdicts, rows: rows[id] ?? [], acknowledged: history.acknowledged[id] ?? 0)
      if let shift { stream.shift(by: shift) }
      streams[id.receiver] = stream
    }
  }

  /// How many streams there are.
  var count: Int { streams.all.count }
  /// The stores that have a stream.
  var stores: some Sequence<StoreID> { streams.all.keys }
  /// Whether every verdict was acknowledged.
  var isAcknowledged: Bool { streams.all.values.allSatisfy(\.isAcknowledged) }
  /// Whether a store has a stream.
  func hasStream(_ store: StoreID) -> Bool { streams[store] != nil }
  /// How many rows a store's stream has.
  func rowCount(of store: StoreID) -> Int { streams[store]?.rows.count ?? 0 }
  /// How many verdicts wait for a store.
  func waitingCount(of store: StoreID) -> Int { streams[store]?.rows.count { $0.item != nil } ?? 0 }

  /// How many rows all streams have.
  var rowCount: Int {
    var count = 0
    // By index: iterating over the values would copy each stream, which is large.
    for index in streams.all.values.indices { count += streams.all.values[index].rows.count }
    return count
  }

  /// The moments of the next retries.
  var deadlines: [StoreID: BusTime] { streams.deadlines }
  /// The stores with a retry that is due, in order.
  func due(at now: BusTime) -> [StoreID] { streams.due(at: now) }

  /// Compares the mark that a store states with its stream.
  func check(_ mark: StreamMark, of store: StoreID) -> OutboundStream.HistoryCheck {
    guard let stream = streams[store] else { return mark.sequence > 0 ? .senderLost : .good }
    return stream.check(mark)
  }

  /// The rows that wait, for a report.
  ///
  /// - Parameter device: the device of a store.
  func reports(at now: BusTime, device: (StoreID) -> DeviceID?) -> [OutboxReport] {
    streams.all.flatMap { store, stream in stream.reports(for: device(store), at: now) }
  }

  // MARK: Owing and sending

  /// A verdict that a store is owed: the row to write with the commit that makes the verdict, and what makes it sendable
  /// after that.
  struct Debt: Sendable {
    let row: OutboxRow
    let durabilityGeneration: UInt64
  }

  /// Owes a verdict to a store.
  mutating func owe(_ verdict: Verdict, to store: StoreID, at now: BusTime) -> Debt {
    if streams[store] == nil {
      begun += 1
      // The generation differs from that of every earlier stream, because a store that was given up can come back while
      // a write of its old stream is in flight.
      streams[store] = OutboundStream(
        OutboundStreamID(receiver: store, kind: .verdicts), bounds: .verdicts, durabilityGeneration: begun << 32)
    }
    let row = streams[store]!.add(.verdict(verdict), since: now, isGoing: true)
    return Debt(row: row, durabilityGeneration: streams[store]!.durabilityGeneration)
  }

  /// Notes that rows are durable, so that they may be sent.
  mutating func makeDurable(_ store: StoreID, through sequence: UInt64, durabilityGeneration: UInt64) {
    streams[store]?.makeDurable(through: sequence, durabilityGeneration: durabilityGeneration)
  }

  /// What goes to a store in one frame.
  enum Frame: Sendable {
    case tombstones(ClosedRange<UInt64>)
    case verdicts([(sequence: UInt64, verdict: Verdict)])
  }

  /// The frames that may be sent to a store now, in order, the ids of the commands whose verdicts end a batch, and how
  /// many verdicts among them were sent before.
  mutating func take(for store: StoreID, at now: BusTime, generator: inout SeededGenerator) -> (
    frames: [Frame], last: [MessageID], retransmissions: Int64
  ) {
    var frames: [Frame] = []
    var last: [MessageID] = []
    for batch in streams[store]?.nextBatches(at: now, generator: &generator) ?? [] {
      switch batch {
      case .tombstoneRange(let range): frames.append(.tombstones(range))
      case .rows(let rows):
        for case .rows(let rows) in batch.frames(rowsMax: Self.frameRowsMax) {
          frames.append(
            .verdicts(
              rows.compactMap { row in
                guard case .verdict(let verdict)? = row.item else { return nil }
                return (row.sequence, verdict)
              }))
        }
        if let id = rows.last?.item?.id { last.append(id) }
      }
    }
    return (frames, last, frames.isEmpty ? 0 : streams[store]?.takeRetransmissions() ?? 0)
  }

  // MARK: The session

  /// Begins a session of a store with the mark that it states; `false` if the store has no stream or another history.
  mutating func open(_ store: StoreID, received mark: StreamMark) -> Bool {
    guard streams[store]?.check(mark) == .good else { return false }
    streams[store]?.open(received: mark)
    return true
  }

  /// Ends the session of a store.
  mutating func close(_ store: StoreID) { streams[store]?.close() }

  /// Notes that a store has durably processed its verdicts up to a number.
  ///
  /// - Returns: the write for that; `nil` if it is no news.
  mutating func acknowledge(
    _ store: StoreID, through sequence: UInt64, at now: BusTime, generator: inout SeededGenerator
  ) -> StoreOperation? {
    guard let isNews = streams[store]?.acknowledge(through: sequence, at: now, generator: &generator), isNews,
      let place = streams.all.index(forKey: store)
    else { return nil }
    return .acknowledge(streams.all.values[place].id, through: streams.all.values[place].acknowledged)
  }

  /// Sends again from a number on, because the store asks for that.
  mutating func goBack(_ store: StoreID, to sequence: UInt64) { streams[store]?.goBack(to: sequence) }

  /// Sends again from the oldest verdict on, because no acknowledgement came in time.
  ///
  /// - Returns: the write that counts the tries; `nil` if none was in flight.
  mutating func retry(_ store: StoreID, at now: BusTime, generator: inout SeededGenerator) -> StoreOperation? {
    guard let range = streams[store]?.retry(at: now, generator: &generator),
      let counted = streams[store]?.count(range)
    else { return nil }
    let id = OutboundStreamID(receiver: store, kind: .verdicts)
    return .countTries(id, from: counted.lowerBound, through: counted.upperBound)
  }

  /// Schedules an early retry, because the queue to the store's connection was full.
  mutating func postpone(_ store: StoreID, to time: BusTime) { streams[store]?.postpone(to: time) }

  /// Drops what a store is owed.
  ///
  /// - Returns: the write for that.
  mutating func drop(_ store: StoreID) -> StoreOperation {
    streams[store] = nil
    return .drop(OutboundStreamID(receiver: store, kind: .verdicts))
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] { streams.all.indices.flatMap { streams.all.values[$0].check() } + streams.check() }
}
