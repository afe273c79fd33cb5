import Foundation
import GRDB
import RunCore
import SwiftProtobuf
import Testing

@testable import RunBus
@testable import RunWire

@Suite("A store that a later version has used, with one more field and one more kind of command")
struct StoreGrowthTests {
  private let scratch: ScratchDirectory
  private let hub = OutboundStreamID(receiver: StoreID(high: 0, low: 7), kind: .messages)
  private let run = RunID(high: 5, low: 5)

  init() throws { scratch = try ScratchDirectory() }

  private var path: String { scratch.file("node.sqlite") }

  private func id(_ number: UInt64) -> CommandID { CommandID(high: 9, low: number) }

  private func command(_ number: UInt64) -> Command { Command(id: id(number), kind: .lap, source: .watch) }

  private func press(_ number: UInt64) -> AcceptedCommand {
    AcceptedCommand(
      command: command(number), deviceID: DeviceID("watch"), origin: .store(StoreID(high: 0, low: 3)), sequence: number,
      pressedAt: BusTime(nanoseconds: Int64(number)), arrivedAt: BusTime(nanoseconds: Int64(number)))
  }

  private func verdict(_ number: UInt64) -> Verdict {
    Verdict(
      commandID: id(number), kind: .lap, source: .watch, outcome: .applied, runID: run, term: 1, revision: 1,
      effectiveAt: BusTime(nanoseconds: 8))
  }

  private let zones = AppMessage(id: MessageID(high: 3, low: 4), name: "zones", body: [1])

  private func entry(_ position: UInt64, _ event: LedgerEvent, of run: RunID? = nil) -> StoreOperation {
    .append(
      run ?? self.run, LedgerEntry(time: BusTime(nanoseconds: Int64(position)), position: position, event: event))
  }

  private func start(_ position: UInt64, revision: UInt64, of run: RunID? = nil) -> StoreOperation {
    let author = Author(source: .watch, deviceID: DeviceID("watch"), commandID: id(100 + position))
    return entry(position, .transition(Transition(kind: .start, revision: revision, change: author)), of: run)
  }

  private func row(_ sequence: UInt64, _ item: OutboxItem) -> StoreOperation {
    .enqueue(OutboxRow(stream: hub, sequence: sequence, item: item, since: .zero))
  }

  private func device(_ name: String) -> PairedDevice {
    PairedDevice(
      key: KeyFingerprint([UInt8](repeating: 7, count: 32))!, deviceID: DeviceID(name)!, role: .watch,
      sources: [.watch], pairedAt: 1)
  }

  /// Makes a store with something of each kind: a run that is on (its revision is the last), one that ended before, and
  /// one whose journal was dropped.
  private func makeStore() async throws {
    let store = try NodeStore(directory: scratch.path)
    let (ended, dropped) = (RunID(high: 5, low: 6), RunID(high: 5, low: 7))
    let lap = LedgerEvent.lap(Author(source: .watch, deviceID: DeviceID("watch"), commandID: id(50)))
    try await store.commit([
      start(1, revision: 1, of: dropped), entry(2, lap, of: dropped), start(3, revision: 2, of: ended),
      entry(4, lap, of: ended), .endJournal(ended, at: .zero), start(5, revision: 3), entry(6, lap),
      entry(7, .sample(.heartRate(bpm: 140), DeviceID("watch"))), entry(8, .gap(.seconds(1))),
      .accept(press(1), .window), .accept(press(2), .held), .judge(verdict(3), press(3), judgedAt: .zero + .seconds(1)),
      .settle(
        SettledWindow(
          first: .zero, deadline: .zero,
          applied: [
            SettledWindow.Applied(kind: .lap, commandID: id(3), runID: run, revision: 1, effectiveAt: .zero)
          ])),
      row(1, .command(command(4))), row(2, .message(zones)), row(3, .verdict(verdict(5))),
      row(4, .sample(Sample(moment: .at(.zero), value: .heartRate(bpm: 140)), runID: run)),
      .quarantine(QuarantinedMessage(message: zones, receiver: hub.receiver, reason: "no", since: .zero)),
      .setLatest(LatestRow(device: DeviceID("watch"), key: "goal", version: 1, message: zones)),
      .receiveLatest(
        LatestReceived(device: DeviceID("watch"), store: hub.receiver, key: "goal", version: 1, message: zones)),
      .pair(device("watch")), .setFailureMark(HubFailureMark(duty: .dismissed)), .dropJournal(dropped),
    ])
    store.close()
  }

