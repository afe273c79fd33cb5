/// Samples that were taken in and are not yet durable: they are committed together, every three seconds.
struct SampleBatch: Sendable {
  /// What a commit of samples holds at most before it is sent off early.
  static let operationsMax = 4096
  private(set) var operations: [StoreOperation] = []
  private(set) var streams: [StreamID: UInt64] = [:]
  private(set) var deadline: BusTime?
  /// Something in it belongs to a stretch in which the run ran, and the run does not run any more.
  var isAmendment = false

  mutating func add(_ operation: StoreOperation?, stream: (StreamID, UInt64)?, at now: BusTime) {
    if let operation { operations.append(operation) }
    if let (id, sequence) = stream { streams[id] = sequence }
    if deadline == nil { deadline = now + HubCore.tickInterval }
    if operations.count >= Self.operationsMax { deadline = now }
  }

  /// The mark of a stream that was given up goes nowhere.
  mutating func forget(_ stream: StreamID) { streams[stream] = nil }

  /// Empties the batch: the writes, watermarks included, and the streams to acknowledge.
  mutating func take() -> (operations: [StoreOperation], streams: [(key: StreamID, value: UInt64)]) {
    let streams = self.streams.sorted { $0.key.sender < $1.key.sender }
    let marks = streams.map { StoreOperation.setWatermark($0.key, StreamMark(sequence: $0.value)) }
    defer { self = SampleBatch() }
    return (operations + marks, streams)
  }
}

// Samples: taken in at once, durable every three seconds, acknowledged after that.
extension HubCore {
  /// A sensor of the hub itself.
  mutating func receiveOwn(_ sample: Sample, at now: BusTime, into actions: inout [Action]) {
    // The bound of what waits for a store that takes nothing holds for the hub's own sensors, too.
    guard !commits.isCongested else { return actions.append(.note("the store is far behind: a sample was dropped")) }
    let time: BusTime?
    switch sample.moment {
    case .at(let moment): time = min(settings.clock.bus(at: moment), now)
    case .runOffset(let offset): time = runTime(offset, of: nil, at: now)
    }
    insert(sample.value, at: time, device: settings.deviceID, run: nil, stream: nil, at: now, into: &actions)
  }

  /// Samples from a peer's stream, in order.
  mutating func receive(
    _ transmissions: [SampleTransmission], of session: SessionTable.Session, arrival: BusTime, at now: BusTime,
    into actions: inout [Action]
  ) {
    let stream = StreamID(sender: session.hello.storeID, kind: .samples)
    guard !session.hello.isOneShot else {
      return actions.append(.note("\(session.hello.deviceID) sent samples, which a sender of one command cannot"))
    }
    // A store that is far behind takes nothing more in: the watermark stays, and the sender keeps what it has.
    guard !commits.isCongested else { return }
    var isKnown = false
    for transmission in transmissions {
      let place = watermarks[stream, default: Watermark()].place(of: transmission.sequence)
      // A run whose start waits for its verdict: the sender sends them again after it.
      if place == .next, let run = transmission.runID, isAboutToStart(run, for: session.hello) { break }
      switch watermarks[stream, default: Watermark()].receive(StreamMark(sequence: transmission.sequence)) {
      case .next:
        let time: BusTime?
        switch transmission.moment {
        case .age(let age): time = arrival - settings.clock.speed.bus(fromReal: max(.zero, age))
        case .runOffset(let offset): time = runTime(offset, of: transmission.runID, at: now)
        }
        insert(
          transmission.value, at: time, device: session.hello.deviceID, run: transmission.runID,
          stream: (stream, transmission.sequence), at: now, into: &actions)
      case .known: isKnown = true
      case .gap: return actions.append(.note("\(session.hello.deviceID) skipped samples: it sends them again"))
      }
    }
    if isKnown { unacknowledged.insert(stream) }
  }

  /// Readings were taken in that are not durable yet, or what they change is not published yet.
  public var hasUnsettledSamples: Bool { !samples.operations.isEmpty || !commits.isIdle }

