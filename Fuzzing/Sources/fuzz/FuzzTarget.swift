@testable import RunScripts
import RunCore
@testable import RunRecordings
@testable import RunWire
import SwiftProtobuf

/// The readers of foreign bytes. A reader accepts or refuses any input, and what it accepts has the properties that
/// are checked here.
enum FuzzTarget: String, CaseIterable {
  case frames, recording, fit, script, record, stored, log, together

  /// Set once, before the first input, because libFuzzer's callback takes no context.
  nonisolated(unsafe) static var chosen = FuzzTarget.frames

  func feed(_ bytes: [UInt8]) {
    switch self {
    case .frames: Self.frames(bytes)
    // FIT is a target of its own, because among texts it would be mutated too seldom.
    case .recording, .fit: Self.recording(bytes)
    case .script: Self.script(bytes)
    case .record: Self.record(bytes)
    case .stored: Self.stored(bytes)
    case .log: Self.log(bytes)
    case .together: Self.together(bytes)
    }
  }

  /// A decoded frame can be encoded and decodes to the same frame again. The encoder of one pass writes what the library
  /// writes.
  private static func frames(_ bytes: [UInt8]) {
    if let message = try? WirePeerFrame(serializedBytes: bytes) { expectEqualBytes(message) }
    if let message = try? WireHubFrame(serializedBytes: bytes) { expectEqualBytes(message) }
    if let frame = try? Codec.peerFrame(bytes) {
      expect((try? Codec.peerFrame(Codec.encode(frame))) == frame, "a peer's frame is another when it was encoded")
    }
    if let frame = try? Codec.hubFrame(bytes) {
      expect((try? Codec.hubFrame(Codec.encode(frame))) == frame, "a hub's frame is another when it was encoded")
    }
    if let event = try? Codec.busEvent(bytes) {
      expect((try? Codec.busEvent(Codec.encode(event))) == event, "an event is another when it was encoded")
    }
    _ = Codec.unsupportedCommand(in: bytes, term: 1, revision: 1)
  }

  /// A recording that can be read can be measured and kept, and its record's bytes can be read again.
  ///
  /// Every input is read; the other steps, which cost as much again, run for one input in eight. The input's bytes
  /// decide which, so that a repeated input does the same.
  private static func recording(_ bytes: [UInt8]) {
    guard let recording = try? Recording.read(bytes, name: "f"), hash(bytes) % 8 == 0 else { return }
    _ = MeasuredRun(recording)
    _ = GPXWriter.document(recording)
    if let record = try? RecordImport.record(of: bytes, name: "f").record {
      expect(RunRecord(encoded: record.encoded) == record, "an imported record is not the one that is read again")
    }
  }

  /// The steps are in order, and the line of an order is read as that order.
  private static func script(_ bytes: [UInt8]) {
    guard let script = try? Script(String(decoding: bytes, as: UTF8.self), file: "f") else { return }
    for (step, next) in zip(script.steps, script.steps.dropFirst()) {
      expect((step.time, step.line) < (next.time, next.line), "steps are out of order")
    }
    for step in script.steps {
      guard case .order(let order) = step.action else { continue }
      expect((try? NodeOrder.parse(line: order.line)) == order, "an order is read as another: \(order.line)")
    }
  }

  /// A decoded record can be encoded, decodes to the same record again, and can be exported, whatever its numbers
  /// are.
  private static func record(_ bytes: [UInt8]) {
    if let body = RecordBody(encoded: bytes) {
      expect(RecordBody(encoded: body.encoded) == body, "a body is another when it was encoded")
    }
    guard let record = RunRecord(encoded: bytes) else { return }
    expect(RunRecord(encoded: record.encoded) == record, "a record is another when it was encoded")
    _ = try? RecordExport.gpx(record)
    _ = RecordExport.tcx(record)
    _ = RecordExport.csv(record)
  }

