import Foundation
import RunCore
import SwiftProtobuf
import TestSupport
import Testing

@testable import RunWire

/// The frames of `Tests/Vectors/later-frames.json`, which a later version of the wire may send. Each test holds a rule
/// of docs/protocol.md, "Growth".
@Suite("What a reader makes of a later version")
struct CodecGrowthTests {
  private static let frames: [JSONValue] = {
    let text = try? String(contentsOfFile: Checkout.path("Tests/Vectors/later-frames.json"), encoding: .utf8)
    return text.flatMap { JSONValue(text: $0) }?.array ?? []
  }()

  private func bytes(_ what: String, from side: String) throws -> [UInt8] {
    let frame = try #require(
      Self.frames.first { $0["what"]?.string == what && $0["from"]?.string == side }, "\(what)")
    let hex = Array(try #require(frame["hex"]?.string))
    return stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(String(hex[$0...$0 + 1]), radix: 16) }
  }

  private func peer(_ what: String) throws -> PeerMessage { try Codec.peerFrame(bytes(what, from: "peer")).message }
  private func hub(_ what: String) throws -> HubMessage { try Codec.hubFrame(bytes(what, from: "hub")).message }

  /// Why the bytes were refused; `nil` when they were accepted.
  private func reason(_ read: () throws -> Void) -> WireError? {
    do {
      try read()
      return nil
    } catch {
      return error as? WireError
    }
  }

  private func isUnknown(_ error: WireError?) -> Bool { if case .unknown? = error { true } else { false } }

  private func id(_ byte: UInt8) -> CommandID { CommandID(bytes: [UInt8](repeating: byte, count: 16))! }

  @Test(
    "An unknown frame or delivery of a peer, and one about an unknown stream, is dropped without being malformed",
    arguments: [
      "a kind of frame", "a kind of delivery", "an acknowledgement of a kind of stream",
      "tombstones of a kind of stream",
    ])
  func peerUnknown(what: String) { #expect(isUnknown(reason { _ = try peer(what) })) }

  @Test(
    "An unknown frame, delivery or receipt of the hub is dropped without being malformed",
    arguments: ["a kind of frame", "a kind of delivery", "a receipt in a stage", "a receipt of a kind of command"])
  func hubUnknown(what: String) { #expect(isUnknown(reason { _ = try hub(what) })) }

  @Test(
    "An unknown event is dropped without being malformed",
    arguments: ["a kind of event", "a kind of command", "a stage of a receipt"])
  func eventUnknown(what: String) {
    #expect(isUnknown(reason { _ = try Codec.busEvent(bytes(what, from: "event")) }))
  }

  @Test("A hello is read without the marks of unknown streams, which may even be there twice")
  func hello() throws {
    guard case .hello(let hello) = try peer("a hello with a field and a mark of a kind of stream") else {
      return #expect(Bool(false), "not a hello")
    }
    #expect(hello.version == wireVersion && hello.received == [.verdicts: StreamMark(sequence: 2)])
  }

  @Test("A sample of an unknown kind or moment keeps its sequence number, among known ones")
  func samples() throws {
    guard case .samples(let samples) = try peer("samples of a kind and of a moment among known ones") else {
      return #expect(Bool(false), "not samples")
    }
    #expect(samples.map(\.sequence) == [1, 2, 3])
    #expect(samples.map(\.value) == [nil, .heartRate(bpm: 150), .heartRate(bpm: 151)])
    #expect(samples.map(\.moment) == [.age(.zero), nil, .age(.zero)])
  }

  @Test("A command of an unknown kind is answered with that kind")
  func command() throws {
    let bytes = try bytes("a kind of command", from: "peer")
    #expect(reason { _ = try Codec.peerFrame(bytes) } == .unsupportedKind(id(0xC1)))
    let command = try #require(Codec.unsupportedCommand(in: bytes, term: 3, revision: 5))
    #expect(command.session == 9 && command.sequence == 1)
    #expect(try WireHubFrame(serializedBytes: command.reply).receipt.kind == .UNRECOGNIZED(9))
  }

  @Test("What an older hub says of a conditional command, whose kind it repeats, is read as the verdict on it")
  func conditionAtAnOlderHub() throws {
    var command = Command(id: id(0xC1), kind: .stop, source: .shell)
    command.ifRevision = 4
    let frame = PeerFrame(
      session: 9, sentAt: .zero, message: .command(CommandTransmission(command: command, sequence: 1, age: .zero)))
    // The older hub knows five kinds: it sees the number of this one, and the field as one that it does not know.
    var later = try WirePeerFrame(serializedBytes: Codec.encode(frame))
    #expect(later.command.command.kind.rawValue == 36)
    later.command.command.kind = .UNRECOGNIZED(99)
    let answer = try #require(Codec.unsupportedCommand(in: try later.serializedBytes(), term: 3, revision: 5))
    var reply = try WireHubFrame(serializedBytes: answer.reply)
    reply.receipt.kind = .conditionalStop
    guard case .receipt(let receipt) = try Codec.hubFrame(try reply.serializedBytes()).message,
      case .verdict(let verdict) = receipt.stage
    else { return #expect(Bool(false), "not a verdict") }
    #expect(verdict.kind == .stop && verdict.outcome == .rejected(.unsupported))
    #expect(verdict.message == "stop was rejected: the hub does not know this command; update the hub")
  }

  @Test("An unknown inquiry, and an unknown answer to a recovery, are questions that can be answered")
  func inquiry() throws {
    #expect(try peer("a kind of inquiry") == .inquire(.unknown))
    #expect(try peer("an answer to a recovery") == .inquire(.unknown))
  }

  @Test("A welcome in an unknown phase is a welcome, with the marks of the known streams")
  func welcome() throws {
    guard case .welcome(let welcome) = try hub("a welcome in a phase, with a field and a mark of a kind of stream")
    else { return #expect(Bool(false), "not a welcome") }
    #expect(welcome.state.snapshot.phase == .unknown && welcome.state.snapshot.metrics.activity == .unknown)
    #expect(welcome.state.snapshot.order == SnapshotOrder(term: 3, revision: 5, tick: 7))
    #expect(welcome.received == [.commands: StreamMark(sequence: 2)])
    guard case .snapshot(let state) = try Codec.busEvent(bytes("a snapshot in a phase", from: "event")) else {
      return #expect(Bool(false), "not a snapshot")
    }
    #expect(state.snapshot.phase == .unknown)
  }

  @Test("A refusal with an unknown code keeps its message")
  func refusal() throws {
    #expect(
      try hub("a refusal with a code") == .refused(Refusal(code: .unknown, message: "no", version: wireVersion)))
  }

  @Test(
    "A failure has its code on the wire; an older node's sentence, and an unknown number, give it where it is known")
  func failure() throws {
    for code in InquiryFailure.Code.allCases {
      let frame = HubFrame(session: 9, message: .answer(.failed(InquiryFailure(code, "no"))))
      #expect(try Codec.hubFrame(Codec.encode(frame)) == frame)
    }
    for (number, sentence, failure) in [
      (0, InquiryFailure.noRecord.message, .noRecord), (0, "anything", InquiryFailure(.unknown, "anything")),
      (99, InquiryFailure.notWaiting.message, .notWaiting),
    ] as [(Int, String, InquiryFailure)] {
      var frame = try WireHubFrame(
        serializedBytes: Codec.encode(HubFrame(session: 9, message: .answer(.failed(.unknown)))))
      frame.answer.failed = sentence
      frame.answer.failureCode = WireFailureCode(rawValue: number) ?? .unspecified
      let read = try Codec.hubFrame(try frame.serializedBytes()).message
      #expect(read == .answer(.failed(failure)))
    }
  }

  @Test("Each verdict of a frame keeps its sequence number and its command, whatever in it is unknown")
  func verdicts() throws {
    let what = "verdicts: reasons, a phase, an outcome, a kind of command and a stage"
    guard case .delivery(.verdicts(let transmissions)) = try hub(what) else {
      return #expect(Bool(false), "not verdicts")
    }
    #expect(transmissions.map(\.sequence) == [1, 2, 3, 4, 5, 6])
    #expect(transmissions.map(\.commandID) == (0xC1...0xC6).map(id))
    let outcomes = transmissions.map { transmission -> Outcome? in
      if case .verdict(let verdict)? = transmission.receipt?.stage { verdict.outcome } else { nil }
    }
    #expect(
      outcomes == [.rejected(.unknown(17)), .rejected(.illegal(.unknown)), .unknown, nil, nil, .applied])
    // The number survives being sent on.
    let frame = HubFrame(session: 9, message: .delivery(.verdicts(transmissions)))
    #expect(try Codec.hubFrame(Codec.encode(frame)) == frame)
  }

  @Test("An unknown reason is shown as its number")
  func reasonNumber() {
    let verdict = Verdict(
      commandID: id(1), kind: .pause, source: .watch, outcome: .rejected(.unknown(17)), runID: nil, term: 1,
      revision: 1, effectiveAt: nil)
    #expect(verdict.message == "pause was rejected: reason 17")
    #expect(RejectionReason.unknown(17).code == "17" && RejectionReason(plainCode: "17") == .unknown(17))
    #expect(RejectionReason(plainCode: "tooOld") == .tooOld && RejectionReason(plainCode: "no reason") == nil)
  }

  @Test("An answer that cannot be read is a failure in its place")
  func answers() throws {
    let failed = HubMessage.answer(.failed(InquiryFailure.unknownAnswer))
    #expect(try hub("a kind of answer") == failed)
    #expect(try hub("summaries of a form") == failed)
  }

  @Test("Lines, stretches and points with an unknown word keep their place")
  func lists() throws {
    guard case .answer(.outbox(let lines)) = try hub("a kind of outbox line"),
      case .answer(.report(let report?)) = try hub("a source of a stretch"),
      case .answer(.route(let part?)) = try hub("a verdict on a fix"),
      case .route(let published) = try Codec.busEvent(bytes("a verdict on a fix", from: "event"))
    else { return #expect(Bool(false), "other answers") }
    #expect(lines.map(\.kind) == [.unknown, .command] && lines.map(\.what) == ["x", "pause"])
    #expect(report.stretches.map(\.source) == [.unknown])
    #expect(part.points.map(\.verdict) == [.counted, .unknown] && published == part)
    #expect(!FixVerdict.unknown.counts)
  }

  @Test("A record of an unknown form is a change that can be passed over")
  func record() throws {
    guard case .recordChange(let change) = try hub("a record of a form") else {
      return #expect(Bool(false), "not a change")
    }
    #expect(change.isUnreadable && change.summary == nil && change.number == 5)
  }
}
