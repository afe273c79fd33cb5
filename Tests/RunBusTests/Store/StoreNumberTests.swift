import GRDB
import RunCore
import Testing

@testable import RunBus
@testable import RunWire

@Suite("Numbers in a store that no node has written")
struct StoreNumberTests {
  private let scratch: ScratchDirectory
  private let hub = OutboundStreamID(receiver: StoreID(high: 0, low: 7), kind: .messages)
  private let dropped = RunID(high: 5, low: 1)
  private let run = RunID(high: 5, low: 2)
  private let watch: DeviceID = DeviceID("watch")

  init() throws { scratch = try ScratchDirectory() }

  private var path: String { scratch.file("node.sqlite") }

  private func press(_ number: UInt64) -> AcceptedCommand {
    AcceptedCommand(
      command: Command(id: CommandID(high: 9, low: number), kind: .lap, source: .watch), deviceID: watch,
      origin: .ownButton, sequence: number, pressedAt: .zero, arrivedAt: .zero)
  }

  private func row(_ sequence: UInt64) -> StoreOperation {
    let message = AppMessage(id: MessageID(high: 3, low: sequence), name: "zones", body: [1])
    return .enqueue(OutboxRow(stream: hub, sequence: sequence, item: .message(message), since: .zero))
  }

  private func entry(_ position: UInt64, _ event: LedgerEvent, of run: RunID) -> StoreOperation {
    .append(run, LedgerEntry(time: BusTime(nanoseconds: Int64(position)), position: position, event: event))
  }

  private func start(_ position: UInt64, revision: UInt64, of run: RunID) -> StoreOperation {
    let author = Author(source: .watch, deviceID: watch, commandID: CommandID(high: 8, low: position))
    return entry(position, .transition(Transition(kind: .start, revision: revision, change: author)), of: run)
  }

  private func window() -> StoreOperation { .settle(SettledWindow(first: .zero, deadline: .zero, applied: [])) }

  /// All that a node does with numbers: each would go beyond a number that is at the end of its range.
  private func everything(from position: UInt64, sequence: UInt64) -> [StoreOperation] {
    let message = AppMessage(id: MessageID(high: 4, low: position), name: "zones", body: [1])
    return [
      .accept(press(position), .window), .judge(verdict(position + 1), press(position + 1), judgedAt: .zero),
      window(), start(position, revision: position, of: run),
      entry(position + 1, .sample(.heartRate(bpm: 140), DeviceID("device-\(position)") ?? watch), of: run),
      row(sequence), .countTries(hub, from: 1, through: sequence),
      .quarantine(QuarantinedMessage(message: message, receiver: hub.receiver, reason: "no", since: .zero)),
      .shiftRows(by: .seconds(1)), .setClock(real: .zero, bus: .zero), .endJournal(run, at: .zero),
    ]
  }

  private func verdict(_ number: UInt64) -> Verdict {
    Verdict(
      commandID: press(number).command.id, kind: .lap, source: .watch, outcome: .applied, runID: run, term: 1,
      revision: 1, effectiveAt: .zero)
  }

  private func makeStore() async throws {
    let store = try NodeStore(directory: scratch.path)
    try await store.commit(
      [start(1, revision: 1, of: dropped), start(10, revision: 2, of: run)] + everything(from: 20, sequence: 1)
        + [
          .acknowledge(hub, through: 0), .setUnanswered(run, since: .zero), .setRecordsThrough(3),
          .setMemberVersion(1, heard: 1),
          .setWatermark(StreamID(sender: hub.receiver, kind: .commands), StreamMark(sequence: 1)),
          .meet(
            KnownDevice(deviceID: watch, role: .watch, storeID: hub.receiver, heardAt: .zero, identity: .localOwner)),
          .expectRecord(ExpectedRecord(runID: run, isConflicted: false)), .skipChanges(after: 1, through: 2),
        ])
    store.close()
  }

