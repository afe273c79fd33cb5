package import RunCore

extension Recording {
  /// The entries that a replay of this recording adds to the hub's ledger: the presses, and the readings of each
  /// device.
  ///
  /// A live replay through the bus gives exactly the same metrics, because it adds the same entries with the same
  /// times, and metrics do not depend on the order of arrival.
  ///
  /// - Parameter origin: The start of the run. An entry's time is this plus its offset.
  package func ledgerEntries(runStartedAt origin: BusTime) -> [LedgerEntry] {
    var entries: [LedgerEntry] = []
    let presses = presses
    entries.reserveCapacity(samples.count + presses.count)
    func add(_ offset: BusDuration, _ event: LedgerEvent) {
      let time = SampleMoment.runOffset(offset).time(runStartedAt: origin)
      entries.append(LedgerEntry(time: time, position: UInt64(entries.count + 1), event: event))
    }
    var revision: UInt64 = 0
    for (index, press) in presses.enumerated() {
      let change = Author(
        source: .phone, deviceID: .replayPhone, commandID: CommandID(high: 0, low: UInt64(index + 1)))
      if press.kind == .lap {
        add(press.offset, .lap(change))
      } else {
        revision += 1
        add(press.offset, .transition(Transition(kind: press.kind, revision: revision, change: change)))
      }
    }
    for (role, device) in [(NodeRole.phone, DeviceID.replayPhone), (.watch, .replayWatch)] {
      for sample in samples(for: role) { add(sample.offset, .sample(sample.value, device)) }
    }
    return entries
  }

  /// The ledger of a replay whose run starts at time zero.
  func ledger(settings: MetricsSettings) -> RunLedger {
    var entries = ledgerEntries(runStartedAt: .zero)
    // Sort in place, so that the ledger need not copy the entries.
    entries.sort(by: LedgerEntry.precedes)
    return RunLedger(settings: settings, entries: entries)
  }
}

/// The numbers of a recording, computed by the same ledger as those of a live run.
///
///     let recording = try Recording.read(contentsOf: "run.gpx")
///     let run = MeasuredRun(recording)
///     print(run.report.metrics.distanceMeters ?? 0)
package struct MeasuredRun: Hashable, Sendable {
  /// The final metrics, with splits, laps and stretches.
  package var report: RunReport
  /// Every fix, with whether it counts and why not, in order of time.
  package var route: [RoutePoint]
  /// The device's own numbers; `nil` when the recording holds none.
  package var recorded: RecordedSummary?

  /// A measured run from its parts.
  package init(report: RunReport, route: [RoutePoint], recorded: RecordedSummary?) {
    self.report = report
    self.route = route
    self.recorded = recorded
  }

  /// Measures a recording, without a hub.
  package init(_ recording: Recording, settings: MetricsSettings = MetricsSettings()) {
    let ledger = recording.ledger(settings: settings)
    self.init(
      report: ledger.report(at: .zero + recording.duration), route: ledger.route, recorded: recording.summary)
  }
}

/// The final metrics of a recording; see ``MeasuredRun`` for splits and route.
package func measure(_ recording: Recording, settings: MetricsSettings = MetricsSettings()) -> RunMetrics {
  MeasuredRun(recording, settings: settings).report.metrics
}

extension DeviceID {
  fileprivate static let replayPhone = named("phone")
  fileprivate static let replayWatch = named("watch")
  private static func named(_ name: StaticString) -> DeviceID {
    guard let device = DeviceID("\(name)") else { preconditionFailure("\(name) is no device name") }
    return device
  }
}
