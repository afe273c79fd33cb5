extension Recording {
  /// What a replay leaves in the hub's ledger for a run that started at `origin`: the presses, and each device's
  /// readings at origin plus offset. A live replay through the bus gives the same digits, because it puts the same
  /// entries at the same moments and the order of arrival decides nothing.
  public func ledgerEntries(runStartedAt origin: BusTime) -> [LedgerEntry] {
    var entries: [LedgerEntry] = []
    entries.reserveCapacity(samples.count + 2 * timerStops.count + 2)
    func add(_ offset: BusDuration, _ event: LedgerEvent) {
      let time = SampleMoment.runOffset(offset).time(runStartedAt: origin)
      entries.append(LedgerEntry(time: time, position: UInt64(entries.count + 1), event: event))
    }
    for (index, press) in presses.enumerated() {
      let change = Change(
        source: .phone, deviceID: .replayPhone, commandID: CommandID(high: 0, low: UInt64(index + 1)))
      add(press.offset, .transition(Transition(kind: press.kind, revision: UInt64(index + 1), change: change)))
    }
    for (role, device) in [(NodeRole.phone, DeviceID.replayPhone), (.watch, .replayWatch)] {
      for sample in samples(for: role) { add(sample.offset, .sample(sample.value, device)) }
    }
    return entries
  }
}

/// The final numbers of a recording, without any process: its entries through the same ledger as a live run.
public func measure(_ recording: Recording, settings: MetricsSettings = MetricsSettings()) -> RunMetrics {
  var ledger = RunLedger(settings: settings)
  ledger.insert(contentsOf: recording.ledgerEntries(runStartedAt: .zero).sorted(by: LedgerEntry.precedes))
  return ledger.metrics(at: .zero + recording.duration)
}

extension DeviceID {
  fileprivate static let replayPhone = named("phone")
  fileprivate static let replayWatch = named("watch")
  private static func named(_ name: StaticString) -> DeviceID {
    guard let device = DeviceID("\(name)") else { preconditionFailure("\(name) is no device name") }
    return device
  }
}
