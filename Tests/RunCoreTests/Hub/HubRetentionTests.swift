import Testing

@testable import RunCore

@Suite("A journal is kept as long as it is needed")
struct HubRetentionTests {
  private static let day = BusDuration.seconds(86_400)
  private let first = RunID(high: 1, low: 1)
  private let second = RunID(high: 1, low: 2)

  private func own(_ kind: CommandKind, _ number: UInt64, run: RunID? = nil) -> HubCore.Event {
    .press(Command(id: CommandID(high: 9, low: number), kind: kind, source: .phone, runID: run))
  }
  private func heartRate(_ bpm: Double, at seconds: Int64) -> HubCore.Event {
    .sample(Sample(moment: .runOffset(.seconds(seconds)), value: .heartRate(bpm: bpm)))
  }

  /// A run of ten seconds with a reading each second, stopped and settled.
  private func run(_ id: RunID, _ number: UInt64, in stage: inout HubStage) {
    let start = stage.now
    _ = stage.feed(own(.start, number, run: id))
    stage.commitsAll()
    for second in 1...Int64(10) {
      stage.passes(to: start + .seconds(second))
      _ = stage.feed(heartRate(140, at: second))
    }
    _ = stage.feed(own(.stop, number + 1))
    stage.commitsAll()
    stage.passes(to: start + .seconds(20))
  }

  private func dropped(_ stage: HubStage) -> [RunID] {
    stage.durable.compactMap { if case .dropJournal(let run) = $0 { run } else { nil } }
  }
  private func samples(_ stage: HubStage) -> Int {
    stage.durable.count { operation in
      if case .append(_, let entry) = operation, case .sample = entry.event { true } else { false }
    }
  }
  private func ended(_ stage: HubStage, _ run: RunID) -> BusTime? {
    var moments = stage.durable.compactMap { if case .endJournal(run, let at) = $0 { at } else { nil } }
    #expect(moments.count == 1)
    return moments.popLast()
  }
  private func disk(_ stage: HubStage) -> HubDisk {
    var disk = HubDisk()
    disk.commit(stage.durable)
    return disk
  }

  @Test("A journal is deleted a day after its run was over; that of the last run stays until the next begins")
  func day() throws {
    var stage = HubStage.opened()
    run(first, 1, in: &stage)
    run(second, 3, in: &stage)
    let over = try #require(ended(stage, first))
    stage.passes(to: over + Self.day)
    #expect(dropped(stage) == [])
    stage.passes(to: over + Self.day + .milliseconds(1))
    #expect(dropped(stage) == [first])
    stage.passes(to: stage.now + Self.day + Self.day)
    #expect(dropped(stage) == [first])
    run(RunID(high: 1, low: 3), 5, in: &stage)
    #expect(dropped(stage) == [first, second])
    #expect(disk(stage).journal(of: first).count == 2)
  }

  @Test("A journal that is due while the hub is down is deleted after its restart; transitions are still known then")
  func nextLife() throws {
    var stage = HubStage.opened()
    run(first, 1, in: &stage)
    run(second, 3, in: &stage)
    var next = HubStage.opened(history: disk(stage).history, now: stage.now + Self.day + Self.day)
    next.passes(to: next.now + .seconds(1))
    #expect(dropped(next) == [first])
    var both = disk(stage)
    both.commit(next.durable)
    #expect(both.history.transitions == disk(stage).history.transitions)
    #expect(both.history.journal == disk(stage).history.journal)
  }

  @Test("A journal is kept until the record of its last entries is made")
  func expected() throws {
    var stage = HubStage.opened()
    run(first, 1, in: &stage)
    let over = try #require(ended(stage, first))
    stage.passes(to: over + Self.day - .seconds(5))
    // An entry of the first run, which is still the last run, and then one of an earlier run.
    _ = stage.feed(heartRate(180, at: 3))
    run(second, 3, in: &stage)
    stage.passes(to: over + Self.day + .seconds(30))
    #expect(dropped(stage) == [])
    stage.passes(to: over + Self.day + .seconds(120))
    let (kept, gone) = (
      stage.durable.lastIndex { if case .keepRecord(let record, _) = $0 { record.runID == first } else { false } },
      stage.durable.firstIndex(of: .dropJournal(first))
    )
    #expect(try #require(kept) < (try #require(gone)))
    #expect(stage.core.records.kept[first]?.version == 2)
  }

