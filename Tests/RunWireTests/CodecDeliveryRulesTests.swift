#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RunCore
import SwiftProtobuf
import Testing

@testable import RunWire

@Suite("Deliveries that break a rule are refused")
struct CodecDeliveryRulesTests {
  private static let id = Data(repeating: 7, count: 16)

  /// The reason for which both readers refuse a valid delivery after a change; `nil` if they accept it.
  private func reason(_ change: (inout WireDelivery) -> Void) throws -> String? {
    var delivery = WireDelivery()
    change(&delivery)
    var (peer, hub) = (WirePeerFrame(), WireHubFrame())
    peer.delivery = delivery
    hub.delivery = delivery
    let reasons = (
      reason { _ = try Codec.peerFrame(try peer.serializedBytes()) },
      reason { _ = try Codec.hubFrame(try hub.serializedBytes()) }
    )
    #expect(reasons.0 == reasons.1)
    return reasons.0
  }

  private func reason(_ read: () throws -> Void) -> String? {
    do {
      try read()
      return nil
    } catch {
      return "\(error)"
    }
  }

  private var message: WireMessageTransmission {
    var transmission = WireMessageTransmission()
    transmission.sequence = 1
    transmission.message.id = Self.id
    transmission.message.name = "zones"
    return transmission
  }

  private var verdict: WireVerdictTransmission {
    var transmission = WireVerdictTransmission()
    transmission.sequence = 1
    transmission.receipt.commandID = Self.id
    transmission.receipt.kind = .pause
    transmission.receipt.source = "watch"
    transmission.receipt.verdict.applied = WireApplied()
    return transmission
  }

  @Test("Each rule of a message")
  func messages() throws {
    func reason(_ change: (inout WireMessageTransmission) -> Void) throws -> String? {
      var transmission = message
      change(&transmission)
      return try self.reason { $0.messages.messages = [transmission] }
    }
    let name = "message name is not 1 to 64 bytes without control characters"
    #expect(try reason { _ in } == nil)
    #expect(try reason { $0.clearMessage() } == "transmission without a message")
    #expect(try reason { $0.sequence = 0 } == "sequence is missing")
    #expect(try reason { $0.sequence = 1 << 62 + 1 } == "sequence is out of range")
    #expect(try reason { $0.message.id = Data() } == "message id is 0 bytes long, not 16")
    #expect(try reason { $0.message.name = "" } == name)
    #expect(try reason { $0.message.name = "a\u{7F}" } == name)
    #expect(try reason { $0.message.name = String(repeating: "é", count: 32) } == nil)
    #expect(try reason { $0.message.name = String(repeating: "é", count: 33) } == name)
    #expect(try reason { $0.message.body = Data(count: 32_768) } == nil)
    #expect(try reason { $0.message.body = Data(count: 32_769) } == "message body is longer than 32768 bytes")
  }

