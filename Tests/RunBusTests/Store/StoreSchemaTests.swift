import Foundation
import GRDB
import RunCore
import TestSupport
import Testing

@testable import RunBus

/// `Tests/Vectors/stores/schema-N.sqlite` is a store as the first commit with the schema N wrote it. It is never made anew.
///
/// To make the one of a new schema, set `RUNBUS_MAKE_STORE` and run this suite: it writes the file if there is none.
@Suite("The stores of each schema can be read for ever", .serialized)
struct StoreSchemaTests {
  private static let folder = Checkout.root.appending(path: "Tests/Vectors/stores")

  private let run = RunID(high: 0x2122_2324_2526_2728, low: 0x292A_2B2C_2D2E_2F30)
  private let zones = AppMessage(id: MessageID(high: 3, low: 4), name: "zones", body: [0, 0xFF])
  private let hub = OutboundStreamID(receiver: StoreID(high: 0, low: 7), kind: .messages)

  private func id(_ number: UInt64) -> CommandID { CommandID(high: 9, low: number) }

  private func press(_ number: UInt64, _ origin: AcceptedCommand.Origin) -> AcceptedCommand {
    let command = Command(
      id: id(number), kind: .pause, source: .watch, runID: run,
      base: ObservedRevision(revision: number, commandID: id(1)), runOffset: .seconds(5))
    return AcceptedCommand(
      command: command, deviceID: DeviceID("watch"), origin: origin, sequence: number,
      pressedAt: .zero + .seconds(1), arrivedAt: .zero + .seconds(2), isUncertain: true, stopFollows: true)
  }

  private func verdict(_ number: UInt64, _ outcome: Outcome) -> Verdict {
    Verdict(
      commandID: id(number), kind: .pause, source: .watch, outcome: outcome, runID: run, term: 2, revision: 3,
      effectiveAt: .zero + .seconds(3))
  }

  /// Something for every table with stored values.
  private var operations: [StoreOperation] {
    let watch = DeviceID("watch")
    let author = Author(source: .watch, deviceID: watch, commandID: id(1))
    let outcomes: [Outcome] = [
      .applied, .coalesced(into: id(1)), .superseded(by: id(1)), .rejected(.illegal(.paused)), .rejected(.tooOld),
      .unknown,
    ]
    let events: [LedgerEvent] = [
      .transition(Transition(kind: .start, revision: 1, change: author)),
      .setup(RunSetup(weightKilograms: 70.5, isAutoPauseOn: true)), .lap(author), .gap(.seconds(2)),
      .sample(.position(Position(latitude: 50.5, longitude: -8.25, horizontalAccuracyMeters: 4)), DeviceID("phone")),
      .sample(.altitude(meters: 112.5, .barometer), DeviceID("phone")), .sample(.heartRate(bpm: 142.5), watch),
      .sample(.cadence(stepsPerMinute: 170), watch), .sample(.pedometer(meters: 12), watch),
      .sample(.motion(.running), watch),
    ]
    let items: [OutboxItem?] = [
      .command(press(1, .request).command), .message(zones), .verdict(verdict(1, .applied)),
      .sample(Sample(moment: .at(.zero), value: .heartRate(bpm: 142.5)), runID: run),
      .sample(Sample(moment: .runOffset(.seconds(9)), value: .motion(.walking)), runID: nil), nil,
    ]
    var device = PairedDevice(
      key: KeyFingerprint([UInt8](repeating: 7, count: 32))!, deviceID: watch, role: .watch, sources: [.watch, .shell],
      pairedAt: 1.5)
    device.formerNames = [DeviceID("band")]
    let window = SettledWindow(
      first: .zero, deadline: .zero + .seconds(1),
      applied: [SettledWindow.Applied(kind: .pause, commandID: id(1), runID: run, revision: 2, effectiveAt: .zero)])
    let view = Snapshot(
      order: SnapshotOrder(term: 1, revision: 2, tick: 3), phase: .running, runID: run, changedBy: author,
      startedAt: .zero, capturedAt: .zero + .seconds(8),
      metrics: RunMetrics(elapsed: .seconds(3), active: .seconds(2)))
    let mark = HubFailureMark(
      duty: .alarmed,
      lastAlarm: HubLost(
        runID: run, deviceID: DeviceID("phone"), order: SnapshotOrder(term: 1, revision: 2, tick: 3),
        silence: .seconds(6)))
    return [
      .setTerm(2), .accept(press(10, .ownButton), .window), .accept(press(11, .store(hub.receiver)), .late),
      .accept(press(12, .request), .held), .claim(id(10), hub.receiver), .settle(window), .pair(device),
      .quarantine(QuarantinedMessage(message: zones, receiver: hub.receiver, reason: "no", since: .zero)),
      .setLatest(LatestRow(device: watch, key: "goal", version: 5, message: zones, isAcknowledged: true)),
      .receiveLatest(LatestReceived(device: watch, store: hub.receiver, key: "goal", version: 6, message: zones)),
      .setHub(hub.receiver, DeviceID("phone")), .setView(view), .setFailureMark(mark),
      .meet(KnownDevice(deviceID: watch, role: .watch, storeID: hub.receiver, heardAt: .zero)),
      .own(hub.receiver, .localOwner), .setMemberVersion(3, heard: 3), .setAlias(RunID(high: 1, low: 1), of: run),
      .expectRecord(ExpectedRecord(runID: run, isConflicted: false)), .dateRun(run, wallSeconds: 1_700_000_000),
    ]
      + outcomes.enumerated().map { number, outcome in
        .judge(
          verdict(UInt64(number + 20), outcome), press(UInt64(number + 20), .request),
          judgedAt: .zero + .seconds(Int64(number)))
      }
      + events.enumerated().map { number, event in
        .append(
          run, LedgerEntry(time: .zero + .seconds(Int64(number)), position: UInt64(number + 1), event: event))
      }
      + items.enumerated().map { number, item in
        .enqueue(
          OutboxRow(
            stream: hub, sequence: UInt64(number + 1), item: item, since: .zero + .seconds(Int64(number)), tries: 2))
      }
  }

