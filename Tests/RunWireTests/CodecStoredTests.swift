import RunCore
import SwiftProtobuf
import Testing

@testable import RunWire

/// Bytes of the first schema of stores. If one of these tests fails, stores that exist cannot be read any more: revert the
/// schema.
@Suite("What is stored does not change")
struct CodecStoredTests {
  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static let id = CommandID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
  private static let run = RunID(high: 0x2122_2324_2526_2728, low: 0x292A_2B2C_2D2E_2F30)
  private static let store = StoreID(high: 0x4142_4344_4546_4748, low: 0x494A_4B4C_4D4E_4F50)
  private static let command = Command(
    id: id, kind: .pause, source: .watch, runID: run,
    base: ObservedRevision(revision: 1, commandID: CommandID(high: 0, low: 1)), runOffset: .seconds(12))
  private static let press = AcceptedCommand(
    command: command, deviceID: DeviceID("watch"), origin: .store(store), sequence: 7,
    pressedAt: BusTime(nanoseconds: 1_000), arrivedAt: BusTime(nanoseconds: 2_000), isUncertain: true,
    stopFollows: true)
  private static let verdict = Verdict(
    commandID: id, kind: .pause, source: .watch, outcome: .rejected(.illegal(.paused)), runID: run, term: 2,
    revision: 7,
    effectiveAt: BusTime(nanoseconds: 3_000))
  private static let window = SettledWindow(
    first: BusTime(nanoseconds: 5), deadline: BusTime(nanoseconds: 9),
    applied: [
      SettledWindow.Applied(
        kind: .lap, commandID: id, runID: run, revision: 3, effectiveAt: BusTime(nanoseconds: 6))
    ])
  private static let author = Author(source: .watch, deviceID: DeviceID("watch"), commandID: id)
  private static let zones = AppMessage(id: MessageID(high: 3, low: 4), name: "zones", body: [0, 0xFF])
  private static let phone = DeviceID("phone")