  /// Commits the samples that gathered outside the schedule of ticks; what they change in a run that stands still is
  /// an amendment and is published.
  mutating func commitSamples(at now: BusTime) {
    if samples.isAmendment, !isTicking { return publishNow([], at: now) }
    let batch = samples.take()
    let acks = batch.streams.flatMap { [Effect.durable($0.key, StreamMark(sequence: $0.value)), .acknowledge($0.key)] }
    commits.add(batch.operations, then: publishRoute() + acks)
  }

  /// A start of this run is accepted and not judged. One that waits for its stop may wait for ever: it holds up the
  /// readings of its own device alone.
  private func isAboutToStart(_ run: RunID, for sender: Hello) -> Bool {
    let control = arbiter.control
    let named = control.canonical(run)
    return named != control.runID && !control.knows(named)
      && unjudged.values.contains {
        $0.command.kind == .start && $0.runOfStart == run && (!$0.stopFollows || $0.deviceID == sender.deviceID)
      }
  }

  /// A moment on the run's own time line. A sender's idea of now runs a little ahead or behind: the offset counts, not
  /// the arrival. More than a second ahead, in real time, is no measurement.
  private func runTime(_ offset: BusDuration, of run: RunID?, at now: BusTime) -> BusTime? {
    let control = arbiter.control
    var start = control.startedAt
    if let run = run.map(control.canonical), run != control.runID {
      start = control.history(of: run).first?.effectiveAt
    }
    guard let time = start.map({ $0 + offset }) else { return nil }
    return time <= now + settings.clock.speed.bus(fromReal: .seconds(1)) ? time : nil
  }

  private mutating func insert(
    _ value: SampleValue, at time: BusTime?, device: DeviceID, run: RunID?, stream: (StreamID, UInt64)?,
    at now: BusTime, into actions: inout [Action]
  ) {
    // Before any run, after one, for a run that this hub never saw and for one that has been over for more than a day, a
    // reading has nowhere to go: it is taken in and dropped.
    guard let time, let target = home(of: time, run: run), acceptsReadings(of: target, at: now) else {
      return samples.add(nil, stream: stream, at: now)
    }
    if target == arbiter.control.runID, ledger.entries.count >= settings.ledgerEntriesMax {
      if fullRun != target { actions.append(.note("the run is full: it takes no more readings in")) }
      fullRun = target
      return samples.add(nil, stream: stream, at: now)
    }
    if target != arbiter.control.runID {
      guard pastReadings[target, default: 0] < settings.pastReadingsMax else {
        return samples.add(nil, stream: stream, at: now)
      }
      pastReadings[target, default: 0] += 1
    }
    lastPosition += 1
    let entry = LedgerEntry(time: time, position: lastPosition, event: .sample(value, device))
    if target == arbiter.control.runID {
      // A reading of the very moment of a pause or stop still counts: what matters is the phase up to it.
      let upTo = [time, time + BusDuration(nanoseconds: -1)].map(ledger.phase(at:))
      // What was measured without a hub changes no number.
      let isOpen = unfinished.map { $0.diedAt < time } ?? (arbiter.control.phase == .running)
      if !isOpen, upTo.contains(.running) { samples.isAmendment = true }
      ledger.insert(entry)
    }
    samples.add(.append(target, entry), stream: stream, at: now)
    if let operation = expectRecord(afterSampleOf: target, at: now) { samples.add(operation, stream: nil, at: now) }
  }

  /// The run that a moment belongs to; `nil` when it belongs to none.
  private func home(of time: BusTime, run: RunID?) -> RunID? {
    let control = arbiter.control
    if let run = run.map(control.canonical), run != control.runID {
      guard let stop = control.stop(of: run)?.effectiveAt else { return control.knows(run) ? run : nil }
      if time <= stop { return run }
      // Its sender had not yet heard of the run that is on.
      guard let start = control.startedAt, start <= time else { return nil }
    }
    guard let present = control.runID else { return nil }
    if let stop = ledger.stoppedAt, time > stop { return nil }
    return present
  }
}
