import DequeModule

// What a peer sends: its presses and its samples, in order, until the hub has them.
extension PeerCore {
  /// What waits for a verdict, in order. It is resent from the oldest on; the hub drops what it has.
  struct Outbox: Sendable {
    struct Entry: Sendable {
      let command: Command
      var sequence: UInt64
      let pressedAt: BusTime
      var isPending = false
    }
    /// A person does not press that often while a hub is away.
    static let entriesMax = 1024
    private(set) var entries: [Entry] = []
    private var lastSequence: UInt64 = 0
    var retryAt: BusTime?
    var attempts = 0
    var isFull: Bool { entries.count >= Self.entriesMax }

    mutating func add(_ command: Command, pressedAt: BusTime) -> Entry {
      lastSequence += 1
      let entry = Entry(command: command, sequence: lastSequence, pressedAt: pressedAt)
      entries.append(entry)
      return entry
    }

    func contains(_ id: CommandID) -> Bool { entries.contains { $0.command.id == id } }

    /// Notes that the hub has a command, and says whether that is news.
    mutating func setPending(_ id: CommandID) -> Bool {
      guard let index = entries.firstIndex(where: { $0.command.id == id }), !entries[index].isPending else {
        return false
      }
      entries[index].isPending = true
      return true
    }

    /// The hub has durably processed the stream up to here. What follows has its places right behind that; it has others
    /// when the hub's store is another one than before, or has lost what came last.
    mutating func renumber(behind watermark: UInt64) {
      let watermark = min(watermark, PeerCore.sequenceMax)
      lastSequence = entries.isEmpty ? watermark : max(lastSequence, watermark)
      guard let first = entries.first, first.sequence - 1 > watermark else { return }
      for index in entries.indices { entries[index].sequence = watermark + UInt64(index) + 1 }
      lastSequence = watermark + UInt64(entries.count)
    }

    mutating func remove(_ id: CommandID) -> Entry? {
      guard let index = entries.firstIndex(where: { $0.command.id == id }) else { return nil }
      if entries.count == 1 {
        retryAt = nil
        attempts = 0
      }
      return entries.remove(at: index)
    }
  }

  /// Samples that the hub has not acknowledged, in order.
  struct Spool: Sendable {
    /// Ten hours of a reading a second; then the caller is told, and nothing is dropped.
    static let samplesMax = 36_000
    /// Keeps a frame far under the 64 KiB that a frame may have.
    static let frameMax = 256
    struct Entry: Sendable {
      let sample: Sample
      var sequence: UInt64
      let runID: RunID?
    }
    private(set) var entries: Deque<Entry> = []
    private var lastSequence: UInt64 = 0
    var retryAt: BusTime?
    var count: Int { entries.count }
    var isFull: Bool { entries.count >= Self.samplesMax }

    mutating func add(_ sample: Sample, runID: RunID?) -> Entry {
      lastSequence += 1
      let entry = Entry(sample: sample, sequence: lastSequence, runID: runID)
      entries.append(entry)
      return entry
    }

    mutating func acknowledge(_ sequence: UInt64) {
      while let first = entries.first, first.sequence <= sequence { entries.removeFirst() }
    }

    /// See ``Outbox/renumber(behind:)``.
    mutating func renumber(behind watermark: UInt64) {
      let watermark = min(watermark, PeerCore.sequenceMax)
      lastSequence = entries.isEmpty ? watermark : max(lastSequence, watermark)
      guard let first = entries.first, first.sequence - 1 > watermark else { return }
      for index in entries.indices { entries[index].sequence = watermark + UInt64(index) + 1 }
      lastSequence = watermark + UInt64(entries.count)
    }
  }

  /// No stream gets here; what lies above is no watermark.
  static let sequenceMax: UInt64 = 1 << 62

  /// The hub commits samples every three seconds of bus time and then acknowledges: this long without, and they go again.
  var ackPatience: BusDuration { max(.seconds(10), speed.real(fromBus: .seconds(10))) }

