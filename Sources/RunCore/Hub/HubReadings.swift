// Readings of the hub's own sensors and of its peers, and what is published of the run.
extension HubCore {
  /// Accepts a reading of a sensor of the hub itself.
  mutating func receiveOwn(_ sample: Sample, in turn: inout Turn) {
    // The bound on writes that wait for a stalled store applies to the hub's own sensors, too.
    guard !turn.isCongested else { return turn.act(.note("the store is far behind: a sample was dropped")) }
    enter(run.own(sample, control: commands.control, at: turn.now), in: &turn)
  }

  /// Accepts readings from a peer's stream, in order.
  mutating func receive(
    _ transmissions: [SampleTransmission], of session: SessionTable.Session, arrival: BusTime, in turn: inout Turn
  ) {
    let stream = StreamID(sender: session.hello.storeID, kind: .samples)
    // While its store is far behind, the hub accepts no readings. The mark stays, and the sender keeps them.
    guard !turn.isCongested else { return }
    var isKnown = false
    for transmission in transmissions {
      let place = run.position(of: transmission.sequence, in: stream)
      // The start of the reading's run waits for its verdict. The sender sends the reading again after it.
      if place == .next, let run = transmission.runID, commands.isAboutToStart(run, for: session.hello.deviceID) {
        break
      }
      // Beyond the pace the mark stays, too: what was accepted is acknowledged, and the rest is sent again.
      if place == .next, !members.admits(.readings, session.identity, at: turn.now) { break }
      switch run.receive(transmission.sequence, in: stream) {
      case .next:
        let reading = run.reading(
          transmission, of: session.hello, arrival: arrival, control: commands.control, at: turn.now)
        if let reading {
          enter(reading, in: &turn)
        } else {
          run.pass(over: stream, transmission.sequence, at: turn.now)
          turn.act(.note("\(session.hello.deviceID) sent a reading that this version does not know: ignored"))
        }
      case .known:
        isKnown = true
        turn.tally.duplicates += 1
      case .gap: return turn.act(.note("\(session.hello.deviceID) skipped samples: it sends them again"))
      }
    }
    if isKnown { run.acknowledge(stream) }
  }

  private mutating func enter(_ reading: HubRun.Reading, in turn: inout Turn) {
    let now = turn.now
    run.enter(
      reading, control: commands.control, in: &turn,
      accepts: { records.acceptsReadings(of: $0, commands.control, at: now) },
      expect: { records.expect(afterReadingOf: $0, commands.control, at: now) })
  }

  /// Whether received readings are not durable yet, or what they change is not published yet.
  package var hasPendingSamples: Bool { run.hasReadings || !rest.commits.isIdle }

  /// Commits gathered readings outside the schedule of ticks. If they amend a run whose snapshots are not on schedule, a
  /// snapshot is published as well.
  mutating func commitSamples(in turn: inout Turn) {
    if run.needsSnapshot(commands.control) { return publishNow([], in: &turn) }
    run.commitReadings(commands.control, term: term, in: &turn)
  }

  /// Commits and publishes gathered readings now. What leaves after that commit holds nothing that could be lost or that
  /// followers of the route would miss.
  mutating func commitPendingSamples(in turn: inout Turn) { if run.hasReadings { commitSamples(in: &turn) } }

  // MARK: Snapshots

  func clockMark(at now: BusTime) -> StoreOperation { .setClock(real: settings.clock.real(at: now), bus: now) }

  mutating func tick(in turn: inout Turn) {
    if run.tick(commands.control, at: turn.now) { publishNow([], in: &turn) }
  }

  /// Commits the given writes together with the gathered readings, and publishes the resulting state after the commit.
  mutating func publishNow(_ operations: [StoreOperation], then: [Durable] = [], in turn: inout Turn) {
    let all = operations + [clockMark(at: turn.now)] + commands.forgetOldVerdicts(at: turn.now)
    run.publish(all, then: then, commands.control, term: term, in: &turn)
  }

  // MARK: Questions about the run

  /// A report on the present run, or else on the last one.
  mutating func reportAnswer(in turn: inout Turn) -> InquiryAnswer {
    commitPendingSamples(in: &turn)
    let report = run.report(at: turn.now)
    return .report(commands.control.runID == nil ? nil : report)
  }

  /// A part of the same run's route, from a point on.
  mutating func routeAnswer(from: Int, in turn: inout Turn) -> InquiryAnswer {
    commitPendingSamples(in: &turn)
    return .route(commands.control.runID.map { run.routePart(of: $0, term: term, from: from) })
  }

  /// The numbers of the same run over time.
  mutating func seriesAnswer(in turn: inout Turn) -> InquiryAnswer {
    commitPendingSamples(in: &turn)
    return .series(commands.control.runID.map { run.series(of: $0, at: turn.now) })
  }
}
