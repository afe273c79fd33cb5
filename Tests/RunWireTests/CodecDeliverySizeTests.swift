import RunCore
import Testing

@testable import RunWire

@Suite("Deliveries fit into a frame")
struct CodecDeliverySizeTests {
  private func bytes(_ delivery: DeliveryMessage) throws -> Int {
    let frame = PeerFrame(session: .max, sentAt: BusTime(nanoseconds: .min), message: .delivery(delivery))
    let bytes = Codec.encode(frame)
    #expect(try Codec.peerFrame(bytes) == frame)
    return bytes.count
  }

  @Test("Messages with a computed size 64 bytes below the limit fit a frame", arguments: [0, 1, 256, 700, 32_768])
  func messages(bodyBytes: Int) throws {
    let message = AppMessage(
      id: MessageID(high: .max, low: .max), name: String(repeating: "n", count: 64),
      body: [UInt8](repeating: 0xFF, count: bodyBytes))
    let count = min(Codec.messagesMax, (Codec.frameBytesMax - 64) / OutboxItem.message(message).size)
    let transmission = MessageTransmission(sequence: Codec.counterMax, message: message)
    #expect(try bytes(.messages(Array(repeating: transmission, count: count))) <= Codec.frameBytesMax)
  }

  @Test("The largest batch of verdicts fits into a frame with every field at its longest")
  func verdicts() throws {
    let id = CommandID(high: .max, low: .max)
    let source = ControlSource(rawValue: String(repeating: "s", count: 64))
    let verdict = Verdict(
      commandID: id, kind: .lap, source: source, outcome: .coalesced(into: id), runID: RunID(high: 1, low: 1),
      term: Codec.counterMax, revision: Codec.counterMax, effectiveAt: BusTime(nanoseconds: .min))
    let receipt = Receipt(
      commandID: id, kind: .lap, source: source, stage: .verdict(verdict),
      effectiveAge: BusDuration(nanoseconds: .min))
    let transmission = VerdictTransmission(sequence: Codec.counterMax, receipt: receipt)
    let all = Array(repeating: transmission, count: Codec.verdictsMax)
    #expect(try bytes(.verdicts(all)) <= Codec.frameBytesMax)
  }

  private static let smallest = ConnectionLimits(frameBytesMax: 0)

  @Test("Every single item fits into the smallest frame that a connection may have")
  func singleItems() throws {
    let message = AppMessage(
      id: MessageID(high: .max, low: .max), name: String(repeating: "n", count: AppMessage.nameMax),
      body: [UInt8](repeating: 0xFF, count: AppMessage.bodyMax))
    let transmission = MessageTransmission(sequence: Codec.counterMax, message: message)
    #expect(try bytes(.messages([transmission])) <= Self.smallest.frameBytesMax)
    let part = RecordPart(
      runID: RunID(high: .max, low: .max), version: Codec.counterMax, from: 1 << 30,
      bytes: [UInt8](repeating: 0xFF, count: RecordPart.bytesMax), total: RunRecord.bytesMax)
    let answer = Codec.encode(HubFrame(session: .max, message: .answer(.record(part))), within: Self.smallest)
    #expect(answer.count <= Self.smallest.frameBytesMax)
  }

  /// An answer after encoding and decoding.
  private func arrived(_ answer: InquiryAnswer, within limits: ConnectionLimits = .full) throws -> InquiryAnswer? {
    let bytes = Codec.encode(HubFrame(session: .max, message: .answer(answer)), within: limits)
    #expect(bytes.count <= limits.frameBytesMax)
    guard case .answer(let read) = try Codec.hubFrame(bytes).message else { return nil }
    return read
  }

  @Test("A longer list arrives as its first 256 lines")
  func firstLines() throws {
    let rows = (0..<300).map { number in
      OutboxReport(
        kind: .message, id: MessageID(high: .max, low: .max), what: "\(number)" + String(repeating: "w", count: 61),
        receiver: DeviceID(String(repeating: "d", count: 32)), age: BusDuration(nanoseconds: .max), tries: .max,
        count: Codec.counterMax, isAccepted: true)
    }
    #expect(try arrived(.outbox(rows)) == .outbox(Array(rows.prefix(256))))
    guard case .outbox(let fewer)? = try arrived(.outbox(rows), within: Self.smallest) else {
      return #expect(Bool(false), "not an outbox")
    }
    #expect(fewer == Array(rows.prefix(fewer.count)) && fewer.count > 100)
    let peers = (0..<300).map { number in
      PeerReport(
        deviceID: DeviceID("watch-\(number)")!, role: NodeRole(rawValue: String(repeating: "r", count: 64)),
        isReachable: true, heardAge: BusDuration(nanoseconds: .max), roundTrip: BusDuration(nanoseconds: .max),
        waiting: Codec.counterMax, commandWatermark: Codec.counterMax)
    }
    #expect(try arrived(.peers(peers)) == .peers(Array(peers.prefix(256))))
  }

  @Test("A list with long lines is cut at the end of the frame")
  func longLines() throws {
    let reports = (0..<256).map { number in
      QuarantineReport(
        id: MessageID(high: 1, low: UInt64(number)), name: "zones", bytes: 1, receiver: nil,
        reason: String(repeating: "x", count: 1024), age: .zero)
    }
    guard case .quarantine(let read) = try arrived(.quarantine(reports)) else {
      Issue.record("not a quarantine")
      return
    }
    #expect((50..<64).contains(read.count))
    #expect(read == Array(reports.prefix(read.count)))
  }

  @Test("The text of a failure is shortened to fit")
  func failures() throws {
    let long = "a\nb" + String(repeating: "é", count: 600)
    let fitting = "a b" + String(repeating: "é", count: 510)
    #expect(try arrived(.failed(InquiryFailure(.full, long))) == .failed(InquiryFailure(.full, fitting)))
    let frame = PeerFrame(
      session: 1, sentAt: BusTime(nanoseconds: 0), message: .delivery(.goBack(.messages, to: 1, failure: long)))
    #expect(
      try Codec.peerFrame(Codec.encode(frame)).message == .delivery(.goBack(.messages, to: 1, failure: fitting)))
  }
}