  /// A stored value that can be read can be written, and is read as the same value again. The fuzzer finds no checksums,
  /// so each input gets its own; without it nothing is read.
  private static func stored(_ bytes: [UInt8]) {
    _ = try? Codec.accepted(bytes)
    let sealed = Codec.seal(bytes)
    if let (press, admission) = try? Codec.accepted(sealed) {
      let again = try? Codec.accepted(Codec.stored(press, admission))
      expect(again?.press == press && again?.admission == admission, "an accepted command is another")
    }
    if let (verdict, press, moment) = try? Codec.verdict(sealed) {
      let again = try? Codec.verdict(Codec.stored(verdict, of: press, judgedAt: moment))
      expect(again?.verdict == verdict && again?.press == press && again?.judgedAt == moment, "a verdict is another")
    }
    if let window = try? Codec.window(sealed) {
      expect((try? Codec.window(Codec.stored(window))) == window, "a window is another")
    }
    let device: (UInt32) -> DeviceID? = { _ in "watch" }
    if let entry = try? Codec.entry(sealed, device: device) {
      let again = Codec.stored(entry.event, at: entry.time, device: 1)
      // A number that is none is not equal to itself, but has the same bytes.
      expect(
        (try? Codec.entry(again, device: device)).map { Codec.stored($0.event, at: $0.time, device: 1) } == again,
        "an entry is another")
    }
    if let item = try? Codec.item(sealed) {
      let again = Codec.stored(item)
      expect((try? Codec.item(again)).map(Codec.stored) == again, "an item of an outbox is another")
    }
    if let press = try? Codec.press(sealed) {
      expect((try? Codec.press(Codec.stored(press))) == press, "a command of a spool is another")
    }
    if let value = try? Codec.latestReceived(sealed) {
      expect((try? Codec.latestReceived(Codec.stored(value))) == value, "a received value is another")
    }
    if let value = try? Codec.latestSent(sealed) {
      expect((try? Codec.latestSent(Codec.stored(value))) == value, "a posted value is another")
    }
    if let quarantined = try? Codec.quarantined(sealed, since: .zero) {
      expect((try? Codec.quarantined(Codec.stored(quarantined), since: .zero)) == quarantined, "a message is another")
    }
    if let view = try? Codec.view(sealed) {
      expect((try? Codec.view(Codec.stored(view))) == view, "a view is another")
    }
    if let mark = try? Codec.failureMark(sealed) {
      expect((try? Codec.failureMark(Codec.stored(mark))) == mark, "a failure mark is another")
    }
    if let paired = try? Codec.pairedDevice(sealed) {
      expect((try? Codec.pairedDevice(Codec.stored(paired))) == paired, "a paired device is another")
    }
  }

  /// A commit that can be read can be written, and is read as the same again. In a segment it is found, and is not found
  /// when a byte of it is changed; bytes by chance are no segment.
  private static func log(_ bytes: [UInt8]) {
    if let message = try? WireStoredCommit(serializedBytes: bytes) { expectEqualBytes(message) }
    _ = LogTail(of: [bytes], key: nil, drained: nil)
    if let commit = try? Codec.loggedCommit(bytes, unreadable: {}) {
      let again = Codec.logged(commit).flatMap { try? Codec.loggedCommit($0) {} }
      // A number that is none is not equal to itself, but has the same bytes.
      expect(again.flatMap(Codec.logged) == Codec.logged(commit), "a commit is another when it was encoded")
    }
    let form = LogSegment(key: Array(repeating: 3, count: LogSegment.keySize))
    var segment = form.header + form.frame(bytes, position: 1, drained: 0)
    func found() -> [[UInt8]] { LogTail(of: [segment], key: form.key, drained: 0).commits.map(\.bytes) }
    expect(found() == [bytes], "a commit is not found in its segment")
    let place = LogSegment.headerSize + Int(hash(bytes)) % (28 + bytes.count)
    segment[place < LogSegment.headerSize + 28 ? place : place + 4] ^= 1
    expect(found().isEmpty, "a commit of which a byte has changed is found")
  }

  /// What a member writes can be written again when it was read, and is read as the same; a signed message has one form
  /// only.
  private static func together(_ bytes: [UInt8]) {
    if let message = try? WireRoomContent(serializedBytes: bytes) { expectEqualBytes(message) }
    if let (content, signature) = try? Codec.signedParts(bytes) {
      expect(Codec.signed(content, signature: signature) == bytes, "a signed message has another form")
      _ = try? Codec.roomContent(content)
    }
    if let content = try? Codec.roomContent(bytes) {
      expect((try? Codec.roomContent(Codec.encode(content))) == content, "an entry is another when it was encoded")
    }
    if let advert = try? Codec.roomAdvert(bytes) {
      expect((try? Codec.roomAdvert(Codec.encode(advert))) == advert, "an advert is another when it was encoded")
    }
    if let live = try? Codec.roomLive(bytes) {
      expect((try? Codec.roomLive(Codec.encode(live))) == live, "a live message is another when it was encoded")
    }
  }

  private static func expectEqualBytes(_ message: some Message) {
    expect(
      (try? message.serializedBytes() as [UInt8]) == OnePassEncoder.encode(message), "two encoders write other bytes")
  }

  /// The hash FNV-1a (Fowler, Noll and Vo).
  private static func hash(_ bytes: [UInt8]) -> UInt32 {
    bytes.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
  }

  private static func expect(_ isSo: Bool, _ otherwise: @autoclosure () -> String) {
    if !isSo { fatalError(otherwise()) }
  }
}
