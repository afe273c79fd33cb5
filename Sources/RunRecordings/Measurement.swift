public import RunCore

extension Recording {
  /// What a replay leaves in the hub's ledger for a run that started at `origin`: the presses, and each device's
  /// readings at origin plus offset. A live replay through the bus gives the same digits, because it puts the same
  /// entries at the same moments and the order of arrival decides nothing.
  public func ledgerEntries(runStartedAt origin: BusTime) -> [LedgerEntry] {
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

  /// The ledger of those entries, for a run that started at zero.
  func ledger(settings: MetricsSettings) -> RunLedger {
    var entries = ledgerEntries(runStartedAt: .zero)
    // Where they are, so that the ledger need not copy them.
    entries.sort(by: LedgerEntry.precedes)
    return RunLedger(settings: settings, entries: entries)
  }
}

/// All that a recording's entries fold to, through the same ledger as a live run.
public struct MeasuredRun: Hashable, Sendable {
  /// The final numbers with their pieces.
  public var report: RunReport
  /// What became of every fix, in order.
  public var route: [RoutePoint]
  /// The device's own figures; `nil` when the recording holds none.
  public var recorded: RecordedSummary?

  /// A measured run from its parts.
  public init(report: RunReport, route: [RoutePoint], recorded: RecordedSummary?) {
    self.report = report
    self.route = route
    self.recorded = recorded
  }

  /// Measures a recording, without any process.
  public init(_ recording: Recording, settings: MetricsSettings = MetricsSettings()) {
    let ledger = recording.ledger(settings: settings)
    self.init(
      report: ledger.report(at: .zero + recording.duration), route: ledger.route, recorded: recording.summary)
  }
}

/// The final numbers of a recording; see ``MeasuredRun`` for their pieces.
public func measure(_ recording: Recording, settings: MetricsSettings = MetricsSettings()) -> RunMetrics {
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