  @Test("A frame holds 1 to 512 messages or 1 to 256 verdicts")
  func counts() throws {
    let (message, verdict) = (message, verdict)
    #expect(try reason { $0.messages = WireMessages() } == "messages without a message")
    #expect(try reason { $0.messages.messages = Array(repeating: message, count: 512) } == nil)
    #expect(
      try reason { $0.messages.messages = Array(repeating: message, count: 513) }
        == "more than 512 messages in a frame")
    #expect(try reason { $0.verdicts = WireVerdicts() } == "verdicts without a verdict")
    #expect(try reason { $0.verdicts.verdicts = Array(repeating: verdict, count: 256) } == nil)
    #expect(
      try reason { $0.verdicts.verdicts = Array(repeating: verdict, count: 257) }
        == "more than 256 verdicts in a frame")
  }

  @Test("A verdict transmission holds only verdicts")
  func verdicts() throws {
    func reason(_ change: (inout WireVerdictTransmission) -> Void) throws -> String? {
      var transmission = verdict
      change(&transmission)
      return try self.reason { $0.verdicts.verdicts = [transmission] }
    }
    #expect(try reason { _ in } == nil)
    #expect(try reason { $0.clearReceipt() } == "transmission without a receipt")
    #expect(try reason { $0.receipt.pending = WirePending() } == "receipt among the verdicts that holds none")
    #expect(try reason { $0.receipt.verdict.rejected = WireRejected() } == "rejection without a reason")
    #expect(try reason { $0.receipt.kind = .unspecified } == "command kind is missing")
    #expect(try reason { $0.receipt.commandID = Data() } == "command id is 0 bytes long, not 16")
    #expect(try reason { $0.sequence = 0 } == "sequence is missing")
  }

  @Test("A tombstone range holds 1 to 2^20 sequence numbers, from the first to the last")
  func tombstones() throws {
    func reason(_ kind: WireStreamKind, _ from: UInt64, _ through: UInt64) throws -> String? {
      try self.reason {
        $0.tombstones.kind = kind
        $0.tombstones.from = from
        $0.tombstones.through = through
      }
    }
    #expect(try reason(.messages, 1, 1) == nil)
    #expect(try reason(.messages, 1, 1 << 20) == nil)
    #expect(try reason(.messages, 1, 1 << 20 + 1) == "tombstones for more than 1048576 places")
    #expect(try reason(.messages, 2, 1) == "tombstones end before they begin")
    #expect(try reason(.messages, 0, 1) == "sequence is missing")
    #expect(try reason(.messages, 1, .max) == "sequence is out of range")
    #expect(try reason(.unspecified, 1, 1) == "stream kind is missing")
    #expect(try reason(.UNRECOGNIZED(9), 1, 1) == "a kind of stream is not known to this version")
  }

  @Test("An acknowledgement, a goBack and a latest value name their subject")
  func others() throws {
    #expect(try reason { _ in } == "a kind of delivery is not known to this version")
    #expect(try reason { $0.acknowledge.through = 1 } == "stream kind is missing")
    #expect(try reason { $0.delivered.through = .max } == "sequence is out of range")
    #expect(try reason { $0.goBack.kind = .samples } == "sequence is missing")
    #expect(
      try reason {
        $0.goBack.kind = .messages
        $0.goBack.to = 1
        $0.goBack.failure = String(repeating: "x", count: 1025)
      } == "failure is longer than 1024 bytes")
    #expect(try reason { $0.latest.key = "k" } == "latest without a value")
    #expect(try reason { $0.live = WireLive() } == "live without a message")
    #expect(
      try reason { $0.latestAcknowledged.version = 1 } == "key is not 1 to 64 bytes without control characters")
    #expect(
      try reason {
        $0.latestAcknowledged.key = "k"
        $0.latestAcknowledged.version = .max
      } == "version is out of range")
  }

  @Test("A hello names each of its streams once")
  func marks() throws {
    func reason(_ change: (inout WireHello) -> Void) throws -> String? {
      var frame = WirePeerFrame()
      frame.hello.version = wireVersion
      frame.hello.deviceID = "watch"
      frame.hello.role = "watch"
      frame.hello.nodeID = Self.id
      frame.hello.storeID = Self.id
      change(&frame.hello)
      let bytes: [UInt8] = try frame.serializedBytes()
      return self.reason { _ = try Codec.peerFrame(bytes) }
    }
    var mark = WireStreamMark()
    mark.kind = .messages
    #expect(try reason { $0.received = [mark] } == nil)
    #expect(try reason { $0.received = [mark, mark] } == "two marks of one stream")
    #expect(try reason { $0.acknowledged = [WireStreamMark()] } == "stream kind is missing")
    #expect(try reason { $0.hubStoreID = Data() } == "hub store id is 0 bytes long, not 16")
    mark.id = Self.id
    #expect(try reason { $0.received = [mark] } == "mark with an id before the first place")
    mark.sequence = .max
    #expect(try reason { $0.received = [mark] } == "mark is out of range")
  }

  @Test("An inquiry names its subject, and its answer holds at most 256 lines")
  func inquiries() throws {
    var (peer, hub) = (WirePeerFrame(), WireHubFrame())
    func peerReason() throws -> String? {
      let bytes: [UInt8] = try peer.serializedBytes()
      return reason { _ = try Codec.peerFrame(bytes) }
    }
    func hubReason() throws -> String? {
      let bytes: [UInt8] = try hub.serializedBytes()
      return reason { _ = try Codec.hubFrame(bytes) }
    }
    peer.inquiry.recover = .unspecified
    #expect(try peerReason() == "answer to a recovery is missing")
    peer.inquiry.cancel = Data([1])
    #expect(try peerReason() == "message id is 1 bytes long, not 16")
    let bounds = Heartbeat.intervals
    let outside = [0, -1, .min, .max, bounds.lowerBound.nanoseconds - 1, bounds.upperBound.nanoseconds + 1]
    for nanoseconds in outside {
      peer.ping.nextWithinNs = nanoseconds
      #expect(try peerReason() == "a ping states within what time the next one comes: 1 to 60 s")
    }
    peer.ping.nextWithinNs = bounds.upperBound.nanoseconds
    #expect(try peerReason() == nil)
    peer.ping.roundTripNs = -1
    #expect(try peerReason() == "round trip is negative")

    var report = WirePeerReport()
    report.deviceID = "watch"
    report.role = "watch"
    hub.answer.peers.peers = Array(repeating: report, count: 256)
    #expect(try hubReason() == nil)
    hub.answer.peers.peers.append(report)
    #expect(try hubReason() == "more than 256 lines in an answer")
  }
}