  /// The golden bytes, by what they are.
  private static let golden: [(what: String, bytes: [UInt8], hex: String)] = [
    (
      "a waiting command", Codec.stored(press, .late),
      """
      0a490a100102030405060708090a0b0c0d0e0f1010021a05776174636822102122232425262728292a2b2c2d2e2f302a\
      1408011210000000000000000000000000000000013080f085da2c12057761746368180222104142434445464748494a\
      4b4c4d4e4f50280730e80738d00f4001480150039be27945
      """
    ),
    (
      "a verdict", Codec.stored(verdict, of: press, judgedAt: BusTime(nanoseconds: 4_000)),
      """
      0a720a490a100102030405060708090a0b0c0d0e0f1010021a05776174636822102122232425262728292a2b2c2d2e2f\
      302a1408011210000000000000000000000000000000013080f085da2c12057761746368180222104142434445464748\
      494a4b4c4d4e4f50280730e80738d00f40014801121f2204080110032a102122232425262728292a2b2c2d2e2f303002\
      380740b81718a01f21625cba
      """
    ),
    (
      "a window", Codec.stored(window),
      """
      080510091a2a080512100102030405060708090a0b0c0d0e0f101a102122232425262728292a2b2c2d2e2f3020032806\
      cf968b8a
      """
    ),
    (
      "a transition",
      Codec.stored(
        .transition(Transition(kind: .start, revision: 5, change: author)), at: BusTime(nanoseconds: 300), device: 0),
      "08ac021226080110051a200a057761746368120577617463681a100102030405060708090a0b0c0d0e0f1063c90c1f"
    ),
    (
      "a lap", Codec.stored(.lap(author), at: BusTime(nanoseconds: 300), device: 0),
      "08ac021a200a057761746368120577617463681a100102030405060708090a0b0c0d0e0f1034cb84fb"
    ),
    ("a gap", Codec.stored(.gap(.seconds(2)), at: BusTime(nanoseconds: 300), device: 0), "08ac022080a8d6b9073460801d"),
    (
      "a setup",
      Codec.stored(
        .setup(RunSetup(weightKilograms: 70.5, isAutoPauseOn: true, usesPedometer: true)),
        at: BusTime(nanoseconds: 300), device: 0), "08ac022a0d090000000000a05140100118018494f996"
    ),
    (
      "a position",
      Codec.stored(
        .sample(
          .position(Position(latitude: 50.5, longitude: -8.25, horizontalAccuracyMeters: 4)), phone),
        at: BusTime(nanoseconds: 300), device: 1),
      "08ac02321b0900000000004049401100000000008020c019000000000000104060012dc41d23"
    ),
    (
      "an altitude",
      Codec.stored(
        .sample(.altitude(meters: 112.5, .barometer), phone), at: BusTime(nanoseconds: 300), device: 2),
      "08ac023a0b090000000000205c4010026002ea951e1c"
    ),
    (
      "a heart rate",
      Codec.stored(.sample(.heartRate(bpm: 142.5), phone), at: BusTime(nanoseconds: 300), device: 2),
      "08ac02410000000000d061406002d9c2c3d4"
    ),
    (
      "a cadence",
      Codec.stored(.sample(.cadence(stepsPerMinute: 170), phone), at: BusTime(nanoseconds: 300), device: 2),
      "08ac02490000000000406540600269225fe2"
    ),
    (
      "a pedometer's metres",
      Codec.stored(.sample(.pedometer(meters: 0), phone), at: BusTime(nanoseconds: 300), device: 2),
      "08ac0251000000000000000060029cc02139"
    ),
    (
      "a motion",
      Codec.stored(.sample(.motion(.running), phone), at: BusTime(nanoseconds: 300), device: 2),
      "08ac0258026002954c7054"
    ),
    ("a device of readings", Codec.stored(phone), "0a0570686f6e65f3153c1b"),
    (
      "a command to send", Codec.stored(.command(command)),
      """
      0a490a100102030405060708090a0b0c0d0e0f1010021a05776174636822102122232425262728292a2b2c2d2e2f302a\
      1408011210000000000000000000000000000000013080f085da2c58634ab3
      """
    ),
    (
      "a reading to send",
      Codec.stored(.sample(Sample(moment: .at(.zero), value: .heartRate(bpm: 142.5)), runID: run)),
      "121d1000310000000000d0614052102122232425262728292a2b2c2d2e2f30f0aa70ea"
    ),
    (
      "a message to send", Codec.stored(.message(zones)),
      "1a1d0a100000000000000003000000000000000412057a6f6e65731a0200ff123300fa"
    ),
    (
      "a verdict to send", Codec.stored(.verdict(verdict)),
      """
      223c0a100102030405060708090a0b0c0d0e0f1010021a057761746368321f2204080110032a10212223242526272829\
      2a2b2c2d2e2f303002380740b817532a076c
      """
    ),
    (
      "a message in quarantine",
      Codec.stored(QuarantinedMessage(message: zones, receiver: store, reason: "no", since: .zero)),
      """
      0a1d0a100000000000000003000000000000000412057a6f6e65731a0200ff12104142434445464748494a4b4c4d4e4f\
      501a026e6f3c98c184
      """
    ),
    (
      "a newest value that was posted",
      Codec.stored(LatestRow(device: phone, key: "goal", version: 5, message: zones, isAcknowledged: true)),
      """
      0a04676f616c10051a1d0a100000000000000003000000000000000412057a6f6e65731a0200ff220570686f6e652801\
      dd7ec62d
      """
    ),
    (
      "a newest value that was received",
      Codec.stored(LatestReceived(device: phone, store: store, key: "goal", version: 5, message: zones)),
      """
      0a04676f616c10051a1d0a100000000000000003000000000000000412057a6f6e65731a0200ff220570686f6e653210\
      4142434445464748494a4b4c4d4e4f50f33da43c
      """
    ),
    (
      "a view",
      Codec.stored(
        Snapshot(
          order: SnapshotOrder(term: 1, revision: 2, tick: 3), phase: .running, runID: run, changedBy: author,
          startedAt: BusTime(nanoseconds: 7), capturedAt: BusTime(nanoseconds: 8),
          metrics: RunMetrics(elapsed: .seconds(3), active: .seconds(2)))),
      """
      0a500a0608011002180310021a102122232425262728292a2b2c2d2e2f3022200a057761746368120577617463681a10\
      0102030405060708090a0b0c0d0e0f10280730083a0c0880bcc1960b1080a8d6b907c3e93b4d
      """
    ),
    (
      "a failure mark",
      Codec.stored(
        HubFailureMark(
          duty: .alarmed,
          lastAlarm: HubLost(
            runID: run, deviceID: phone, order: SnapshotOrder(term: 1, revision: 2, tick: 3), silence: .seconds(6)))),
      "080212270a102122232425262728292a2b2c2d2e2f30120570686f6e651a060801100218032080f882ad162da41d6f"
    ),
    (
      "a command in a spool",
      Codec.stored(
        Codec.StoredPress(
          command: command, deviceID: phone, pressedAt: BusTime(nanoseconds: 9), bootID: "b", wallSeconds: 1.5,
          tries: 2)),
      """
      0a490a100102030405060708090a0b0c0d0e0f1010021a05776174636822102122232425262728292a2b2c2d2e2f302a\
      1408011210000000000000000000000000000000013080f085da2c120570686f6e651a050a0162100921000000000000\
      f83f280269e17442
      """
    ),
    (
      "a start with a goal",
      Codec.stored(
        .transition(
          Transition(kind: .start, revision: 5, change: author, goal: RunGoal(time: .seconds(1800)))),
        at: BusTime(nanoseconds: 300), device: 0),
      """
      08ac02122d080110051a200a057761746368120577617463681a100102030405060708090a0b0c0d0e0f102080a0f1c2\
      b134db5da423
      """
    ),
  ]