  // MARK: Fields

  // Once broken: A field that a later version had added to a command was lost when an earlier hub kept it.
  @Test("A field that is not known is still there when this version has worked on, wherever its value went")
  func fields() async throws {
    try await makeStore()
    let before = try NodeStore(directory: scratch.path)
    let (was, delivery) = (ComparableHistory(try before.history()), try before.history().delivery)
    before.close()
    try StoredRows.change("accepted", "press", at: path) { (stored: inout WireStoredCommand) in
      try stored.addUnknownField()
      try stored.command.addUnknownField()
    }
    try StoredRows.change("verdicts", "verdict", at: path) { (stored: inout WireStoredVerdict) in
      try stored.addUnknownField()
      try stored.verdict.addUnknownField()
    }
    try StoredRows.change("windows", "settled", at: path) { (stored: inout WireStoredWindow) in
      try stored.addUnknownField()
    }
    try StoredRows.change("journal", "entry", at: path) { (stored: inout WireStoredEntry) in
      try stored.addUnknownField()
    }
    try StoredRows.change("outbox", "item", at: path) { (stored: inout WireStoredItem) in
      try stored.addUnknownField()
      switch stored.item {
      case .command: try stored.command.addUnknownField()
      case .sample: try stored.sample.addUnknownField()
      case .message: try stored.message.addUnknownField()
      case .verdict: try stored.verdict.verdict.addUnknownField()
      case nil: break
      }
    }
    try StoredRows.change("quarantine", "message", at: path) { (stored: inout WireStoredQuarantine) in
      try stored.message.addUnknownField()
    }
    for table in ["latest_sent", "latest_received"] {
      try StoredRows.change(table, "value", at: path) { (stored: inout WireStoredLatest) in
        try stored.addUnknownField()
        try stored.value.addUnknownField()
      }
    }
    try StoredRows.change("paired", "device", at: path) { (stored: inout WirePairedDevice) in
      try stored.addUnknownField()
    }
    let written = try ["verdicts.verdict", "windows.settled", "journal.entry", "outbox.item"].map(column)

    let store = try NodeStore(directory: scratch.path)
    let history = try store.history()
    #expect(store.notices == [])
    #expect(ComparableHistory(history).journal == was.journal && ComparableHistory(history).windows == was.windows)
    #expect(history.accepted.map(\.press.command.unknown) == [Array(StoredRows.field), Array(StoredRows.field)])
    #expect(history.delivery.rows.count == delivery.rows.count)
    // It works on with what it has read, as hub and peer do.
    let (first, second) = (history.accepted[0].press, history.accepted[1].press)
    var quarantined = history.delivery.quarantine[0]
    quarantined.reason = "still no"
    var posted = history.delivery.latestSent[0]
    posted.isAcknowledged = true
    var received = history.delivery.latestReceived[0]
    received.store = StoreID(high: 0, low: 9)
    let target = OutboundStreamID(receiver: StoreID(high: 0, low: 8), kind: .messages)
    try await store.commit([
      .reclassify(first.command.id, .late), .judge(verdict(2), second, judgedAt: .zero + .seconds(2)),
      .countTries(hub, from: 1, through: 4), .renumber(hub, to: target), .shiftRows(by: .seconds(1)),
      .quarantine(quarantined), .setLatest(posted), .receiveLatest(received), .pair(device("wrist")),
      .settle(SettledWindow(first: .zero, deadline: .zero, applied: [])), entry(9, .gap(.seconds(2))),
      .enqueue(OutboxRow(stream: target, sequence: 5, item: history.delivery.rows[1].item, since: .zero)),
    ])
    store.close()

    // And back again: all bytes of the later version are there.
    let left = try ["verdicts.verdict", "windows.settled", "journal.entry", "outbox.item"].map(column)
    for (was, now) in zip(written, left) { #expect(Array(now.prefix(was.count)) == was && now.count == was.count + 1) }
    let press: WireStoredCommand = try Codec.open(Array(try column("accepted.press")[0]))
    #expect(press.admission == .late && press.unknownFields.data == StoredRows.field)
    #expect(press.command.unknownFields.data == StoredRows.field)
    let judged: WireStoredVerdict = try Codec.open(Array(left[0][1]))
    #expect(judged.command.command.unknownFields.data == StoredRows.field)
    let item: WireStoredItem = try Codec.open(Array(left[3][4]))
    #expect(item.message.unknownFields.data == StoredRows.field)
    let kept: WireStoredQuarantine = try Codec.open(Array(try column("quarantine.message")[0]))
    #expect(kept.reason == "still no" && kept.message.unknownFields.data == StoredRows.field)
    for column in try column("latest_sent.value") + column("latest_received.value") {
      let value: WireStoredLatest = try Codec.open(Array(column))
      #expect(value.unknownFields.data == StoredRows.field && value.value.unknownFields.data == StoredRows.field)
    }
    let paired: WirePairedDevice = try Codec.open(Array(try column("paired.device")[0]))
    #expect(paired.deviceID == "wrist" && paired.unknownFields.data == StoredRows.field)
  }

  private func column(_ name: String) throws -> [Data] {
    let parts = name.split(separator: ".").map(String.init)
    return try StoredRows.bytes(parts[0], parts[1], at: path)
  }

  // MARK: Kinds

  enum Open: String, CaseIterable {
    case command, admission, origin, item, commandToSend, reading, entry, change
  }

  /// Puts something into a store that only a later version can work on.
  private func plant(_ what: Open) throws -> Int {
    switch what {
    case .command:
      return try StoredRows.change("accepted", "press", "position = 1", at: path) { (stored: inout WireStoredCommand) in
        stored.command.kind = .UNRECOGNIZED(6)
      }
    case .admission:
      return try StoredRows.change("accepted", "press", "position = 2", at: path) { (stored: inout WireStoredCommand) in
        stored.admission = .UNRECOGNIZED(5)
      }
    case .origin:
      return try StoredRows.change("accepted", "press", "position = 2", at: path) { (stored: inout WireStoredCommand) in
        stored.origin = .UNRECOGNIZED(4)
      }
    case .item:
      return try StoredRows.change("outbox", "item", "position % 256 = 2", at: path) { (stored: inout WireStoredItem) in
        stored.item = nil
        try stored.addUnknownField()
      }
    case .commandToSend:
      return try StoredRows.change("outbox", "item", "position % 256 = 1", at: path) { (stored: inout WireStoredItem) in
        stored.command.kind = .UNRECOGNIZED(6)
      }
    case .reading:
      return try StoredRows.change("outbox", "item", "position % 256 = 4", at: path) { (stored: inout WireStoredItem) in
        stored.sample.value = nil
      }
    case .entry:
      // A reading of a later version has a number of its own.
      try RawDatabase.execute("UPDATE journal SET kind = 20 WHERE position = 7", at: path)
      return try StoredRows.change("journal", "entry", "position = 7", at: path) { (stored: inout WireStoredEntry) in
        stored.event = nil
        try stored.addUnknownField()
      }
    case .change:
      return try StoredRows.change("journal", "entry", "position = 5", at: path) { (stored: inout WireStoredEntry) in
        stored.transition.kind = .UNRECOGNIZED(6)
      }
    }
  }

  @Test(
    "What waits and is of a kind that is not known makes a node refuse the store, and no byte of it changes",
    arguments: Open.allCases, [false, true])
  func refused(what: Open, isInLog: Bool) async throws {
    try await makeStore()
    #expect(try plant(what) == 1)
    let copy = try ScratchDirectory()
    if isInLog {
      // A node of the later version that was killed has left a log.
      let queue = try DatabaseQueue(path: path)
      try await queue.write { try $0.execute(sql: "UPDATE meta SET value = 9 WHERE key = 'term'") }
      try copy.takeFiles(of: scratch)
      try? FileManager.default.removeItem(atPath: copy.file("node.sqlite-shm"))
      try queue.close()
    } else {
      try copy.takeFiles(of: scratch)
    }
    #expect(try copy.names().contains("node.sqlite-wal") == isInLog)
    let before = try copy.contents()
    for role in [nil, StoreRole.hub, .peer] {
      let error = #expect(throws: RunBusError.self) {
        try NodeStore(directory: copy.path, device: nil, role: role, options: StoreOptions())
      }
      #expect(error?.code == .storeMismatch)
      #expect(error?.message.hasPrefix("the store in \(copy.path) holds ") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("newer RunBus: update this one; nothing was changed") == true)
      #expect(try copy.contents().filter { $0.key != "lock" } == before)
    }
    guard case .unusable(let reason) = StoreHealth(of: DeviceID("phone"), in: copy.path) else {
      return #expect(Bool(false), "a doctor calls it well")
    }
    #expect(reason.contains("newer RunBus"))
    #expect(try copy.contents().filter { $0.key != "lock" } == before)
  }