  @Test("A store of schema 1 tells what was written into it")
  func schema1() async throws {
    let file = try await file(of: 1)
    let scratch = try ScratchDirectory()
    try FileManager.default.copyItem(atPath: file.path, toPath: scratch.file("node.sqlite"))
    let store = try NodeStore(directory: scratch.path)
    let memory = NodeStore()
    try await memory.commit(operations)
    #expect(ComparableHistory(try store.history()) == ComparableHistory(try memory.history()))
    #expect(ComparablePeerHistory(try store.peerHistory()) == ComparablePeerHistory(try memory.peerHistory()))
    #expect(try store.history().members == memory.history().members)
    #expect(store.notices == [])
    // It can be worked on.
    try await store.commit([.judge(verdict(10, .applied), press(10, .ownButton), judgedAt: .zero), .setTerm(3)])
    #expect(try store.history().verdicts.count == 7)
  }

  @Test("The tables of this schema are those of its file: another table is another schema")
  func tables() async throws {
    let file = try await file(of: StoreSchema.schema)
    let scratch = try ScratchDirectory()
    try FileManager.default.copyItem(atPath: file.path, toPath: scratch.file("node.sqlite"))
    #expect(try await DatabaseQueue(path: scratch.file("node.sqlite")).read { try StoreSchema.isMade($0) })
  }

  /// The store of a schema. It is made if that is asked for and there is none.
  private func file(of schema: UInt16) async throws -> URL {
    let file = Self.folder.appending(path: "schema-\(schema).sqlite")
    guard ProcessInfo.processInfo.environment["RUNBUS_MAKE_STORE"] != nil, schema == StoreSchema.schema,
      !FileManager.default.fileExists(atPath: file.path)
    else { return file }
    let scratch = try ScratchDirectory()
    let store = try NodeStore(directory: scratch.path)
    try await store.commit(operations)
    store.close()
    try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: scratch.file("node.sqlite"), toPath: file.path)
    return file
  }
}