  @Test("The bytes of each value", arguments: golden.indices)
  func bytes(index: Int) {
    let (what, bytes, expected) = Self.golden[index]
    #expect(hex(bytes) == expected, "\(what)")
  }

  @Test("Each value is read as it was written")
  func reading() throws {
    let bytes = Self.golden.map(\.bytes)
    let accepted = try Codec.accepted(bytes[0])
    #expect(accepted.press == Self.press && accepted.admission == .late)
    let readmitted = try Codec.accepted(try Codec.readmitted(bytes[0], as: .held))
    #expect(readmitted.press == Self.press && readmitted.admission == .held)
    let judged = try Codec.verdict(bytes[1])
    #expect(judged.verdict == Self.verdict && judged.press == Self.press && judged.judgedAt.nanoseconds == 4_000)
    #expect(try Codec.window(bytes[2]) == Self.window)
    #expect(Codec.revision(bytes[3]) == 5 && Codec.revision(bytes[4]) == nil)
    for index in 3...12 {
      let entry = try Codec.entry(bytes[index]) { [1: Self.phone, 2: Self.phone][$0] }
      #expect(entry.time.nanoseconds == 300)
      let device: UInt32 = index < 7 ? 0 : index == 7 ? 1 : 2
      #expect(Codec.stored(entry.event, at: entry.time, device: device) == bytes[index])
    }
    #expect(throws: StoredError.damaged) { try Codec.entry(bytes[7]) { _ in nil } }
    #expect(try Codec.deviceName(bytes[13]) == Self.phone)
    for index in 14...17 { #expect(Codec.stored(try Codec.item(bytes[index])) == bytes[index]) }
    #expect(Codec.stored(try Codec.quarantined(bytes[18], since: .zero)) == bytes[18])
    #expect(Codec.stored(try Codec.latestSent(bytes[19])) == bytes[19])
    #expect(Codec.stored(try Codec.latestReceived(bytes[20])) == bytes[20])
    #expect(Codec.stored(try Codec.view(bytes[21])) == bytes[21])
    #expect(Codec.stored(try Codec.failureMark(bytes[22])) == bytes[22])
    #expect(Codec.stored(try Codec.press(bytes[23])) == bytes[23])
    let start = try Codec.entry(bytes[24]) { _ in nil }
    #expect(Codec.stored(start.event, at: start.time, device: 0) == bytes[24])
  }

  @Test("The checksum is CRC-32C, whatever the length is")
  func checksum() {
    #expect(CRC32C.sum(Array("123456789".utf8)) == 0xE306_9283)
    #expect(CRC32C.sum([]) == 0)
    #expect(CRC32C.sum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
    #expect(CRC32C.sum(Array(0..<32)) == 0x46DD_794E)
  }

  @Test("A changed bit, a byte less or a byte more is damage", arguments: golden.indices)
  func damage(index: Int) {
    let bytes = Self.golden[index].bytes
    func isDamaged(_ bytes: [UInt8]) -> Bool {
      do {
        _ = try Codec.open(bytes) as WireStoredEntry
        return false
      } catch { return error == .damaged }
    }
    for place in bytes.indices {
      var other = bytes
      other[place] ^= 1 << UInt8(place % 8)
      #expect(isDamaged(other))
    }
    #expect(isDamaged(Array(bytes.dropLast())) && isDamaged(bytes + [0]) && isDamaged([]) && isDamaged([1, 2, 3]))
  }

  // MARK: A later version

  private static let field: [UInt8] = [0xA2, 0x06, 2, 7, 7]

  /// A stored value as a later version would write it.
  private func later<Stored: Message>(
    _ bytes: [UInt8], _ change: (inout Stored) throws -> Void
  ) throws -> [UInt8] {
    var message: Stored = try Codec.open(bytes)
    try change(&message)
    return Codec.stored(message)
  }

  @Test("A kind that is not known is told from damage")
  func unknownKinds() throws {
    let bytes = Self.golden.map(\.bytes)
    func kind(_ read: () throws -> Void) -> Bool {
      do {
        try read()
        return false
      } catch {
        if case StoredError.unknownKind? = error as? StoredError { return true }
        return false
      }
    }
    let ofKind = try later(bytes[0]) { (message: inout WireStoredCommand) in message.command.kind = .UNRECOGNIZED(9) }
    let admitted = try later(bytes[0]) { (message: inout WireStoredCommand) in message.admission = .UNRECOGNIZED(9) }
    let from = try later(bytes[0]) { (message: inout WireStoredCommand) in message.origin = .UNRECOGNIZED(9) }
    for bytes in [ofKind, admitted, from] { #expect(kind { _ = try Codec.accepted(bytes) }) }
    let judged = try later(bytes[1]) { (message: inout WireStoredVerdict) in
      message.command.command.kind = .UNRECOGNIZED(9)
    }
    #expect(kind { _ = try Codec.verdict(judged) })
    let window = try later(bytes[2]) { (message: inout WireStoredWindow) in message.applied[0].kind = .UNRECOGNIZED(9) }
    #expect(kind { _ = try Codec.window(window) })
    let entry = try later(bytes[5]) { (message: inout WireStoredEntry) in
      message.event = nil
      try message.merge(serializedBytes: Self.field)
    }
    #expect(kind { _ = try Codec.entry(entry) { _ in nil } })
    let item = try later(bytes[16]) { (message: inout WireStoredItem) in
      message.item = nil
      try message.merge(serializedBytes: Self.field)
    }
    #expect(kind { _ = try Codec.item(item) })
    let reading = try later(bytes[15]) { (message: inout WireStoredItem) in message.sample.value = nil }
    #expect(kind { _ = try Codec.item(reading) })
  }

  @Test("Fields of a later version stay with a value that is passed on; more than 256 bytes of them are left out")
  func unknownFields() throws {
    var command = WireTransmission()
    command.command = Codec.message(Self.command)
    command.sequence = 1
    for (count, isKept) in [(1, true), (64, true), (252, true), (254, false), (1000, false)] {
      let text = [UInt8](repeating: 0x61, count: count)
      var field: [UInt8] = [0xA2, 0x06]
      field += count < 128 ? [UInt8(count)] : [UInt8(count & 127 | 128), UInt8(count >> 7)]
      field += text
      var frame = WirePeerFrame()
      frame.command = command
      try frame.command.command.merge(serializedBytes: field)
      guard case .command(let read) = try Codec.peerFrame(try frame.serializedBytes()).message else {
        Issue.record("not a command")
        return
      }
      #expect(read.command.unknown == (isKept ? field : []), "\(count)")
      // From the frame into the hub's rows and out of them.
      let press = AcceptedCommand(
        command: read.command, deviceID: DeviceID("watch"), origin: .request, sequence: 1, pressedAt: .zero,
        arrivedAt: .zero)
      #expect(try Codec.accepted(Codec.stored(press, .window)).press.command == read.command)
      #expect(try Codec.item(Codec.stored(.command(read.command))) == .command(read.command))
    }
    // What a later version stored is in the frame that carries it.
    let bytes = Self.golden.map(\.bytes)
    let message = try later(bytes[16]) { (stored: inout WireStoredItem) in
      try stored.message.merge(serializedBytes: Self.field)
    }
    let verdict = try later(bytes[17]) { (stored: inout WireStoredItem) in
      try stored.verdict.verdict.merge(serializedBytes: Self.field)
    }
    let reading = try later(bytes[15]) { (stored: inout WireStoredItem) in
      try stored.sample.merge(serializedBytes: Self.field)
    }
    guard case .message(let content) = try Codec.item(message), case .verdict(let judged) = try Codec.item(verdict),
      case .sample(let sample, _) = try Codec.item(reading)
    else { return #expect(Bool(false), "other items") }
    #expect(content.unknown == Self.field && judged.unknown == Self.field && sample.unknown == Self.field)
    #expect(Codec.message(content).unknownFields.data.elementsEqual(Self.field))
    #expect(Codec.message(judged).unknownFields.data.elementsEqual(Self.field))
    #expect(OutboxItem.message(content).size == OutboxItem.message(Self.zones).size + Self.field.count)
    #expect(try Codec.item(Codec.stored(.message(content))) == .message(content))
  }
}