  @Test("A reading of a run that has been over for more than a day is acknowledged and dropped")
  func late() throws {
    var stage = HubStage.opened()
    run(first, 1, in: &stage)
    let (over, count) = (try #require(ended(stage, first)), samples(stage))
    stage.passes(to: over + Self.day)
    _ = stage.feed(heartRate(150, at: 3))
    stage.passes(to: stage.now + .seconds(200))
    #expect(samples(stage) == count + 1)
    #expect(stage.core.records.kept[first]?.version == 2)
    _ = stage.feed(heartRate(160, at: 4))
    stage.passes(to: stage.now + .seconds(200))
    #expect(samples(stage) == count + 1)
    #expect(stage.core.records.kept[first]?.version == 2)
    #expect(stage.core.records.expected.all.isEmpty)
  }

  @Test("The journal of a removed run is deleted at once, also from the state, and later readings are dropped")
  func removed() throws {
    var stage = HubStage.opened()
    run(first, 1, in: &stage)
    #expect(stage.core.authoritative.metrics.averageHeartRateBpm == 140)
    _ = stage.feed(.inquire(.removeRecord(first), 1))
    #expect(stage.commitsAll().contains("answer 1: done"))
    #expect(dropped(stage) == [first])
    #expect(stage.core.authoritative.metrics.averageHeartRateBpm == nil)
    #expect(stage.core.authoritative.metrics.elapsed == .seconds(10))
    let count = samples(stage)
    _ = stage.feed(heartRate(160, at: 4))
    stage.passes(to: stage.now + .seconds(200))
    #expect(samples(stage) == count)

    let kept = disk(stage)
    #expect(kept.journal(of: first).count == 2)
    let next = HubStage.opened(history: kept.history, now: stage.now)
    #expect(next.core.authoritative.metrics == stage.core.authoritative.metrics)
    #expect(next.core.records.kept.isEmpty && next.core.records.expected.all.isEmpty)
    var later = next
    run(second, 3, in: &later)
    #expect(later.core.records.kept.count == 1)
    #expect(dropped(later) == [])
  }

  @Test("A removed run can be imported from its export, also the last one, and stays unchanged")
  func back() throws {
    var stage = HubStage.opened()
    run(first, 1, in: &stage)
    let record = try #require(
      stage.durable.compactMap { if case .keepRecord(let record, _) = $0 { record } else { nil } }.last)
    _ = stage.feed(heartRate(160, at: 3))
    _ = stage.feed(.inquire(.removeRecord(first), 1))
    stage.commitsAll()
    #expect(disk(stage).history.expectedRecords == [])
    let upload = RecordUpload(from: 0, bytes: record.encoded, total: record.encoded.count)
    #expect((stage.feed(.inquire(.putRecord(upload), 2)) + stage.commitsAll()).contains("answer 2: taken"))
    _ = stage.feed(heartRate(180, at: 4))
    stage.passes(to: stage.now + .seconds(200))
    let next = HubStage.opened(history: disk(stage).history, now: stage.now)
    for hub in [stage, next] {
      #expect(hub.core.records.kept[first]?.averageHeartRateBpm == 140)
      #expect(hub.core.records.kept[first]?.version == 3)
      #expect(hub.core.records.expected.all.isEmpty)
    }
  }

  @Test("The journal of a discarded run is also deleted after a day")
  func discarded() throws {
    var stage = HubStage.opened()
    _ = stage.feed(own(.start, 1, run: first))
    stage.commitsAll()
    stage.passes(to: stage.now + .seconds(10))
    var next = HubStage.opened(history: disk(stage).history, now: stage.now + .seconds(30), recovery: .discard)
    next.passes(to: next.now + .seconds(5))
    let over = try #require(ended(next, first))
    #expect(next.core.records.kept.isEmpty)
    run(second, 3, in: &next)
    next.passes(to: over + Self.day + .seconds(1))
    #expect(dropped(next) == [first])
  }
}
