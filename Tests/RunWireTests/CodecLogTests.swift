import Foundation
import RunCore
import SwiftProtobuf
import TestSupport
import Testing

@testable import RunWire

@Suite("A commit in a store's log is read as it was written")
struct CodecLogTests {
  private static let run = RunID(high: 0x2122_2324_2526_2728, low: 0x292A_2B2C_2D2E_2F30)
  private static let store = StoreID(high: 0x4142_4344_4546_4748, low: 0x494A_4B4C_4D4E_4F50)
  private static let outbound = OutboundStreamID(receiver: store, kind: .messages)
  private static let command = Command(
    id: CommandID(high: 1, low: 2), kind: .pause, source: .watch, runID: run, base: nil, runOffset: nil)
  private static let press = AcceptedCommand(
    command: command, deviceID: DeviceID("watch"), origin: .store(store), sequence: 7,
    pressedAt: BusTime(nanoseconds: 1_000), arrivedAt: BusTime(nanoseconds: 2_000), isUncertain: true,
    stopFollows: true)
  private static let verdict = Verdict(
    commandID: command.id, kind: .pause, source: .watch, outcome: .rejected(.illegal(.paused)), runID: run, term: 2,
    revision: 7, effectiveAt: BusTime(nanoseconds: 3_000))
  private static let message = AppMessage(id: MessageID(high: 3, low: 4), name: "zones", body: [0, 0xFF])
  private static let author = Author(source: .watch, deviceID: DeviceID("watch"), commandID: command.id)

  private static let operations: [StoreOperation] = [
    .accept(press, .late), .claim(command.id, store), .judge(verdict, press, judgedAt: BusTime(nanoseconds: 9)),
    .setWatermark(StreamID(sender: store, kind: .samples), StreamMark(sequence: 4)),
    .setWatermark(
      StreamID(sender: store, kind: .commands), StreamMark(sequence: 5, id: MessageID(high: 1, low: 2))),
    .append(
      run,
      LedgerEntry(
        time: BusTime(nanoseconds: 5), position: 8,
        event: .transition(Transition(kind: .start, revision: 5, change: author)))),
    .append(
      run,
      LedgerEntry(time: BusTime(nanoseconds: 6), position: 9, event: .sample(.heartRate(bpm: 140), DeviceID("watch")))),
    .settle(SettledWindow(first: .zero, deadline: BusTime(nanoseconds: 9), applied: [])),
    .setAlias(run, of: RunID(high: 1, low: 1)), .endJournal(run, at: BusTime(nanoseconds: -7)),
    .setClock(real: BusTime(nanoseconds: 5), bus: BusTime(nanoseconds: 6)),
    .setFailureMark(HubFailureMark(duty: .alarmed)),
    .enqueue(
      OutboxRow(
        stream: outbound, sequence: 3, item: .message(message), since: BusTime(nanoseconds: 4), isUncertain: true,
        tries: 2)),
    .enqueue(OutboxRow(stream: outbound, sequence: 4, item: nil, since: .zero)),
    .acknowledge(outbound, through: 9), .remove(outbound, sequence: 2), .tombstone(outbound, sequence: 3),
    .countTries(outbound, from: 1, through: 4),
    .quarantine(QuarantinedMessage(message: message, receiver: store, reason: "no", since: BusTime(nanoseconds: 3))),
    .setLatest(LatestRow(device: nil, key: "zone", version: 3, message: message, isAcknowledged: true)),
    .receiveLatest(LatestReceived(device: DeviceID("watch"), store: store, key: "zone", version: 2, message: message)),
  ]

