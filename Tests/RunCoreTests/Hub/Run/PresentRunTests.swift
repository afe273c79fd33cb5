@testable import RunCore
import Testing

@Suite("The run that a hub shows")
struct PresentRunTests {
  private static let id = RunID.number(1)
  private var run = PresentRun(metrics: MetricsSettings(), entries: [], lastPosition: 7)

  private func start() -> LedgerEvent {
    .transition(
      Transition(kind: .start, revision: 1, change: Author(source: .watch, deviceID: .watch, commandID: .number(1))))
  }

  @Test("Entries of all runs are numbered on from the last one in the store")
  mutating func positions() {
    #expect(run.entry(at: .zero, start()).position == 8)
    #expect(run.entry(at: .zero, start()).position == 9)
    #expect(run.ledger.entries.isEmpty)
  }

  @Test("The route is not published before the first subscription; a new run publishes an empty one")
  mutating func route() {
    #expect(run.takeRouteParts(of: Self.id, term: 1).isEmpty)
    run.followRoute()
    #expect(run.takeRouteParts(of: Self.id, term: 1).isEmpty)
    #expect(run.routePart(of: Self.id, term: 1, from: 0).number == 1)
    run.begin()
    let parts = run.takeRouteParts(of: Self.id, term: 1)
    #expect(parts.map(\.number) == [2] && parts.map(\.total) == [0])
    run.followRoute()
    #expect(run.takeRouteParts(of: Self.id, term: 1).isEmpty)
    #expect(run.takeRouteParts(of: nil, term: 1).isEmpty)
  }

  // Once broken: When the record of the last run was removed, its active time rose by the time in which its phone had
  // been away, because the gaps of the hub were erased together with the readings.
  @Test("An erased run keeps its time line, so that its clock shows what it showed, and nothing else")
  mutating func erased() {
    let transition = run.entry(at: .zero, start())
    let gap = run.entry(at: .zero + .seconds(1), .gap(.seconds(1)))
    let watch = Author(source: .watch, deviceID: .watch, commandID: .number(2))
    for entry in [transition, gap, run.entry(at: .zero + .seconds(3), .lap(watch))] { run.insert(entry) }
    run.erase()
    #expect(run.ledger.entries == [transition, gap])
  }
}