  /// A button: the press gets its place in the stream and goes out at once if the hub can be reached.
  mutating func press(_ command: Command, at now: BusTime, into actions: inout [Action]) {
    // Given twice with one id: it waits already, and its verdict will answer both.
    guard !outbox.contains(command.id) else { return }
    guard !outbox.isFull else {
      let verdict = Verdict(
        commandID: command.id, kind: command.kind, source: command.source, outcome: .rejected(.busy),
        runID: command.runID, term: authoritative.order.term, revision: authoritative.order.revision, effectiveAt: nil)
      let receipt = Receipt(
        commandID: command.id, kind: command.kind, source: command.source, stage: .verdict(verdict))
      return actions.append(.receipt(receipt))
    }
    var command = command
    if command.kind == .start, command.runID == nil { command.runID = command.runOfStart }
    // A shell that only just came by has seen nothing: it means the run that is on. A watch that was never in reach has
    // seen nothing either, and means the run that it started itself.
    if !settings.isOneShot {
      if command.base == nil, authoritative.order.term > 0 {
        command.base = Base(revision: authoritative.order.revision, commandID: authoritative.changedBy?.commandID)
      }
      if command.runID == nil { command.runID = predictedRun }
    }
    let entry = outbox.add(command, pressedAt: now)
    guard case .up = link else { return }
    transmit(entry, at: now, into: &actions)
    if outbox.retryAt == nil { outbox.retryAt = now + .seconds(2) }
  }

  /// All unsettled commands from the oldest on; again after 2, 4, 8 … 30 seconds.
  mutating func transmitCommands(at now: BusTime, into actions: inout [Action]) {
    for entry in outbox.entries { transmit(entry, at: now, into: &actions) }
    guard !outbox.entries.isEmpty else {
      outbox.retryAt = nil
      return
    }
    outbox.retryAt = now + .seconds(min(30, Int64(2) << Int64(min(outbox.attempts, 4))))
    outbox.attempts += 1
  }

  /// A stage of one of this peer's commands.
  mutating func take(_ receipt: Receipt, at now: BusTime, into actions: inout [Action]) {
    switch receipt.stage {
    case .queued: break
    case .pending:
      if outbox.setPending(receipt.commandID) { actions.append(.receipt(receipt)) }
    case .verdict(let verdict):
      // A verdict that was heard before: the hub answers a resend again.
      guard let entry = outbox.remove(receipt.commandID) else { return }
      if verdict.term >= authoritative.order.term, verdict.revision > authoritative.order.revision {
        settling.append(Settling(kind: entry.command.kind, verdict: verdict))
      }
      actions.append(.receipt(receipt))
    }
  }

  /// A sensor: the reading is spooled until the hub has it, and goes out at once.
  mutating func take(_ sample: Sample, at now: BusTime, into actions: inout [Action]) {
    guard !isSpoolFull else { return actions.append(.note("too many samples wait for the hub: one was dropped")) }
    let entry = spool.add(sample, runID: predictedRun)
    guard case .up = link else { return }
    send(.samples([transmission(of: entry, at: now)]), at: now, into: &actions)
    if spool.retryAt == nil { spool.retryAt = now + ackPatience }
  }

  /// The hub has these samples.
  mutating func acknowledge(_ sequence: UInt64, at now: BusTime) {
    spool.acknowledge(sequence)
    spool.retryAt = spool.count == 0 ? nil : now + ackPatience
  }

  /// The run that this peer's buttons and sensors speak of: the one that its own last start begins, once it is judged
  /// under the name that the verdict gives it, or else the one that is shown.
  private var predictedRun: RunID? {
    if let start = outbox.entries.last(where: { $0.command.kind == .start }) { return start.command.runID }
    return settling.last { $0.kind == .start && $0.verdict.runID != nil }?.verdict.runID ?? authoritative.runID
  }

  /// All samples that the hub has not acknowledged, from the oldest on.
  mutating func transmitSamples(at now: BusTime, into actions: inout [Action]) {
    var rest = spool.entries[...]
    while !rest.isEmpty {
      let chunk = rest.prefix(Spool.frameMax)
      rest = rest.dropFirst(Spool.frameMax)
      send(.samples(chunk.map { transmission(of: $0, at: now) }), at: now, into: &actions)
    }
    spool.retryAt = spool.count == 0 ? nil : now + ackPatience
  }

  private mutating func transmit(_ entry: Outbox.Entry, at now: BusTime, into actions: inout [Action]) {
    let transmission = Transmission(command: entry.command, sequence: entry.sequence, age: now - entry.pressedAt)
    send(.command(transmission), at: now, into: &actions)
  }

  private func transmission(of entry: Spool.Entry, at now: BusTime) -> SampleTransmission {
    let moment: SampleTransmission.Moment
    switch entry.sample.moment {
    case .at(let time): moment = .age(now - time)
    case .runOffset(let offset): moment = .runOffset(offset)
    }
    return SampleTransmission(sequence: entry.sequence, moment: moment, value: entry.sample.value, runID: entry.runID)
  }
}
