#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RunCore
import SwiftProtobuf

// The frames of delivery: messages, verdicts, newest values, tombstones and acknowledgements.
extension Codec {
  /// The most messages in a frame. They must also fit into ``frameBytesMax``: messages whose sum of `OutboxItem.size`
  /// is at least 64 bytes below it always do.
  static let messagesMax = 512
  /// The most verdicts in a frame: with every field at its longest, 256 of them stay below ``frameBytesMax``.
  static let verdictsMax = 256

  static func message(_ delivery: DeliveryMessage) -> WireDelivery {
    var message = WireDelivery()
    switch delivery {
    case .messages(let transmissions): message.message = .messages(self.message(transmissions))
    case .verdicts(let transmissions): message.message = .verdicts(self.message(transmissions))
    case .tombstones(let kind, let from, let through):
      message.message = .tombstones(self.message(tombstones: kind, from: from, through: through))
    case .acknowledge(let kind, let through):
      var acknowledge = WireAcknowledge()
      acknowledge.kind = word(kind)
      acknowledge.through = through
      message.message = .acknowledge(acknowledge)
    case .delivered(let through):
      var delivered = WireDelivered()
      delivered.through = through
      message.message = .delivered(delivered)
    case .goBack(let kind, let place, let failure):
      var goBack = WireGoBack()
      goBack.kind = word(kind)
      goBack.to = place
      if let failure { goBack.failure = fitting(failure, bytesMax: messageBytesMax) }
      message.message = .goBack(goBack)
    case .latest(let key, let version, let value):
      var latest = WireLatest()
      latest.key = key
      latest.version = version
      latest.value = self.message(value)
      message.message = .latest(latest)
    case .acknowledgeLatest(let key, let version):
      var acknowledged = WireLatestAcknowledged()
      acknowledged.key = key
      acknowledged.version = version
      message.message = .latestAcknowledged(acknowledged)
    case .refuseLatest(let key, let version):
      var refused = WireLatestAcknowledged()
      refused.key = key
      refused.version = version
      refused.refused = true
      message.message = .latestAcknowledged(refused)
    case .live(let content):
      var live = WireLive()
      live.message = self.message(content)
      message.message = .live(live)
    }
    return message
  }

  static func value(_ message: WireDelivery) throws(WireError) -> DeliveryMessage {
    switch message.message {
    case .messages(let messages): return .messages(try value(messages))
    case .verdicts(let verdicts): return .verdicts(try value(verdicts))
    case .tombstones(let tombstones): return try value(tombstones)
    case .acknowledge(let acknowledge):
      return .acknowledge(try kind(acknowledge.kind), through: try counter(acknowledge.through, "sequence"))
    case .delivered(let delivered): return .delivered(through: try counter(delivered.through, "sequence"))
    case .goBack(let goBack):
      return .goBack(
        try kind(goBack.kind), to: try sequence(goBack.to),
        failure: goBack.hasFailure ? try text(goBack.failure, "failure", bytesMax: messageBytesMax) : nil)
    case .latest(let latest):
      guard latest.hasValue else { throw .malformed("latest without a value") }
      return .latest(
        key: try name(latest.key, "key"), version: try counter(latest.version, "version"), try value(latest.value))
    case .latestAcknowledged(let acknowledged):
      let (key, version) = (try name(acknowledged.key, "key"), try counter(acknowledged.version, "version"))
      return acknowledged.refused
        ? .refuseLatest(key: key, version: version) : .acknowledgeLatest(key: key, version: version)
    case .live(let live):
      guard live.hasMessage else { throw .malformed("live without a message") }
      return .live(try value(live.message))
    case nil: throw .unknown("a kind of delivery")
    }
  }

  static func message(_ content: AppMessage) -> WireAppMessage {
    var message = WireAppMessage()
    message.id = data(content.id)
    message.name = content.name
    message.body = Data(content.body)
    add(content.unknown, to: &message)
    return message
  }

  static func value(_ message: WireAppMessage) throws(WireError) -> AppMessage {
    guard message.body.count <= AppMessage.bodyMax else {
      throw .malformed("message body is longer than \(AppMessage.bodyMax) bytes")
    }
    var content = AppMessage(
      id: try identifier(message.id, "message id"), name: try name(message.name, "message name"),
      body: message.body.withUnsafeBytes { [UInt8]($0) })
    content.unknown = unknown(in: message)
    return content
  }

  private static func message(_ transmissions: [MessageTransmission]) -> WireMessages {
    var message = WireMessages()
    message.messages = transmissions.map { transmission in
      var message = WireMessageTransmission()
      message.sequence = transmission.sequence
      message.message = self.message(transmission.message)
      return message
    }
    return message
  }

  private static func value(_ message: WireMessages) throws(WireError) -> [MessageTransmission] {
    guard !message.messages.isEmpty else { throw .malformed("messages without a message") }
    guard message.messages.count <= messagesMax else {
      throw .malformed("more than \(messagesMax) messages in a frame")
    }
    var transmissions: [MessageTransmission] = []
    transmissions.reserveCapacity(message.messages.count)
    for transmission in message.messages {
      guard transmission.hasMessage else { throw .malformed("transmission without a message") }
      transmissions.append(
        MessageTransmission(
          sequence: try sequence(transmission.sequence), message: try value(transmission.message)))
    }
    return transmissions
  }

  private static func message(_ transmissions: [VerdictTransmission]) -> WireVerdicts {
    var message = WireVerdicts()
    message.verdicts = transmissions.map { transmission in
      var message = WireVerdictTransmission()
      message.sequence = transmission.sequence
      if let receipt = transmission.receipt { message.receipt = self.message(receipt) }
      message.receipt.commandID = data(transmission.commandID)
      return message
    }
    return message
  }

  private static func value(_ message: WireVerdicts) throws(WireError) -> [VerdictTransmission] {
    guard !message.verdicts.isEmpty else { throw .malformed("verdicts without a verdict") }
    guard message.verdicts.count <= verdictsMax else {
      throw .malformed("more than \(verdictsMax) verdicts in a frame")
    }
    var transmissions: [VerdictTransmission] = []
    transmissions.reserveCapacity(message.verdicts.count)
    for transmission in message.verdicts {
      guard transmission.hasReceipt else { throw .malformed("transmission without a receipt") }
      transmissions.append(try value(transmission))
    }
    return transmissions
  }

  /// A verdict on a kind of command that is not known, or in a stage that is not known, has no receipt: it only uses up
  /// its sequence number, so that the verdicts behind it proceed.
  private static func value(_ message: WireVerdictTransmission) throws(WireError) -> VerdictTransmission {
    let place = try sequence(message.sequence)
    let id: CommandID = try identifier(message.receipt.commandID, "command id")
    guard message.receipt.stage != nil else { return VerdictTransmission(sequence: place, commandID: id) }
    do throws(WireError) {
      let receipt = try value(message.receipt)
      guard case .verdict = receipt.stage else { throw .malformed("receipt among the verdicts that holds none") }
      return VerdictTransmission(sequence: place, receipt: receipt)
    } catch {
      guard case .unknown = error else { throw error }
      return VerdictTransmission(sequence: place, commandID: id)
    }
  }
}
