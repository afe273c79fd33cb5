import RunBus
import RunRecordings

/// A modelled run as a hub's ledger receives it: five readings a second, or four without a pedometer.
struct FoldInput: Sendable {
  /// In order of time.
  let entries: [LedgerEntry]

  init(seconds: Int64, hasPedometer: Bool) {
    var recording = SyntheticRun(seed: 1, duration: .seconds(seconds)).recording()
    if hasPedometer {
      recording = Recording(
        name: recording.name, samples: Self.withPedometer(recording.samples), timerStops: recording.timerStops,
        duration: recording.duration)
    }
    entries = recording.ledgerEntries(runStartedAt: .zero).sorted(by: LedgerEntry.precedes)
  }

  /// Adds a pedometer whose stride follows from the cadence by the inverse of the model's relation. It is 3 % short,
  /// so that the calculator has a scale to find.
  private static func withPedometer(_ samples: [RecordedSample]) -> [RecordedSample] {
    var all: [RecordedSample] = []
    var meters = 0.0
    for sample in samples {
      all.append(sample)
      guard case .cadence(let stepsPerMinute) = sample.value else { continue }
      if stepsPerMinute > 0 { meters += 0.97 * max(0, (stepsPerMinute / 2 - 66) / 6.5) }
      all.append(RecordedSample(offset: sample.offset, value: .pedometer(meters: (meters * 100).rounded() / 100)))
    }
    return all
  }

  /// The positions of all fixes.
  var fixes: [Position] {
    entries.compactMap { entry in
      if case .sample(.position(let position), _) = entry.event { position } else { nil }
    }
  }

  /// In order of arrival, with the watch's readings delayed.
  func arrivals(heartRateLate delay: BusDuration) -> [LedgerEntry] {
    arrivals { _ in delay }
  }
  /// In order of arrival, when the watch is out of reach for `length` and sends its readings at `back`.
  func arrivals(heartRatesAwayFrom start: BusTime, length: BusDuration, back: BusTime) -> [LedgerEntry] {
    arrivals { time in time >= start && time - start < length ? back - time : .zero }
  }
  private func arrivals(delay: (BusTime) -> BusDuration) -> [LedgerEntry] {
    let arrivals = entries.enumerated().map { index, entry in
      (at: entry.isHeartRate ? entry.time + delay(entry.time) : entry.time, index: index, entry: entry)
    }
    return arrivals.sorted { ($0.at, $0.index) < ($1.at, $1.index) }.map(\.entry)
  }
}

extension LedgerEntry {
  var isHeartRate: Bool { if case .sample(.heartRate, _) = event { true } else { false } }
}