  @Test("Each operation that has a form is the same again")
  func roundTrip() throws {
    for operation in Self.operations {
      let bytes = try #require(Codec.logged(LoggedCommit([operation], wallSeconds: 1.5, bootID: "boot")))
      let commit = try Codec.loggedCommit(bytes) { Issue.record("\(operation) cannot be read") }
      #expect(commit.operations == [operation])
      #expect(commit.wallSeconds == 1.5)
      if case .setClock = operation { #expect(commit.bootID == "boot") } else { #expect(commit.bootID == "") }
    }
    let bytes = try #require(Codec.logged(LoggedCommit(Self.operations, wallSeconds: 0, bootID: "")))
    #expect(try Codec.loggedCommit(bytes) {}.operations == Self.operations)
  }

  @Test("The bytes are those of the library, and no field of the schema is left out")
  func sameBytes() throws {
    for operation in Self.operations {
      let bytes = try #require(Codec.logged(LoggedCommit([operation], wallSeconds: 1.5, bootID: "boot")))
      #expect(try WireStoredCommit(serializedBytes: bytes).serializedBytes() == bytes, "\(operation)")
    }
    var fields: Set<Int> = []
    for operation in Self.operations {
      let bytes = try #require(Codec.logged(LoggedCommit([operation], wallSeconds: 0, bootID: "")))
      fields.formUnion(try numbers(in: try #require(try WireStoredCommit(serializedBytes: bytes).operations.first)))
    }
    // A field that is added to the schema is missing here until the writer has it.
    let schema = try String(contentsOfFile: Checkout.path("Sources/RunWire/runbus.proto"), encoding: .utf8)
    let body = try #require(
      schema.components(separatedBy: "message StoredOperation {").last?.components(separatedBy: "}")[0])
    let numbers = body.split(separator: "\n").compactMap { line in
      line.contains("=") ? Int(line.split(separator: "=")[1].filter(\.isNumber)) : nil
    }
    #expect(Set(numbers) == fields)
  }

  /// The numbers of the fields that an operation has, from its bytes.
  private func numbers(in operation: WireStoredOperation) throws -> Set<Int> {
    let bytes: [UInt8] = try operation.serializedBytes()
    var (place, found) = (0, Set<Int>())
    func varint() -> Int {
      var (value, shift) = (0, 0)
      while true {
        let byte = bytes[place]
        place += 1
        value |= shift < 63 ? Int(byte & 0x7F) << shift : 0
        shift += 7
        if byte < 0x80 { return value }
      }
    }
    while place < bytes.count {
      let tag = varint()
      found.insert(tag >> 3)
      let value = varint()
      if tag & 7 == 2 { place += value }
    }
    return found
  }

  @Test("A commit of which one operation has no form has none")
  func withoutForm() {
    #expect(Codec.logged(LoggedCommit(Self.operations + [.setTerm(1)], wallSeconds: 0, bootID: "")) == nil)
  }

  @Test("An operation that breaks a rule is left out; one of a later version is told")
  func refused() throws {
    // An alias without its run.
    var unreadable = 0
    let commit = try Codec.loggedCommit([0x0A, 0x02, 0x08, 0x07, 0x0A, 0x04, 0x08, 0x09, 0x38, 0x05]) {
      unreadable += 1
    }
    #expect(unreadable == 1)
    #expect(commit.operations == [.setClock(real: BusTime(nanoseconds: 5), bus: .zero)])
    #expect(throws: StoredError.unknownKind("a commit")) { try Codec.loggedCommit([0x0A, 0x02, 0x08, 99]) {} }
    #expect(throws: StoredError.damaged) { try Codec.loggedCommit([0x0A, 0x7F]) {} }
  }

  @Test("The bytes of the first log do not change")
  func golden() throws {
    let operations = [Self.operations[3], Self.operations[9], Self.operations[15]]
    let bytes = try #require(Codec.logged(LoggedCommit(operations, wallSeconds: 2, bootID: "")))
    let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(
      hex == """
        0a18080412104142434445464748494a4b4c4d4e4f50200228040a1f080812102122232425262728292a2b2c2d2e2f3038f9\
        ffffffffffffffff010a18080e12104142434445464748494a4b4c4d4e4f502003280211\
        0000000000000040
        """)
  }
}
