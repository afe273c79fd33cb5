import DequeModule

/// The sending end of a numbered stream: rows for one receiver, sent in order until they are acknowledged (go-back-N).
///
///     assigned ≥ durable ≥ sent ≥ acknowledged
///
/// The stream sends a row when it is durable here and at most ``Bounds/flightMax`` rows are unacknowledged. Without an
/// acknowledgement it sends again from the oldest row on, first after ``Bounds/patience``, then after 4, 8, 16, 30
/// seconds or ``Bounds/patience`` if that is longer.
struct OutboundStream: Retrying {
  /// How much a stream holds, and how much of it may be sent and unacknowledged.
  struct Bounds: Sendable {
    let rowsMax: Int
    let bytesMax: Int
    let flightMax: Int
    let flightBytesMax: Int
    /// How long the stream waits for an acknowledgement before it first sends again, in real time.
    let patience: BusDuration

    /// More presses than a person makes while a hub is away.
    static let commands = Bounds(
      rowsMax: 1024, bytesMax: .max, flightMax: 64, flightBytesMax: .max, patience: .seconds(2))
    /// As many as a sender can have commands without a verdict.
    static let verdicts = Bounds(
      rowsMax: 1024, bytesMax: .max, flightMax: 256, flightBytesMax: .max, patience: .seconds(2))
    /// Ten hours of one reading a second. The hub commits, and then acknowledges, at the latest every 4,096 samples; a
    /// larger flight keeps the sender from waiting for that.
    static let samples = Bounds(
      rowsMax: 36_000, bytesMax: .max, flightMax: 8192, flightBytesMax: .max, patience: .seconds(10))
    /// Room for a backlog of 10,000 messages. The flight fits the queues of the sockets.
    static let messages = Bounds(
      rowsMax: 16_384, bytesMax: 64 << 20, flightMax: 4096, flightBytesMax: 2 << 20, patience: .seconds(2))
  }

  /// What the comparison of the receiver's mark with this stream shows.
  enum HistoryCheck: Hashable, Sendable {
    /// Both sides have the same history.
    case good
    /// The receiver has lost history: it has less than it once acknowledged.
    case receiverLost
    /// This store has lost history: the receiver has more than was assigned here, or another item at that position.
    case senderLost
  }

  private(set) var id: OutboundStreamID
  private(set) var rows: Deque<OutboxRow> = []
  private(set) var assigned: UInt64 = 0
  private(set) var acknowledged: UInt64 = 0
  /// Rows up to here may be sent.
  private(set) var durable: UInt64 = 0
  /// Grows whenever writes under way stop counting: their completion must not make any row sendable.
  private(set) var durabilityGeneration: UInt64 = 0
  /// Numbers below this one are reserved (``reserve()``).
  private var reserved: UInt64 = 0
  /// Rows up to here were sent in this session.
  private(set) var sent: UInt64 = 0
  /// Rows up to here were sent in this life of the node, in whatever session.
  private var reached: UInt64 = 0
  /// How many items were sent again since ``takeRetransmissions()``.
  private var retransmissions: Int64 = 0
  /// When it sends again what is not acknowledged; `nil` when nothing is in flight.
  private(set) var retryAt: BusTime?
  var deadline: BusTime? { retryAt }
  private(set) var bytes = 0
  let bounds: Bounds
  private var attempts = 0
  /// The stream sends nothing before this moment, because the receiver's handler has just failed for the first row.
  private var heldUntil: BusTime?
  /// The size of what is sent and not acknowledged.
  private var flightBytes = 0
  private var flightRows = 0

  /// - Parameter durabilityGeneration: a number that no write for an earlier stream of this id has.
  init(_ id: OutboundStreamID, bounds: Bounds, durabilityGeneration: UInt64 = 0) {
    self.id = id
    self.bounds = bounds
    self.durabilityGeneration = durabilityGeneration
  }

  /// A stream from its stored rows.
  init(_ id: OutboundStreamID, bounds: Bounds, rows: [OutboxRow], acknowledged: UInt64) {
    self.init(id, bounds: bounds)
    self.rows = Deque(rows)
    self.acknowledged = acknowledged
    assigned = max(acknowledged, rows.last?.sequence ?? 0)
    durable = assigned
    sent = acknowledged
    bytes = rows.reduce(0) { $0 + ($1.item?.size ?? 0) }
  }