  @Test("What is finished and of a kind that is not known is left out and named, and is not deleted before its time")
  func finished() async throws {
    try await makeStore()
    let drop = try NodeStore(directory: scratch.path)
    let whole = ComparableHistory(try drop.history())
    drop.close()
    try StoredRows.change("verdicts", "verdict", at: path) { (stored: inout WireStoredVerdict) in
      stored.command.command.kind = .UNRECOGNIZED(6)
    }
    try StoredRows.change("windows", "settled", at: path) { (stored: inout WireStoredWindow) in
      stored.applied[0].kind = .UNRECOGNIZED(6)
    }
    // The lap of the run that is over.
    try RawDatabase.execute("UPDATE journal SET kind = 20 WHERE position = 4", at: path)
    try StoredRows.change("journal", "entry", "position = 4", at: path) { (stored: inout WireStoredEntry) in
      stored.event = nil
      try stored.addUnknownField()
    }
    let (verdict, window) = (try column("verdicts.verdict"), try column("windows.settled"))

    let ended = RunID(high: 5, low: 6)
    var store = try NodeStore(directory: scratch.path)
    var history = try store.history()
    #expect(history.verdicts.isEmpty && history.windows.isEmpty)
    #expect(ComparableHistory(history).journal == whole.journal && history.transitions == whole.transitions)
    #expect(
      store.notices
        == ["verdicts", "windows"].map {
          "1 row(s) of \($0) in the store are of a newer RunBus and were left out; they stay"
        })
    // Pruning: the verdict goes with those of its age, the entry stays when the journal of its run is dropped.
    try await store.commit([.forgetVerdicts(judgedBefore: .zero + .seconds(1)), .dropJournal(ended)])
    store.close()
    #expect(try column("verdicts.verdict") == verdict && column("windows.settled") == window)
    let positions = try await DatabaseQueue(path: path).read {
      try Int.fetchAll($0, sql: "SELECT position FROM journal")
    }
    #expect(positions == [1, 3, 4, 5, 6, 7, 8])
    store = try NodeStore(directory: scratch.path)
    try await store.commit([.forgetVerdicts(judgedBefore: .zero + .seconds(2))])
    history = try store.history()
    #expect(history.lastPosition == 8)
    store.close()
    #expect(try column("verdicts.verdict").isEmpty)
  }
}
