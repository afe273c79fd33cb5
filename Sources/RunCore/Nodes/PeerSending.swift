import DequeModule

// What a peer sends: its presses and its samples, in order, until the hub has them.
extension PeerCore {
  /// What waits for a verdict, in order. It is resent from the oldest on; the hub drops what it has.
  struct Outbox: Sendable {
    struct Entry: Sendable {
      let command: Command
      let sequence: UInt64
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

    mutating func setPending(_ id: CommandID) {
      for index in entries.indices where entries[index].command.id == id { entries[index].isPending = true }
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
      let sequence: UInt64
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

    mutating func acknowledge(_ sequence: UInt64, at now: BusTime) {
      while let first = entries.first, first.sequence <= sequence { entries.removeFirst() }
      retryAt = entries.isEmpty ? nil : now + PeerCore.ackPatience
    }
  }

  /// The hub commits samples every three seconds of bus time and then acknowledges: this long without, and they go again.
  static var ackPatience: BusDuration { .seconds(10) }

  /// A button: the press gets its place in the stream and goes out at once if the hub can be reached.
  mutating func press(_ command: Command, at now: BusTime, into actions: inout [Action]) {
    var command = command
    // A shell that only just came by has seen nothing: it means the run that is on. A watch that was never in reach has
    // seen nothing either, and means the run that it started itself.
    if !settings.isOneShot {
      let seen = authoritative.order.term > 0 ? authoritative : nil
      if command.base == nil, let seen {
        command.base = Base(revision: seen.order.revision, commandID: seen.changedBy?.commandID)
      }
      if command.runID == nil, command.kind != .start {
        command.runID = outbox.entries.last { $0.command.kind == .start }?.command.runID ?? seen?.runID
      }
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
      outbox.setPending(receipt.commandID)
      actions.append(.receipt(receipt))
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
    let entry = spool.add(sample, runID: authoritative.runID)
    guard case .up = link else { return }
    send(.samples([transmission(of: entry, at: now)]), at: now, into: &actions)
    if spool.retryAt == nil { spool.retryAt = now + Self.ackPatience }
  }

  /// All samples that the hub has not acknowledged, from the oldest on.
  mutating func transmitSamples(from watermark: UInt64?, at now: BusTime, into actions: inout [Action]) {
    if let watermark, watermark > 0 { spool.acknowledge(watermark, at: now) }
    var rest = spool.entries[...]
    while !rest.isEmpty {
      let chunk = rest.prefix(Spool.frameMax)
      rest = rest.dropFirst(Spool.frameMax)
      send(.samples(chunk.map { transmission(of: $0, at: now) }), at: now, into: &actions)
    }
    spool.retryAt = spool.count == 0 ? nil : now + Self.ackPatience
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