  var isFull: Bool { rows.count >= bounds.rowsMax || bytes >= bounds.bytesMax }
  /// Whether rows wait for ``makeDurable(through:durabilityGeneration:)``.
  var isHeld: Bool { durable < assigned }
  /// Whether every row was acknowledged.
  var isAcknowledged: Bool { acknowledged >= assigned }

  /// The index of the row with a sequence number; `nil` when there is none.
  func index(of sequence: UInt64) -> Int? {
    guard sequence > 0, let index = firstIndex(after: sequence - 1), rows[index].sequence == sequence else {
      return nil
    }
    return index
  }

  // MARK: Rows

  /// Appends a row with the next sequence number. With `isGoing` the stream may send it as soon as it is durable, so it
  /// counts the first try now, and the try is stored with the row.
  mutating func add(_ item: OutboxItem, since: BusTime, isUncertain: Bool = false, isGoing: Bool) -> OutboxRow {
    assigned += 1
    let row = OutboxRow(
      stream: id, sequence: assigned, item: item, since: since, isUncertain: isUncertain, tries: isGoing ? 1 : 0)
    rows.append(row)
    bytes += item.size
    return row
  }

  /// Reserves sequence numbers for rows that may be sent before they are durable, so that a later incarnation never
  /// assigns these numbers to other rows.
  ///
  /// - Returns: a tombstone with the last reserved number, which must be durable before any of the rows is sent; `nil`
  ///   while enough numbers are reserved.
  mutating func reserve() -> OutboxRow? {
    guard assigned + 1 >= reserved else { return nil }
    // The tombstone's own number is skipped.
    if reserved > 0 { assigned = max(assigned, reserved) }
    reserved = assigned + Self.reservation
    return OutboxRow(stream: id, sequence: reserved, item: nil, since: .zero)
  }

  /// Enough for one write in 17 minutes at four readings a second.
  private static let reservation: UInt64 = 4096

  /// A write of the given generation has made the rows up to a number durable.
  mutating func makeDurable(through sequence: UInt64, durabilityGeneration: UInt64) {
    if durabilityGeneration == self.durabilityGeneration { durable = max(durable, sequence) }
  }

  /// Turns a row into a tombstone, because its item was cancelled, has expired, or was put in quarantine.
  mutating func tombstone(_ sequence: UInt64) {
    guard let index = index(of: sequence) else { return }
    bytes -= rows[index].item?.size ?? 0
    rows[index].item = nil
  }

  /// Removes a row that is no longer needed, at any position.
  mutating func remove(_ sequence: UInt64) {
    guard let index = index(of: sequence) else { return }
    bytes -= rows[index].item?.size ?? 0
    rows.remove(at: index)
  }

  /// Moves all rows to another stream and numbers them from 1. None is sent before that is durable. Their tries stay,
  /// because the old stream may have sent them.
  mutating func renumber(to id: OutboundStreamID) {
    self.id = id
    for index in rows.indices {
      rows[index].stream = id
      rows[index].sequence = UInt64(index) + 1
    }
    assigned = UInt64(rows.count)
    (durable, durabilityGeneration) = (0, durabilityGeneration + 1)
    reserved = 0
    (acknowledged, reached) = (0, 0)
    close()
  }

  // MARK: The session

  /// Compares the receiver's mark with this stream. It changes nothing.
  func check(_ mark: StreamMark) -> HistoryCheck {
    if mark.sequence < acknowledged { return .receiverLost }
    if mark.sequence > assigned { return .senderLost }
    if let id = mark.id, let own = lastItem(upTo: mark.sequence)?.id, own != id { return .senderLost }
    return .good
  }

  /// Begins a session: continues after the receiver's mark, which ``check(_:)`` has found to be good.
  mutating func open(received mark: StreamMark) {
    close()
    sent = min(max(acknowledged, mark.sequence), assigned)
  }

