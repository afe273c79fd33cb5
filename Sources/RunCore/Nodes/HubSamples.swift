/// Samples that were taken in and are not yet durable: they are committed together, every three seconds.
struct SampleBatch: Sendable {
  /// What a commit of samples holds at most before it is sent off early.
  static let operationsMax = 4096
  private(set) var operations: [StoreOperation] = []
  private(set) var streams: [StreamID: UInt64] = [:]
  private(set) var deadline: BusTime?

  mutating func add(_ operation: StoreOperation?, stream: (StreamID, UInt64)?, at now: BusTime) {
    if let operation { operations.append(operation) }
    if let (id, sequence) = stream { streams[id] = sequence }
    if deadline == nil { deadline = now + HubCore.tickInterval }
    if operations.count >= Self.operationsMax { deadline = now }
  }

  /// Empties the batch: the writes, watermarks included, and the streams to acknowledge.
  mutating func take() -> (operations: [StoreOperation], streams: [(key: StreamID, value: UInt64)]) {
    let streams = self.streams.sorted { $0.key.sender < $1.key.sender }
    let marks = streams.map { StoreOperation.setWatermark($0.key, sequence: $0.value) }
    defer { self = SampleBatch() }
    return (operations + marks, streams)
  }
}

// Samples: taken in at once, durable every three seconds, acknowledged after that.
extension HubCore {
  /// A sensor of the hub itself.
  mutating func takeOwn(_ sample: Sample, at now: BusTime) {
    let time: BusTime?
    switch sample.moment {
    case .at(let moment): time = min(settings.clock.bus(at: moment), now)
    case .runOffset(let offset): time = runTime(offset, at: now)
    }
    insert(sample.value, at: time, device: settings.deviceID, run: nil, stream: nil, at: now)
  }

  /// Samples from a peer's stream, in order.
  mutating func take(
    _ transmissions: [SampleTransmission], of session: SessionTable.Session, arrival: BusTime, at now: BusTime,
    into actions: inout [Action]
  ) {
    let stream = StreamID(sender: session.hello.storeID, kind: .samples)
    // A store that is far behind takes nothing more in: the watermark stays, and the sender keeps what it has.
    guard !commits.isCongested else { return }
    var isKnown = false
    for transmission in transmissions {
      switch watermarks[stream, default: Watermark()].take(transmission.sequence) {
      case .next:
        let time: BusTime?
        switch transmission.moment {
        case .age(let age): time = arrival - settings.clock.speed.bus(fromReal: max(.zero, age))
        case .runOffset(let offset): time = runTime(offset, at: now)
        }
        insert(
          transmission.value, at: time, device: session.hello.deviceID, run: transmission.runID,
          stream: (stream, transmission.sequence), at: now)
      case .known: isKnown = true
      case .gap: return actions.append(.note("\(session.hello.deviceID) skipped samples: it sends them again"))
      }
    }
    if isKnown { acknowledgeSamples(stream, into: &actions) }
  }

  /// Commits the samples that gathered outside the schedule of ticks; what they change in a run that stands still is
  /// an amendment and is published.
  mutating func commitSamples(at now: BusTime) {
    if arbiter.control.phase != .running, ledger.metrics(at: now) != authoritative.metrics {
      return publishNow([], at: now)
    }
    let batch = samples.take()
    let acks = batch.streams.flatMap { [Effect.durable($0.key, $0.value), .ackSamples($0.key)] }
    commits.add(batch.operations, then: acks)
  }

  /// Says how far a stream of samples is durable.
  func acknowledgeSamples(_ stream: StreamID, into actions: inout [Action]) {
    guard let connection = sessions.connection(of: stream.sender), let session = sessions[connection],
      let sequence = durable[stream]
    else { return }
    actions.append(
      .send(HubFrame(session: session.number, message: .samplesAcked(sequence)), to: connection))
  }

  /// A moment on the run's own time line. A sender's idea of now runs a little ahead or behind: the offset counts, not
  /// the arrival. More than a second ahead, in real time, is no measurement.
  private func runTime(_ offset: BusDuration, at now: BusTime) -> BusTime? {
    guard let start = arbiter.control.startedAt else { return nil }
    let time = start + offset
    return time <= now + settings.clock.speed.bus(fromReal: .seconds(1)) ? time : nil
  }

  private mutating func insert(
    _ value: SampleValue, at time: BusTime?, device: DeviceID, run: RunID?, stream: (StreamID, UInt64)?,
    at now: BusTime
  ) {
    let control = arbiter.control
    let present = control.runID
    // Before any run, and for a run that this hub never saw, a reading has nowhere to go: it is taken in and dropped.
    guard let time, let target = run.map(control.canonical) ?? present,
      target == present || !control.history(of: target).isEmpty
    else { return samples.add(nil, stream: stream, at: now) }
    lastPosition += 1
    let entry = LedgerEntry(time: time, position: lastPosition, event: .sample(value, device))
    if target == present { ledger.insert(entry) }
    samples.add(.append(target, entry), stream: stream, at: now)
  }
}
