import DequeModule

/// One numbered stream at its sender: what is owed to one receiver, in order, until it is acknowledged (go-back-N).
///
///     assigned ≥ durable ≥ sent ≥ acknowledged
///
/// A row can go once it is durable here, at most ``Bounds/flightMax`` ahead of the acknowledgement; what is not
/// acknowledged in time goes again from the oldest on, after 2, 4, 8 … 30 seconds.
struct OutboundStream: Sendable {
  /// How much a stream holds, and how much of it is under way.
  struct Bounds: Sendable {
    let rowsMax: Int
    let bytesMax: Int
    let flightMax: Int
    let flightBytesMax: Int
    /// How long an acknowledgement may take before the first try again.
    let patience: BusDuration

    /// A person does not press that often while a hub is away.
    static let commands = Bounds(
      rowsMax: 1024, bytesMax: .max, flightMax: 64, flightBytesMax: .max, patience: .seconds(2))
    /// As many as a sender can have unjudged commands.
    static let verdicts = Bounds(
      rowsMax: 1024, bytesMax: .max, flightMax: 256, flightBytesMax: .max, patience: .seconds(2))
    /// Ten hours of a reading a second. The hub commits at 4,096, so the flight is longer than that.
    static let samples = Bounds(
      rowsMax: 36_000, bytesMax: .max, flightMax: 8192, flightBytesMax: .max, patience: .seconds(10))
    /// A backlog of 10,000 fits; the flight fits what sockets hold.
    static let messages = Bounds(
      rowsMax: 16_384, bytesMax: 64 << 20, flightMax: 4096, flightBytesMax: 2 << 20, patience: .seconds(2))
  }

  /// What the receiver's mark says about the two sides.
  enum HistoryCheck: Hashable, Sendable {
    /// They have one history.
    case good
    /// The receiver has less than it once acknowledged.
    case receiverLost
    /// The receiver has more than was ever assigned here, or something else at that place.
    case senderLost
  }

  private(set) var id: OutboundStreamID
  private(set) var rows: Deque<OutboxRow> = []
  private(set) var assigned: UInt64 = 0
  private(set) var acknowledged: UInt64 = 0
  /// Rows up to here may be sent.
  private(set) var durable: UInt64 = 0
  /// Counts what made earlier words about durability void: a write that was under way before says nothing any more.
  private(set) var durabilityGeneration: UInt64 = 0
  /// Places below this one were set apart durably (``reserve()``).
  private var reserved: UInt64 = 0
  /// Rows up to here were sent in this session.
  private(set) var sent: UInt64 = 0
  private(set) var retryAt: BusTime?
  private(set) var bytes = 0
  let bounds: Bounds
  private var attempts = 0
  /// Nothing goes before this moment: what stands first has just failed.
  private var heldUntil: BusTime?
  /// How much of it is under way.
  private var flightBytes = 0
  private var flightRows = 0

  /// - Parameter epoch: no write that was begun for an earlier stream of this name has it.
  init(_ id: OutboundStreamID, bounds: Bounds, durabilityGeneration: UInt64 = 0) {
    self.id = id
    self.bounds = bounds
    self.durabilityGeneration = durabilityGeneration
  }

  /// A stream as its store kept it.
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
  /// Rows wait for ``makeDurable(through:durabilityGeneration:)``.
  var isHeld: Bool { durable < assigned }
  /// Everything was acknowledged.
  var isAcknowledged: Bool { acknowledged >= assigned }

  /// Where a place's row stands; `nil` for one that is gone.
  func index(of sequence: UInt64) -> Int? {
    guard sequence > 0, let index = firstIndex(after: sequence - 1), rows[index].sequence == sequence else {
      return nil
    }
    return index
  }

  // MARK: What comes in

  /// Takes a place. With `isGoing` it will be sent as soon as it is durable, and says so from the beginning.
  mutating func add(_ item: OutboxItem, since: BusTime, isUncertain: Bool = false, isGoing: Bool) -> OutboxRow {
    assigned += 1
    let row = OutboxRow(
      stream: id, sequence: assigned, item: item, since: since, isUncertain: isUncertain, tries: isGoing ? 1 : 0)
    rows.append(row)
    bytes += item.size
    return row
  }

  /// Sets places apart for rows that are to be sent before they are durable, so that a later life never gives them to
  /// others: the tombstone at their end, to be made durable before any of them is sent. `nil` while there are enough.
  mutating func reserve() -> OutboxRow? {
    guard assigned + 1 >= reserved else { return nil }
    // The tombstone's own place is never used.
    if reserved > 0 { assigned = max(assigned, reserved) }
    reserved = assigned + Self.reservation
    return OutboxRow(stream: id, sequence: reserved, item: nil, since: .zero)
  }

  /// Twenty minutes of four readings a second between two writes.
  private static let reservation: UInt64 = 4096

  /// Rows up to here are durable, by a write of this epoch.
  mutating func makeDurable(through sequence: UInt64, durabilityGeneration: UInt64) {
    if durabilityGeneration == self.durabilityGeneration { durable = max(durable, sequence) }
  }

  /// What becomes nothing but a place: it was taken back, has expired or was set aside.
  mutating func tombstone(_ sequence: UInt64) {
    guard let index = index(of: sequence) else { return }
    bytes -= rows[index].item?.size ?? 0
    rows[index].item = nil
  }

