// Samples are accepted at once, committed every three seconds, and acknowledged after the commit.
extension HubCore {
  /// Accepts a reading of a sensor of the hub itself.
  mutating func receiveOwn(_ sample: Sample, in turn: inout Turn) {
    // The bound on writes that wait for a stalled store applies to the hub's own sensors, too.
    guard !turn.isCongested else { return turn.act(.note("the store is far behind: a sample was dropped")) }
    let clock = settings.clock
    let time = busTime(of: sample.moment, in: nil, at: turn.now) { min(clock.bus(at: $0), turn.now) }
    insert(sample.value, at: time, device: settings.deviceID, run: nil, stream: nil, in: &turn)
  }

  /// Accepts samples from a peer's stream, in order.
  mutating func receive(
    _ transmissions: [SampleTransmission], of session: SessionTable.Session, arrival: BusTime, in turn: inout Turn
  ) {
    let stream = StreamID(sender: session.hello.storeID, kind: .samples)
    // While its store is far behind, the hub accepts no samples. The watermark stays, and the sender keeps them.
    guard !turn.isCongested else { return }
    let speed = settings.clock.speed
    var isKnown = false
    for transmission in transmissions {
      let place = marks.position(of: transmission.sequence, in: stream)
      // The start of the sample's run waits for its verdict. The sender sends the sample again after it.
      if place == .next, let run = transmission.runID, isAboutToStart(run, for: session.hello) { break }
      // Beyond the pace the mark stays, too: what was accepted is acknowledged, and the rest is sent again.
      if place == .next, !members.admits(.readings, session.identity, at: turn.now) { break }
      switch marks.receive(StreamMark(sequence: transmission.sequence), in: stream) {
      case .next:
        guard let moment = transmission.moment, let value = transmission.value else {
          // A reading of a later version goes nowhere. It uses up its sequence number, so that the stream goes on.
          samples.add(nil, stream: (stream, transmission.sequence), at: turn.now)
          turn.act(.note("\(session.hello.deviceID) sent a reading that this version does not know: ignored"))
          continue
        }
        let time = busTime(of: moment, in: transmission.runID, at: turn.now) {
          arrival - speed.bus(fromReal: max(.zero, .zero - $0))
        }
        insert(
          value, at: time, device: session.hello.deviceID, run: transmission.runID,
          stream: (stream, transmission.sequence), in: &turn)
      case .known: isKnown = true
      case .gap: return turn.act(.note("\(session.hello.deviceID) skipped samples: it sends them again"))
      }
    }
    if isKnown { marks.acknowledge(stream) }
  }

  /// Whether received readings are not durable yet, or what they change is not published yet.
  package var hasPendingSamples: Bool { samples.isPending || !rest.commits.isIdle }

  /// Commits gathered samples outside the schedule of ticks. If they amend a run whose snapshots are not on schedule, a
  /// snapshot is published as well.
  mutating func commitSamples(in turn: inout Turn) {
    if samples.isAmendment, !isTicking { return publishNow([], in: &turn) }
    let batch = samples.take()
    let acks = batch.streams.flatMap { Mark(stream: $0.key, place: StreamMark(sequence: $0.value)).then }
    turn.write(batch.operations, then: publishRoute() + acks)
  }

  /// Whether a start of this run is accepted and not judged. A start that waits for its stop may wait forever, so it
  /// delays the readings of its own device only.
  private func isAboutToStart(_ run: RunID, for sender: Hello) -> Bool {
    let control = arbiter.control
    let named = control.canonical(run)
    return named != control.runID && !control.knows(named)
      && book.unjudged.values.contains {
        $0.command.kind == .start && $0.runOfStart == run && (!$0.stopFollows || $0.deviceID == sender.deviceID)
      }
  }

  /// The bus time of a moment. `nil` for an offset in a run that has not started, or for one that leads more than a
  /// second of real time into the future, which is no measurement. A sender's clock may run a little ahead, so the
  /// offset counts and not the arrival.
  ///
  /// - Parameter line: converts a time on the moment's own time line to bus time.
  private func busTime(
    of moment: SampleMoment, in run: RunID?, at now: BusTime, line: (BusTime) -> BusTime
  ) -> BusTime? {
    if case .at(let time) = moment { return line(time) }
    let control = arbiter.control
    var start = control.startedAt
    if let run = run.map(control.canonical), run != control.runID {
      start = control.history(of: run).first?.effectiveAt
    }
    guard let time = start.map(moment.time(runStartedAt:)) else { return nil }
    return time <= now + settings.clock.speed.bus(fromReal: .seconds(1)) ? time : nil
  }

  private mutating func insert(
    _ value: SampleValue, at time: BusTime?, device: DeviceID, run: RunID?, stream: (StreamID, UInt64)?,
    in turn: inout Turn
  ) {
    // A reading outside every run, of an unknown run, or of one that has been over for more than a day is dropped. The
    // watermark still moves over it.
    guard let time, let target = home(of: time, run: run), acceptsReadings(of: target, at: turn.now) else {
      return samples.add(nil, stream: stream, at: turn.now)
    }
    if target == arbiter.control.runID, ledger.entries.count >= settings.ledgerEntriesMax {
      if samples.noteFull(target) { turn.act(.note("the run is full: it takes no more readings in")) }
      return samples.add(nil, stream: stream, at: turn.now)
    }
    if target != arbiter.control.runID {
      guard samples.admitPastReading(of: target, max: settings.pastReadingsMax) else {
        return samples.add(nil, stream: stream, at: turn.now)
      }
    }
    let entry = presentRun.entry(at: time, .sample(value, device))
    if target == arbiter.control.runID {
      // A reading of the very moment of a pause or stop still counts, so the phase just before it is looked at as well.
      let upTo = [time, time + BusDuration(nanoseconds: -1)].map(ledger.phase(at:))
      // A reading from the time without a hub changes no metric.
      let isOpen = unfinished.map { $0.diedAt < time } ?? (arbiter.control.phase == .running)
      if !isOpen, upTo.contains(.running) { samples.noteAmendment() }
      presentRun.insert(entry)
    }
    samples.add(.append(target, entry), stream: stream, at: turn.now)
    if let operation = expectRecord(afterSampleOf: target, at: turn.now) {
      samples.add(operation, stream: nil, at: turn.now)
    }
  }

  /// The run that a moment belongs to; `nil` when it belongs to none.
  private func home(of time: BusTime, run: RunID?) -> RunID? {
    let control = arbiter.control
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
}
