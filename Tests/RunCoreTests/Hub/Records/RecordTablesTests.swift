import Testing

@testable import RunCore

@Suite("The tables of records that are to be made, and of journals that are kept")
struct RecordTablesTests {
  private func run(_ number: UInt64) -> RunID { RunID(high: 1, low: number) }
  private func time(_ seconds: Int64) -> BusTime { .zero + .seconds(seconds) }

  // Once broken: Each of thousands of whole runs that came at once looked through all the others.
  @Test("The record that has been due for longest comes first, whatever was added, moved and removed", arguments: 0..<5)
  func expected(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var table = ExpectedRecords()
    for step in 0..<2000 as Range<Int64> {
      let id = run(.random(in: 0..<40, using: &generator))
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: table[id] = nil
      case 1: table[id]?.hasChanged = true
      case 2 where step.isMultiple(of: 50): table.hurry(at: time(step % 7))
      default:
        table[id] = RecordKeeping.Expected(
          record: ExpectedRecord(runID: id, isConflicted: false),
          dueAt: time(.random(in: 0..<20, using: &generator)))
      }
      let first = table.all.min { ($0.value.dueAt, $0.key) < ($1.value.dueAt, $1.key) }
      #expect(table.firstDue == first?.value.dueAt)
      let now = time(.random(in: 0..<20, using: &generator))
      let due = first.flatMap { $0.value.dueAt <= now ? $0.key : nil }
      #expect(table.next(at: now)?.run == due)
    }
  }

  @Test("The oldest journal that meets a condition, and those before a moment", arguments: 0..<5)
  func journals(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var ends: [RunID: BusTime] = [run(1): time(-5), run(2): time(-9)]
    var table = EndedJournals(ends)
    for step in 0..<500 as Range<Int64> {
      let id = run(.random(in: 0..<60, using: &generator))
      if ends[id] != nil {
        let isKnown = ends.removeValue(forKey: id) != nil
        #expect(table.remove(id) == isKnown)
      } else {
        ends[id] = time(step)
        table.add(id, at: time(step))
      }
      #expect(table.remove(run(99)) == false && table[id] == ends[id])
      let odd = ends.filter { !$0.key.low.isMultiple(of: 2) }.values.min()
      #expect(table.firstEnd { !$0.low.isMultiple(of: 2) } == odd)
      let moment = time(.random(in: -10...500, using: &generator))
      #expect(table.runs(endedBefore: moment) == ends.filter { $0.value < moment }.keys.sorted())
    }
  }
}
