import RunCore
import Synchronization
import Testing

@testable import RunBus

@Suite("What a store was told, it tells again")
struct StoreRoundTripTests {
  @Test("Random batches read back the same from disk, from disk after reopening, and from memory", arguments: 1...16)
  func roundTrip(seed: UInt64) async throws {
    let scratch = try ScratchDirectory()
    let memory = NodeStore()
    var disk = try NodeStore(directory: scratch.path)
    var generator = OperationGenerator(seed: seed)
    for _ in 0..<4 {
      for _ in 0..<30 {
        let batch = generator.batch()
        try await memory.commit(batch)
        try await disk.commit(batch)
      }
      let expected = ComparableHistory(try memory.history())
      let expectedPeer = ComparablePeerHistory(try memory.peerHistory())
      #expect(ComparableHistory(try disk.history()) == expected)
      #expect(ComparablePeerHistory(try disk.peerHistory()) == expectedPeer)
      disk.close()
      disk = try NodeStore(directory: scratch.path)
      #expect(ComparableHistory(try disk.history()) == expected)
      #expect(ComparablePeerHistory(try disk.peerHistory()) == expectedPeer)
      #expect(try disk.termSeen() == expected.term)
      #expect(disk.notices == [])
    }
  }

  @Test("Only the newest windows and transitions are told, oldest first")
  func bounds() async throws {
    let scratch = try ScratchDirectory()
    let disk = try NodeStore(directory: scratch.path)
    let memory = NodeStore()
    var generator = OperationGenerator(seed: 7)
    let change = Author(
      source: .phone, deviceID: DeviceID("phone"), commandID: CommandID(high: 0, low: 1))
    let run = RunID(high: 1, low: 1)
    let operations = (1...UInt64(600)).flatMap { number -> [StoreOperation] in
      let transition = Transition(kind: .pause, revision: number, change: change)
      let entry = LedgerEntry(time: .zero, position: number, event: .transition(transition))
      return [.settle(generator.window()), .append(run, entry)]
    }
    for store in [disk, memory] {
      try await store.commit(operations)
      let history = try store.history()
      #expect(history.windows.count == ControlHistory.windowsMax)
      #expect(history.transitions.map(\.revision) == Array(600 - UInt64(ControlHistory.transitionsMax) + 1...600))
      #expect(history.journal.count == 600)
    }
    #expect(try disk.history().windows == memory.history().windows)
  }

  @Test("Many amendments do not push the transitions out of sight")
  func amendments() async throws {
    let scratch = try ScratchDirectory()
    let options = StoreOptions(beforeCommit: { operations throws(StoreFault) in
      if operations.contains(.setTerm(13)) { throw .full }
    })
    let change = Author(
      source: .phone, deviceID: DeviceID("phone"), commandID: CommandID(high: 0, low: 1))
    let count = UInt64(ControlHistory.transitionsMax)
    // A run of two transitions, more amendments than are remembered, then another run.
    let revisions = [1, 2] + Array(repeating: 2, count: Int(count) + 40) + [3]
    let operations = revisions.enumerated().map { index, revision -> StoreOperation in
      let transition = Transition(kind: .pause, revision: UInt64(revision), change: change)
      return .append(
        RunID(high: 0, low: UInt64(revision)),
        LedgerEntry(
          time: BusTime(nanoseconds: Int64(index)), position: UInt64(index) + 1, event: .transition(transition)))
    }
    for store in [
      try NodeStore(directory: scratch.path, device: nil, options: options), NodeStore(options: options),
    ] {
      // A commit that fails in between makes no revision.
      try await store.commit(Array(operations.prefix(100)))
      let last = try #require(operations.last)
      await #expect(throws: StoreFault.full) { try await store.commit([last, .setTerm(13)]) }
      try await store.commit(Array(operations.dropFirst(100)))
      let history = try store.history()
      #expect(history.transitions.count == Int(count) + 3)
      #expect(history.transitions.prefix(3).map(\.revision) == [1, 2, 2])
      #expect(history.transitions.map(\.effectiveAt) == history.transitions.map(\.effectiveAt).sorted())
      #expect(history.presentRun == RunID(high: 0, low: 3))
    }
  }

