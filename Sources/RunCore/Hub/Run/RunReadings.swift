// Readings are accepted at once, committed every three seconds, and acknowledged after the commit.
extension HubRun {
  /// A reading on its way into the ledger.
  struct Reading {
    let value: SampleValue
    /// `nil` for a moment that is no measurement.
    let time: BusTime?
    let device: DeviceID
    /// The run that the sender names.
    let run: RunID?
    /// The stream that brought it, with its number there.
    let stream: (StreamID, UInt64)?
  }

  /// A reading of a sensor of the hub itself.
  func own(_ sample: Sample, control: ControlState, at now: BusTime) -> Reading {
    let clock = rules.clock
    let time = busTime(of: sample.moment, in: nil, control, at: now) { min(clock.bus(at: $0), now) }
    return Reading(value: sample.value, time: time, device: rules.deviceID, run: nil, stream: nil)
  }

  /// A reading of a peer; `nil` for one that this version does not know.
  func reading(
    _ transmission: SampleTransmission, of hello: Hello, arrival: BusTime, control: ControlState, at now: BusTime
  ) -> Reading? {
    guard let moment = transmission.moment, let value = transmission.value else { return nil }
    let speed = rules.clock.speed
    let time = busTime(of: moment, in: transmission.runID, control, at: now) {
      arrival - speed.bus(fromReal: max(.zero, .zero - $0))
    }
    return Reading(
      value: value, time: time, device: hello.deviceID, run: transmission.runID,
      stream: (StreamID(sender: hello.storeID, kind: .samples), transmission.sequence))
  }

  /// The bus time of a moment. `nil` for an offset in a run that has not started, or for one that leads more than a
  /// second of real time into the future, which is no measurement. A sender's clock may run a little ahead, so the
  /// offset counts and not the arrival.
  ///
  /// - Parameter line: converts a time on the moment's own time line to bus time.
  private func busTime(
    of moment: SampleMoment, in run: RunID?, _ control: ControlState, at now: BusTime, line: (BusTime) -> BusTime
  ) -> BusTime? {
    if case .at(let time) = moment { return line(time) }
    var start = control.startedAt
    if let run = run.map(control.canonical), run != control.runID {
      start = control.history(of: run).first?.effectiveAt
    }
    guard let time = start.map(moment.time(runStartedAt:)) else { return nil }
    return time <= now + rules.clock.speed.bus(fromReal: .seconds(1)) ? time : nil
  }

  /// Enters a reading into the ledger of its run. One outside every run, of an unknown run, or of one that takes no
  /// readings any more is dropped; the mark of its stream still moves over it.
  ///
  /// - Parameters:
  ///   - accepts: whether a run takes readings.
  ///   - expect: what has to be written about the record of a run that got a reading.
  mutating func enter(
    _ reading: Reading, control: ControlState, in turn: inout Turn, accepts: (RunID) -> Bool,
    expect: (RunID) -> StoreOperation?
  ) {
    guard let time = reading.time, let target = home(of: time, run: reading.run, control), accepts(target) else {
      return intake.add(nil, stream: reading.stream, at: turn.now)
    }
    if target == control.runID, ledger.entries.count >= rules.ledgerEntriesMax {
      if intake.noteFull(target) { turn.act(.note("the run is full: it takes no more readings in")) }
      return intake.add(nil, stream: reading.stream, at: turn.now)
    }
    if target != control.runID {
      guard intake.admitPastReading(of: target, max: rules.pastReadingsMax) else {
        return intake.add(nil, stream: reading.stream, at: turn.now)
      }
    }
    let entry = present.entry(at: time, .sample(reading.value, reading.device))
    if target == control.runID {
      // A reading of the very moment of a pause or stop still counts, so the phase just before it is looked at as well.
      let upTo = [time, time + BusDuration(nanoseconds: -1)].map(ledger.phase(at:))
      // A reading from the time without a hub changes no metric.
      let isOpen = unfinished.map { $0.diedAt < time } ?? (control.phase == .running)
      if !isOpen, upTo.contains(.running) { intake.noteAmendment() }
      present.insert(entry)
    }
    intake.add(.append(target, entry), stream: reading.stream, at: turn.now)
    if let operation = expect(target) { intake.add(operation, stream: nil, at: turn.now) }
  }

  /// A reading that this version does not know goes nowhere. It uses up its sequence number, so that the stream goes on.
  mutating func pass(over stream: StreamID, _ sequence: UInt64, at now: BusTime) {
    intake.add(nil, stream: (stream, sequence), at: now)
  }

  /// The run that a moment belongs to; `nil` when it belongs to none.
  private func home(of time: BusTime, run: RunID?, _ control: ControlState) -> RunID? {
    if let run = run.map(control.canonical), run != control.runID {
      guard let stop = control.stop(of: run)?.effectiveAt else { return control.knows(run) ? run : nil }
      if time <= stop { return run }
      // The sender had not yet heard of the run that is on.
      guard let start = control.startedAt, start <= time else { return nil }
    }
    guard let present = control.runID else { return nil }
    if let stop = ledger.stoppedAt, time > stop { return nil }
    return present
  }

  /// Forgets the readings of a run whose journal is dropped.
  mutating func forgetReadings(of run: RunID) { intake.forgetReadings(of: run) }

  // MARK: Streams

  /// Where a reading with a sequence number stands.
  func position(of sequence: UInt64, in stream: StreamID) -> Watermark.Position {
    marks.position(of: sequence, in: stream)
  }

  /// Moves the mark of a stream to the next reading.
  mutating func receive(_ sequence: UInt64, in stream: StreamID) -> Watermark.Position {
    marks.receive(StreamMark(sequence: sequence), in: stream)
  }

  /// Moves the mark of a stream over tombstones. It becomes durable with the readings that have gathered.
  mutating func skip(_ stream: StreamID, from: UInt64, through: UInt64, at now: BusTime) {
    switch marks.skip(stream, from: from, through: through) {
    case .moved: intake.add(nil, stream: (stream, through), at: now)
    case .known: marks.acknowledge(stream)
    case .gap: break
    }
  }

  /// How far a store's readings are durably received.
  func mark(of store: StoreID) -> StreamMark { marks.durableMark(of: StreamID(sender: store, kind: .samples)) }
  /// Whether more of a store's readings was received than is durable.
  func isBehind(_ store: StoreID) -> Bool { marks.isBehind(StreamID(sender: store, kind: .samples)) }
  /// Whether readings of a store wait for the next commit.
  func hasReadings(of store: StoreID) -> Bool { intake.isPending(of: StreamID(sender: store, kind: .samples)) }
  /// Whether a store has sent readings.
  func hasBegun(_ store: StoreID) -> Bool { marks.hasBegun(StreamID(sender: store, kind: .samples)) }
  /// How many streams of readings have a mark.
  var markCount: Int { marks.count }

  /// A mark is durable.
  mutating func makeDurable(_ mark: StreamMark, of stream: StreamID) { marks.makeDurable(mark, of: stream) }
  /// The sender of a stream is due an acknowledgement.
  mutating func acknowledge(_ stream: StreamID) { marks.acknowledge(stream) }
  /// Removes and returns the acknowledgements that are due.
  mutating func takeAcknowledgements() -> [(stream: StreamID, sequence: UInt64)] { marks.takeAcknowledgements() }

  /// Forgets how far the readings of a store were received, and returns the write for that.
  mutating func forgetMark(of store: StoreID) -> StoreOperation? {
    let stream = StreamID(sender: store, kind: .samples)
    intake.forget(stream)
    return marks.forget(stream) ? .forgetStream(stream) : nil
  }
}
