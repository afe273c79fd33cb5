import RunBus
import RunRecordings
import Testing

@Suite("Real recordings that arrive out of order", .enabled(if: RecordedRuns.folder != nil, RecordedRuns.missing))
struct RecordedLedgerTests {
  /// A run small enough to be shuffled completely.
  private static let smallMax = 3000

  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  /// The report and the route of one fold in order.
  private func folded(_ entries: [LedgerEntry], at end: BusTime) -> (report: RunReport, route: [RoutePoint]) {
    var calculator = Calculator()
    let route = entries.sorted(by: LedgerEntry.precedes).compactMap { calculator.fold($0) }
    return (calculator.report(at: end), route)
  }

  private func check(
    _ arriving: [LedgerEntry], at end: BusTime, against whole: (report: RunReport, route: [RoutePoint]), _ what: String
  ) {
    var ledger = RunLedger()
    ledger.insert(contentsOf: arriving)
    let hasSameReport = ledger.report(at: end) == whole.report
    #expect(hasSameReport, "\(what): report")
    ledger.foldAll()
    let hasSameRoute = ledger.route == whole.route
    #expect(hasSameRoute, "\(what): route")
  }

  @Test(
    "The incremental ledger and one fold in order give exactly the same numbers", arguments: RecordedRuns.references)
  func shuffled(reference: RecordedRuns.Reference) throws {
    let recording = try RecordedRuns.recording(reference.file)
    let origin = BusTime(nanoseconds: 1_234_567_890_123)
    // Positions break ties, so entries of one moment keep the file's order.
    let entries = recording.ledgerEntries(runStartedAt: origin)
    let end = origin + recording.duration
    let whole = folded(entries, at: end)
    check(entries, at: end, against: whole, "device by device")
    for seed in 1...3 as ClosedRange<UInt64> {
      var generator = Generator(state: seed)
      if entries.count <= Self.smallMax {
        check(entries.shuffled(using: &generator), at: end, against: whole, "shuffled \(seed)")
      }
      // Each entry is late by up to a thousand positions, as after an interrupted link.
      let late = entries.sorted(by: LedgerEntry.precedes).enumerated()
        .map {
          (place: $0.offset + Int.random(in: 0...($0.offset.isMultiple(of: 97) ? 1000 : 2), using: &generator), $0)
        }
        .sorted { ($0.place, $0.1.offset) < ($1.place, $1.1.offset) }
      check(late.map(\.1.element), at: end, against: whole, "late \(seed)")
    }
  }
}