  /// The last item that a receiver with everything up to here was sent; `nil` when unknown. The search passes over
  /// tombstones of items that were never sent. It stops at others, because the receiver may have got their items.
  private func lastItem(upTo sequence: UInt64) -> OutboxItem? {
    guard var index = index(of: sequence) else { return nil }
    while rows[index].item == nil {
      guard rows[index].tries == 0, index > 0, rows[index - 1].sequence + 1 == rows[index].sequence else { return nil }
      index -= 1
    }
    return rows[index].item
  }

  /// Stops sending until ``makeDurable(through:durabilityGeneration:)`` reports a write that begins after this call.
  mutating func blockUntilDurable() { (durable, durabilityGeneration) = (sent, durabilityGeneration + 1) }

  /// Ends the session. The next one sends everything again that is not acknowledged.
  mutating func close() {
    sent = acknowledged
    (flightBytes, flightRows) = (0, 0)
    retryAt = nil
    heldUntil = nil
    attempts = 0
  }

  /// A part of what is to be sent now.
  enum Batch: Hashable, Sendable {
    /// Consecutive rows without a tombstone.
    case rows([OutboxRow])
    /// Consecutive sequence numbers without an item.
    case tombstoneRange(ClosedRange<UInt64>)
  }

  /// The batches that may be sent now, in order. Their rows count as sent from now on.
  ///
  /// - Parameter isReady: whether an item may be sent; the batches end before the first that may not.
  mutating func nextBatches(
    at now: BusTime, generator: inout SeededGenerator, while isReady: (OutboxItem) -> Bool = { _ in true }
  ) -> [Batch] {
    if let heldUntil, now < heldUntil { return [] }
    guard sent < durable, var index = firstIndex(after: sent) else { return [] }
    let flightEnd = index + max(0, bounds.flightMax - flightRows)
    var flight: [Batch] = []
    var run: [OutboxRow] = []
    while index < min(rows.count, flightEnd), rows[index].sequence <= durable {
      let row = rows[index]
      if let item = row.item, !isReady(item) { break }
      if flightBytes > 0, flightBytes + (row.item?.size ?? 0) > bounds.flightBytesMax { break }
      // Tombstones, and numbers that no row has, form a tombstone range.
      let end = row.item == nil ? row.sequence : row.sequence - 1
      if end > sent {
        if run.isEmpty, case .tombstoneRange(let range)? = flight.last {
          flight[flight.count - 1] = .tombstoneRange(range.lowerBound...end)
        } else {
          if !run.isEmpty { flight.append(.rows(run)) }
          run = []
          flight.append(.tombstoneRange(sent + 1...end))
        }
      }
      if let item = row.item {
        run.append(row)
        flightBytes += item.size
        if row.sequence <= reached { retransmissions += 1 }
      }
      flightRows += 1
      sent = row.sequence
      reached = max(reached, sent)
      index += 1
    }
    if !run.isEmpty { flight.append(.rows(run)) }
    if !flight.isEmpty, retryAt == nil { retryAt = now + generator.jittered(bounds.patience) }
    return flight
  }

  /// How many items were sent again since the last call. Tombstones do not count.
  mutating func takeRetransmissions() -> Int64 {
    defer { retransmissions = 0 }
    return retransmissions
  }

  /// The rows after a sequence number.
  func rows(after sequence: UInt64) -> Deque<OutboxRow>.SubSequence {
    rows[(firstIndex(after: sequence) ?? rows.count)...]
  }