  // Once broken: A number at the end of its range made the hub trap at its start, or sweep for ever.
  @Test(
    "Any number of any table at an end of the integers: the row is left out and named, and the node works on",
    arguments: [Int64.max, .min, -2, (1 << 62) + 1])
  func ends(number: Int64) async throws {
    let columns: [(table: String, column: String, named: String?)] = [
      ("clock", "real", "clock"), ("clock", "bus", "clock"), ("accepted", "position", "accepted"),
      ("verdicts", "position", "verdicts"), ("verdicts", "judged_at", "verdicts"), ("windows", "position", "windows"),
      ("runs", "first_position", "runs"), ("runs", "over_at", "runs"), ("runs", "swept_to", "runs"),
      ("runs", "sweep_until", "runs"), ("journal", "position", nil), ("journal_devices", "number", "journal_devices"),
      ("recovery", "silent_since", "recovery"), ("skipped_changes", "after", "skipped_changes"),
      ("skipped_changes", "through", "skipped_changes"), ("streams", "acknowledged", "streams"),
      ("outbox", "position", "outbox"), ("outbox", "since", "outbox"), ("outbox", "tries", "outbox"),
      ("watermarks", "sequence", "watermarks"), ("quarantine", "since", "quarantine"),
      ("quarantine", "position", "quarantine"), ("devices", "heard_at", "devices"),
      ("paired_version", "version", "version of paired devices"), ("meta", "value", "meta"),
    ]
    let times = ["real", "bus", "judged_at", "over_at", "silent_since", "since", "heard_at"]
    for (table, column, named) in columns where number != -2 || !times.contains(column) {
      let one = try StoreNumberTests()
      try await one.makeStore()
      var condition = "rowid = (SELECT MAX(rowid) FROM \(table))"
      if ["accepted", "recovery", "watermarks", "devices"].contains(table) { condition = "1" }
      if table == "meta" { condition = "key = 'records_through'" }
      try RawDatabase.execute("UPDATE \(table) SET \(column) = \(number) WHERE \(condition)", at: one.path)

      var store = try NodeStore(directory: one.scratch.path)
      let (history, peer) = (try store.history(), try store.peerHistory())
      #expect(history.lastPosition <= 1 << 40 && peer.recordsThrough <= 3, "\(table).\(column)")
      if let named {
        let isNamed = store.notices.contains { $0.contains("of \(named) in the store") }
        #expect(isNamed, "\(table).\(column): \(store.notices)")
      }
      let next = max(history.lastPosition, 100) + 1
      let sequence = (history.delivery.rows.map(\.sequence) + Array(history.delivery.acknowledged.values)).max() ?? 0
      try await store.commit(one.everything(from: next, sequence: sequence + 1) + [.dropJournal(one.dropped)])
      // Closing sweeps what was dropped.
      store.close()
      store = try NodeStore(directory: one.scratch.path)
      let after = try store.history()
      #expect(after.lastPosition == next + 1, "\(table).\(column)")
      #expect(after.accepted.last?.press.command.id == one.press(next).command.id, "\(table).\(column)")
      #expect(after.windows.count >= 1 && after.verdicts.last?.press.command.id == one.press(next + 1).command.id)
      #expect(after.delivery.rows.last?.sequence == sequence + 1, "\(table).\(column)")
      store.close()
      let names = try one.scratch.names()
      #expect(!names.contains { $0.hasPrefix("damaged") }, "\(table).\(column) \(names)")
    }
  }

  @Test("A sweep ends with the journal, wherever its row says that it is", arguments: [0, 1 << 61, Int64.max])
  func sweep(until: Int64) async throws {
    try await makeStore()
    var store = try NodeStore(directory: scratch.path)
    try await store.commit([
      entry(30, .sample(.heartRate(bpm: 140), watch), of: dropped), entry(1 << 50, .gap(.seconds(1)), of: run),
      .dropJournal(dropped),
    ])
    store.close()
    for begin in [1, 1 << 61, Int64.max] {
      let change = "UPDATE runs SET swept_to = \(begin), sweep_until = \(until) WHERE number = 1"
      try RawDatabase.execute(change, at: path)
      store = try NodeStore(directory: scratch.path)
      store.close()
      let left = try await DatabaseQueue(path: path).read { db in
        try Int64.fetchOne(db, sql: "SELECT swept_to FROM runs WHERE number = 1")
      }
      #expect(left == -1)
    }
  }

  @Test("Revisions and times of stored values have bounds", arguments: [false, true])
  func values(isRevision: Bool) async throws {
    let revisions: [UInt64] = [(1 << 62) - (1 << 32) + 1, 1 << 62, 1 << 63, .max]
    for value in isRevision ? revisions : [(1 << 62) + 1, 1 << 63] {
      let one = try StoreNumberTests()
      try await one.makeStore()
      try StoredRows.change("journal", "entry", "kind = 1", at: one.path) { (stored: inout WireStoredEntry) in
        if isRevision { stored.transition.revision = value } else { stored.timeNs = Int64(bitPattern: value) }
      }
      let store = try NodeStore(directory: one.scratch.path)
      let history = try store.history()
      #expect(history.transitions.isEmpty && history.lastSign?.nanoseconds ?? 0 < 1 << 61)
      #expect(store.notices.contains { $0.contains("of journal in the store could not be read") }, "\(store.notices)")
      try await store.commit([one.start(50, revision: 7, of: one.run)])
      #expect(try store.history().transitions.map(\.revision) == [7])
      store.close()
    }
  }

  @Test("A stream whose mark cannot be one keeps its rows", arguments: [-1, Int64.max, 1 << 40])
  func mark(number: Int64) async throws {
    try await makeStore()
    try RawDatabase.execute("UPDATE streams SET acknowledged = \(number)", at: path)
    let store = try NodeStore(directory: scratch.path)
    let delivery = try store.history().delivery
    #expect(delivery.acknowledged.isEmpty && delivery.rows.map(\.sequence) == [1])
    try await store.commit([row(2), .acknowledge(hub, through: 1)])
    let after = try store.history().delivery
    #expect(after.acknowledged == [hub: 1] && after.rows.map(\.sequence) == [2])
    store.close()
  }
}
