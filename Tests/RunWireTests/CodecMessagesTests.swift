import Foundation
import RunCore
import SwiftProtobuf
import Testing

@testable import RunWire

@Suite("What a shell does with messages, on the wire")
struct CodecMessagesTests {
  private static let id = Data(repeating: 7, count: 16)

  private func read(_ change: (inout WireMessageInquiry) -> Void) throws -> Inquiry? {
    var frame = WirePeerFrame()
    change(&frame.inquiry.messages)
    guard case .inquire(let inquiry) = try Codec.peerFrame(frame.serializedBytes()).message else { return nil }
    return inquiry
  }
  private func reason(_ change: (inout WireMessageInquiry) -> Void) -> String? {
    do {
      _ = try read(change)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("What a later version says with an unknown member is a question that can be answered")
  func unknown() throws {
    let message = Codec.message(AppMessage(id: MessageID(high: 1, low: 1), name: "n", body: []))
    #expect(try read { $0 = WireMessageInquiry() } == .unknown)
    #expect(try read { $0.send.message = message } == .unknown)
    #expect(
      try read {
        $0.take.listener = Self.id
        $0.take.report.number = 1
      } == .unknown)
    #expect(
      try read {
        $0.leave.listener = Self.id
        $0.leave.report.number = 1
      } == .unknown)
  }

  @Test("An answer in an unknown stage or class is an unknown answer, and keeps its place")
  func unknownAnswers() throws {
    var frame = WireHubFrame()
    func read() throws -> HubMessage { try Codec.hubFrame(frame.serializedBytes()).message }
    let unknown = HubMessage.answer(.failed(.unknownAnswer))
    frame.answer.messages.stage.stage = .UNRECOGNIZED(9)
    #expect(try read() == unknown)
    frame.answer.messages.handed.number = 1
    frame.answer.messages.handed.from = "watch"
    #expect(try read() == unknown)
  }

  @Test("A wrong id, name, key, length or time is malformed")
  func malformed() {
    #expect(reason { $0.take.listener = Data([1]) } == "listener's id is 1 bytes long, not 16")
    #expect(
      reason {
        $0.take.listener = Self.id
        $0.take.questions = true
      } == "a listener for questions names none")
    #expect(
      reason {
        $0.take.listener = Self.id
        $0.take.name = ""
      }?.hasPrefix("message name is not") == true)
    #expect(reason { $0.value.key = "a\nb" }?.hasPrefix("key is not") == true)
    #expect(
      reason {
        $0.leave.listener = Self.id
        $0.leave.report.answer = Data(repeating: 0, count: Reply.contentMax + 1)
      } == "answer is longer than 32751 bytes")
    #expect(
      reason {
        $0.ask.message = Codec.message(AppMessage(id: MessageID(high: 1, low: 1), name: "n", body: []))
        $0.ask.waitNs = -1
      } == "patience is negative")
  }

  @Test("The longest message and the longest answer fit an answer of a node, a list as much as fits")
  func sizes() throws {
    let message = AppMessage(
      id: MessageID(high: .max, low: .max), name: String(repeating: "n", count: 64),
      body: [UInt8](repeating: 255, count: AppMessage.bodyMax))
    let device = DeviceID(String(repeating: "d", count: 32))!
    let key = String(repeating: "k", count: 64)
    let received = ReceivedMessage(message: message, from: device, deliveryClass: .latest(key: key))
    let report = ValueReport(key: key, from: device, name: key, bytes: Codec.counterMax, age: .seconds(1 << 30))
    for answer: MessageAnswer in [
      .handed(HandedMessage(Codec.counterMax, received)), .value(message, from: device),
      .reply([UInt8](repeating: 255, count: Reply.contentMax)),
      .values(Array(repeating: report, count: 1024), total: 1024),
    ] {
      let bytes = Codec.encode(HubFrame(session: .max, message: .answer(.messages(answer))))
      #expect(bytes.count <= Codec.frameBytesMax)
      guard case .answer(.messages(let read)) = try Codec.hubFrame(bytes).message else {
        Issue.record("not an answer")
        continue
      }
      if case .values(let values, total: 1024) = read { #expect(values.count == 256) } else { #expect(read == answer) }
    }
  }
}