  private func firstIndex(after sequence: UInt64) -> Int? {
    var low = 0
    var high = rows.count
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
    }
    return low < rows.count ? low : nil
  }

  /// The receiver has durably processed everything up to here.
  ///
  /// - Parameter keepingRows: `true` to keep the acknowledged rows, which the caller removes one by one.
  /// - Returns: whether that is news.
  mutating func acknowledge(
    through sequence: UInt64, keepingRows: Bool = false, at now: BusTime, generator: inout SeededGenerator
  )
    -> Bool
  {
    let sequence = min(sequence, assigned)
    guard sequence > acknowledged else { return false }
    if keepingRows {
      let before = firstIndex(after: acknowledged) ?? rows.count
      flightRows = max(0, flightRows - ((firstIndex(after: sequence) ?? rows.count) - before))
    } else {
      while let first = rows.first, first.sequence <= sequence {
        let size = first.item?.size ?? 0
        bytes -= size
        (flightBytes, flightRows) = (max(0, flightBytes - size), max(0, flightRows - 1))
        rows.removeFirst()
      }
    }
    acknowledged = sequence
    sent = max(sent, sequence)
    attempts = 0
    if let heldUntil, now < heldUntil {
      // The first row has failed and waits until then. No other deadline would wake the node for it.
      retryAt = heldUntil
    } else {
      retryAt = sent > acknowledged ? now + generator.jittered(bounds.patience) : nil
    }
    return true
  }

  /// Sends again from a sequence number on, at once or at `retryAt`.
  mutating func goBack(to sequence: UInt64, retryAt: BusTime? = nil) {
    let place = max(sequence, 1) - 1
    guard place < sent, place >= acknowledged else { return }
    sent = max(acknowledged, place)
    // Rows before it that are not acknowledged are still in flight.
    let flight = rows(after: acknowledged).prefix { $0.sequence <= sent }
    (flightBytes, flightRows) = (flight.reduce(0) { $0 + ($1.item?.size ?? 0) }, flight.count)
    self.retryAt = retryAt
    heldUntil = retryAt
  }

  /// No acknowledgement arrived in time: sends again from the oldest row on.
  ///
  /// - Returns: the rows that are sent again; `nil` when none was in flight.
  mutating func retry(at now: BusTime, generator: inout SeededGenerator) -> ClosedRange<UInt64>? {
    let last = sent
    heldUntil = nil
    sent = acknowledged
    (flightBytes, flightRows) = (0, 0)
    guard acknowledged < durable else {
      retryAt = nil
      return nil
    }
    attempts += 1
    let wait = max(bounds.patience, .seconds(min(30, Int64(2) << Int64(min(attempts, 4)))))
    retryAt = now + generator.jittered(wait)
    return last > acknowledged ? acknowledged + 1...last : nil
  }

  /// The transport's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) {
    guard sent > acknowledged else { return }
    retryAt = time
  }

  // MARK: Tries

  /// Counts the first try of all rows that were never sent, because the new session may send them.
  ///
  /// - Returns: their range, which must be made durable before they are sent; `nil` when there are none.
  mutating func countFirstTries() -> ClosedRange<UInt64>? {
    let fresh = rows.lazy.filter { $0.tries == 0 }
    guard let first = fresh.first?.sequence, let last = fresh.last?.sequence else { return nil }
    return count(first...last)
  }

  /// Counts one more try for the rows of a range.
  mutating func count(_ range: ClosedRange<UInt64>) -> ClosedRange<UInt64> {
    for index in rows.indices where range.contains(rows[index].sequence) { rows[index].tries += 1 }
    return range
  }

  /// Moves every `since` to a clock with another origin (after a reboot), and marks it as uncertain.
  mutating func shift(by span: BusDuration) {
    for index in rows.indices {
      rows[index].since = rows[index].since + span
      rows[index].isUncertain = true
    }
  }

  /// What is wrong with the stream by its own rules; empty in a good one. Long streams are looked at in part.
  func check() -> [String] {
    var wrong: [String] = []
    if !(acknowledged <= sent && sent <= assigned && durable <= max(assigned, reserved)) {
      wrong.append("\(id): assigned \(assigned), durable \(durable), sent \(sent), acknowledged \(acknowledged)")
    }
    if let last = rows.last, last.sequence > assigned { wrong.append("\(id): row \(last.sequence) of \(assigned)") }
    if bytes < 0 || flightBytes < 0 || flightRows < 0 || flightRows > rows.count {
      wrong.append("\(id): \(bytes) bytes, \(flightBytes) of them and \(flightRows) rows in flight")
    }
    guard rows.count <= Self.checkedMax else { return wrong }
    if zip(rows, rows.dropFirst()).contains(where: { $0.sequence >= $1.sequence }) {
      wrong.append("\(id): its rows are not in order")
    }
    if rows.reduce(0, { $0 + ($1.item?.size ?? 0) }) != bytes { wrong.append("\(id): its bytes are miscounted") }
    return wrong
  }

  private static let checkedMax = 64
}