  /// A row that is done with, wherever it stands.
  mutating func remove(_ sequence: UInt64) {
    guard let index = index(of: sequence) else { return }
    bytes -= rows[index].item?.size ?? 0
    rows.remove(at: index)
  }

  /// All of it is owed by another stream from now on, numbered from 1. Nothing goes before that is durable. What may have
  /// been sent by the old one stays so.
  mutating func renumber(to id: OutboundStreamID) {
    self.id = id
    for index in rows.indices {
      rows[index].stream = id
      rows[index].sequence = UInt64(index) + 1
    }
    assigned = UInt64(rows.count)
    (durable, durabilityGeneration) = (0, durabilityGeneration + 1)
    reserved = 0
    acknowledged = 0
    close()
  }

  // MARK: The session

  /// The receiver says what it has: what follows goes from there.
  mutating func open(received mark: StreamMark) -> HistoryCheck {
    if mark.sequence < acknowledged { return .receiverLost }
    if mark.sequence > assigned { return .senderLost }
    if let id = mark.id, let own = lastItem(upTo: mark.sequence)?.id, own != id { return .senderLost }
    close()
    sent = max(acknowledged, mark.sequence)
    return .good
  }

  /// What a receiver who has everything up to here was sent last. Behind it stand only tombstones of what was never sent:
  /// `nil` where something else may have come to it after that.
  private func lastItem(upTo sequence: UInt64) -> OutboxItem? {
    guard var index = index(of: sequence) else { return nil }
    while rows[index].item == nil {
      guard rows[index].tries == 0, index > 0, rows[index - 1].sequence + 1 == rows[index].sequence else { return nil }
      index -= 1
    }
    return rows[index].item
  }

  /// Nothing more goes until ``makeDurable(through:durabilityGeneration:)`` says so again, for a write that is made from now on.
  mutating func blockUntilDurable() { (durable, durabilityGeneration) = (sent, durabilityGeneration + 1) }

  /// The link is lost: everything that is not acknowledged goes again with the next session.
  mutating func close() {
    sent = acknowledged
    (flightBytes, flightRows) = (0, 0)
    retryAt = nil
    heldUntil = nil
    attempts = 0
  }

  /// What is to go now, in order.
  enum Batch: Hashable, Sendable {
    /// These rows; none is a tombstone.
    case rows([OutboxRow])
    /// Nothing stands at these places any more.
    case tombstoneRange(ClosedRange<UInt64>)
  }

  /// What is to go now, in order, up to the first that is not to go yet; it counts as sent.
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
      // A tombstone, and what was never given out, is a hole.
      let end = row.item == nil ? row.sequence : row.sequence - 1
      if end > sent {
        if !run.isEmpty { flight.append(.rows(run)) }
        run = []
        flight.append(.tombstoneRange(sent + 1...end))
      }
      if let item = row.item {
        run.append(row)
        flightBytes += item.size
      }
      flightRows += 1
      sent = row.sequence
      index += 1
    }
    if !run.isEmpty { flight.append(.rows(run)) }
    if !flight.isEmpty, retryAt == nil { retryAt = now + generator.jittered(bounds.patience) }
    return flight
  }

  /// The rows behind a place.
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

  /// The receiver has durably processed up to here; whether that is news. `keepingRows`: they go one by one.
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
      // What stands first has failed and waits for its moment; nothing else would wake for it.
      retryAt = heldUntil
    } else {
      retryAt = sent > acknowledged ? now + generator.jittered(bounds.patience) : nil
    }
    return true
  }

  /// Send again from here: at once, or after a while.
  mutating func goBack(to sequence: UInt64, retryAt: BusTime? = nil) {
    let place = max(sequence, 1) - 1
    guard place < sent, place >= acknowledged else { return }
    sent = max(acknowledged, place)
    // What lies before it and is not acknowledged is still under way.
    let flight = rows(after: acknowledged).prefix { $0.sequence <= sent }
    (flightBytes, flightRows) = (flight.reduce(0) { $0 + ($1.item?.size ?? 0) }, flight.count)
    self.retryAt = retryAt
    heldUntil = retryAt
  }

  /// No acknowledgement came in time: from the oldest on once more.
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

  /// Something was to be sent that the link could not take: again soon, without haste.
  mutating func postpone(to time: BusTime) {
    guard sent > acknowledged else { return }
    retryAt = time
  }

  // MARK: Tries

  /// The places of what was never sent, all of which may be sent from now on; counted here, to be made durable.
  mutating func countFirstTries() -> ClosedRange<UInt64>? {
    let fresh = rows.lazy.filter { $0.tries == 0 }
    guard let first = fresh.first?.sequence, let last = fresh.last?.sequence else { return nil }
    return count(first...last)
  }

  /// One try more for these places.
  mutating func count(_ range: ClosedRange<UInt64>) -> ClosedRange<UInt64> {
    for index in rows.indices where range.contains(rows[index].sequence) { rows[index].tries += 1 }
    return range
  }

  /// Moves every `since`: the clock has another origin.
  mutating func shift(by span: BusDuration) {
    for index in rows.indices {
      rows[index].since = rows[index].since + span
      rows[index].isUncertain = true
    }
  }
}