  // Once broken: A store in memory told a journal, and the last transitions, in the order of writing and not of
  // positions, because it interpreted operations by itself, apart from the file store and from the disks of the tests.
  @Test("Entries that were written out of order are told by position, on disk and in memory")
  func positions() async throws {
    let scratch = try ScratchDirectory()
    let change = Author(
      source: .phone, deviceID: DeviceID("phone"), commandID: CommandID(high: 0, low: 1))
    let run = RunID(high: 0, low: 1)
    func append(_ position: UInt64, _ event: LedgerEvent) -> StoreOperation {
      .append(run, LedgerEntry(time: BusTime(nanoseconds: Int64(position)), position: position, event: event))
    }
    func transition(_ revision: UInt64) -> LedgerEvent {
      .transition(Transition(kind: .pause, revision: revision, change: change))
    }
    // The first entry of a run has its lowest position. After it a settlement may be written before readings that wait
    // for their commit.
    let operations = [
      append(1, transition(1)), append(4, .sample(.heartRate(bpm: 140), change.deviceID)), append(7, transition(2)),
      append(6, transition(2)), append(5, transition(2)), append(3, .gap(.seconds(1))), append(2, .lap(change)),
    ]
    for store in [try NodeStore(directory: scratch.path), NodeStore()] {
      try await store.commit(operations)
      let history = try store.history()
      #expect(history.journal.map(\.position) == [1, 2, 3, 4, 5, 6, 7])
      #expect(history.transitions.map(\.effectiveAt.nanoseconds) == [1, 5, 6, 7])
      #expect(history.lastPosition == 7)
      try await store.commit([.dropJournal(run), append(9, transition(3)), append(8, .lap(change))])
      #expect(try store.history().journal.map(\.position) == [1, 3, 5, 6, 7, 9])
      #expect(try store.history().lastPosition == 9)
    }
  }

  // Once broken: A store in memory kept every range of skipped changes, without a bound.
  @Test("Only the newest ranges of skipped changes are told, whatever the order they came in")
  func skips() async throws {
    let scratch = try ScratchDirectory()
    let count = UInt64(ControlHistory.skipsMax)
    // One range lies below all that follow, and comes when the list is full.
    let operations = ((2...count + 9).map { $0 } + [1]).map { StoreOperation.skipChanges(after: $0, through: $0 + 1) }
    for store in [try NodeStore(directory: scratch.path), NodeStore()] {
      try await store.commit(operations)
      #expect(try store.history().skippedChanges.keys.sorted() == Array(10...count + 9))
    }
  }

  @Test("The journal told is that of the run of the last transition")
  func lastRun() async throws {
    let scratch = try ScratchDirectory()
    let store = try NodeStore(directory: scratch.path)
    let change = Author(
      source: .phone, deviceID: DeviceID("phone"), commandID: CommandID(high: 0, low: 1))
    let start = LedgerEvent.transition(Transition(kind: .start, revision: 1, change: change))
    let again = LedgerEvent.transition(Transition(kind: .start, revision: 2, change: change))
    let beat = LedgerEvent.sample(.heartRate(bpm: 140), change.deviceID)
    let (first, second) = (RunID(high: 0, low: 1), RunID(high: 0, low: 2))
    let events: [(RunID, LedgerEvent)] = [
      (first, start), (first, beat), (second, beat), (second, again), (first, beat), (second, beat),
    ]
    try await store.commit(
      events.enumerated().map { index, event in
        .append(event.0, LedgerEntry(time: .zero, position: UInt64(index) + 1, event: event.1))
      })
    let history = try store.history()
    #expect(history.journal.map(\.position) == [3, 4, 6])
    #expect(history.lastPosition == 6)
  }

  @Test("Identity stays over lives; the clock mark says which boot and wall time it was taken in")
  func identity() async throws {
    let scratch = try ScratchDirectory()
    let first = try NodeStore(directory: scratch.path)
    let ids = (first.nodeID, first.storeID)
    #expect(try first.history().clock == nil)
    #expect(try first.history().term == 0)
    try await first.commit([.setClock(real: BusTime(nanoseconds: 5), bus: BusTime(nanoseconds: 9))])
    first.close()
    let second = try NodeStore(directory: scratch.path)
    #expect((second.nodeID, second.storeID) == ids)
    let mark = try #require(try second.history().clock)
    #expect(mark.bootID == MachineBoot.id)
    #expect(mark.wallSeconds > 1.7e9)
    #expect(NodeStore().storeID != NodeStore().storeID)
  }

  @Test("Batches are written and completed in the order in which they were handed over")
  func order() async throws {
    let scratch = try ScratchDirectory()
    for store in [try NodeStore(directory: scratch.path), NodeStore()] {
      let completed = Mutex<[UInt64]>([])
      await withCheckedContinuation { continuation in
        for number in 1...UInt64(200) {
          store.commit([.setTerm(number)]) { _ in
            let count = completed.withLock { numbers in
              numbers.append(number)
              return numbers.count
            }
            if count == 200 { continuation.resume() }
          }
        }
      }
      #expect(completed.withLock { $0 } == Array(1...200))
      #expect(try store.termSeen() == 200)
    }
  }
}
