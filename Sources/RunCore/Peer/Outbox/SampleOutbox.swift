import DequeModule

/// The readings of a peer: a numbered stream to the hub. It decides when a reading is sent and when it is written.
///
/// A reading is sent before it is durable, under a sequence number that was reserved durably. It is written if the hub has
/// not acknowledged it within ``flushInterval``.
struct SampleOutbox: Sendable {
  private var stream: OutboundStream
  /// Readings up to this sequence are written or being written.
  private var flushed: UInt64
  /// When readings that are not acknowledged have to be written; `nil` while there is no new one.
  private(set) var flushAt: BusTime?

  /// The most readings in a frame: half of what the largest frame holds with every field at its longest, so that they
  /// fit the smallest one, too.
  private static let frameRowsMax = 256
  /// Readings younger than this are not written, and may be lost with the process. While the link is up they were sent,
  /// and the hub commits as often.
  private static let flushInterval = BusDuration.seconds(3)

  /// An outbox whose stream holds what the store kept.
  init(_ stream: OutboundStream) {
    self.stream = stream
    flushed = stream.assigned
  }

  /// How many readings the hub has not acknowledged.
  var waitingCount: Int { stream.rows.count { $0.item != nil } }
  /// How many more readings are accepted now.
  var room: Int { max(0, stream.bounds.rowsMax - stream.rows.count) }
  /// Whether no more readings are accepted until the hub acknowledges some.
  var isFull: Bool { stream.isFull }
  /// Up to where the hub has acknowledged the stream.
  var acknowledged: UInt64 { stream.acknowledged }
  /// When readings are sent again; `nil` while none is unacknowledged.
  var retryAt: BusTime? { stream.retryAt }

  /// The report of all readings.
  func reports(for hub: DeviceID?, at now: BusTime) -> [OutboxReport] { stream.reports(for: hub, at: now) }

  /// Adds a reading of a run. It is sent at once, unless no more sequence numbers are reserved: then the next reservation
  /// is made durable first.
  mutating func add(_ sample: Sample, run: RunID?, in turn: inout PeerCore.Turn) {
    if let end = stream.reserve() { turn.write([.enqueue(end)], then: [sendable(through: end.sequence)]) }
    let (since, moment): (BusTime, SampleMoment) =
      switch sample.moment {
      case .at(let time): (time, .at(.zero))
      case .runOffset: (turn.now, sample.moment)
      }
    _ = stream.add(.sample(Sample(moment: moment, value: sample.value), runID: run), since: since, isGoing: true)
    if flushAt == nil { flushAt = turn.now + Self.flushInterval }
  }

  /// Writes the readings that the hub has not acknowledged by now.
  mutating func flush(in turn: inout PeerCore.Turn) {
    flushAt = nil
    let rows = stream.rows(after: max(flushed, stream.acknowledged))
    guard let last = rows.last else { return }
    flushed = last.sequence
    turn.write(rows.map(StoreOperation.enqueue))
  }

  // MARK: The session

  /// Compares the hub's mark with the stream.
  func check(_ mark: StreamMark) -> OutboundStream.HistoryCheck { stream.check(mark) }

  /// Begins a session at the hub's mark, which ``check(_:)`` has found to be good.
  mutating func open(received mark: StreamMark) { stream.open(received: mark) }

  /// Ends the session.
  mutating func close() { stream.close() }

  /// Readings up to this sequence may be sent.
  mutating func makeSendable(through sequence: UInt64, durabilityGeneration: UInt64) {
    stream.makeDurable(through: sequence, durabilityGeneration: durabilityGeneration)
  }

  /// The frames that may be sent now, in order. Their readings count as sent in this session.
  ///
  /// - Parameter waiting: runs whose readings have to wait, because the hub does not know the run and would drop them.
  mutating func nextMessages(
    waiting: Set<RunID>, at now: BusTime, generator: inout SeededGenerator
  ) -> [PeerMessage] {
    let frames = stream.nextFrames(at: now, generator: &generator, rowsMax: Self.frameRowsMax) { item in
      guard case .sample(_, let run?) = item else { return true }
      return !waiting.contains(run)
    }
    return frames.map { frame in
      switch frame {
      case .tombstoneRange(let range):
        .delivery(.tombstones(.samples, from: range.lowerBound, through: range.upperBound))
      case .rows(let rows): .samples(rows.compactMap { Self.transmission(of: $0, at: now) })
      }
    }
  }

  /// The hub has durably processed the readings up to here. That is written if any of them was: most never are, and the
  /// hub states its mark in every welcome.
  mutating func acknowledge(through sequence: UInt64, in turn: inout PeerCore.Turn) {
    let before = stream.acknowledged
    guard stream.acknowledge(through: sequence, at: turn.now, generator: &turn.generator), flushed > before else {
      return
    }
    turn.write([.acknowledge(stream.id, through: stream.acknowledged)], isUrgent: false)
  }

  /// How many readings were sent again since the last call.
  mutating func takeRetransmissions() -> Int64 { stream.takeRetransmissions() }

  /// Begins again at the oldest reading, because no acknowledgement came in time.
  mutating func retry(at now: BusTime, generator: inout SeededGenerator) {
    _ = stream.retry(at: now, generator: &generator)
  }

  /// The hub asks for the stream from a sequence on.
  mutating func goBack(to sequence: UInt64) { stream.goBack(to: sequence) }

  /// The transport's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) { stream.postpone(to: time) }

  /// Moves the readings to another hub, or to the same hub from this peer's new store. Some are not in the store, and some
  /// sequence numbers are reserved, so the stream is written anew.
  mutating func renumber(to hub: StoreID) -> (writes: [StoreOperation], then: PeerCore.Durable) {
    var writes: [StoreOperation] = [.drop(stream.id)]
    stream.renumber(to: OutboundStreamID(receiver: hub, kind: .samples))
    writes += stream.rows.map(StoreOperation.enqueue)
    flushed = stream.assigned
    return (writes, sendable(through: stream.assigned))
  }

  private func sendable(through sequence: UInt64) -> PeerCore.Durable {
    .sendable(stream.id, through: sequence, durabilityGeneration: stream.durabilityGeneration)
  }

  private static func transmission(of row: OutboxRow, at now: BusTime) -> SampleTransmission? {
    guard case .sample(let sample, let runID)? = row.item else { return nil }
    var transmission = SampleTransmission(
      sequence: row.sequence, moment: sample.moment.moved(by: row.since - now), value: sample.value, runID: runID)
    transmission.unknown = sample.unknown
    return transmission
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] { stream.check() }
}
