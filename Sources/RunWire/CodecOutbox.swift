package import RunCore
import SwiftProtobuf

// What a node stores of its outbox, of messages and of newest values. Items are encoded as in the frames that carry
// them.
extension Codec {
  /// Encodes the item of an outbox row.
  package static func stored(_ item: OutboxItem) -> [UInt8] {
    var message = WireStoredItem()
    switch item {
    case .command(let command): message.item = .command(self.message(command))
    case .sample(let sample, let runID): message.item = .sample(self.message(sample, runID))
    case .message(let content): message.item = .message(self.message(content))
    case .verdict(let verdict):
      message.item = .verdict(
        self.message(
          Receipt(
            commandID: verdict.commandID, kind: verdict.kind, source: verdict.source, stage: .verdict(verdict))))
    }
    return stored(message)
  }

  /// Reads the item of an outbox row.
  package static func item(_ bytes: [UInt8]) throws(StoredError) -> OutboxItem {
    let message: WireStoredItem = try open(bytes)
    return try reading { () throws(WireError) in
      switch message.item {
      case .command(let command): return .command(try value(command))
      case .sample(let sample): return try value(sample)
      case .message(let content): return .message(try value(content))
      case .verdict(let receipt):
        guard receipt.stage != nil else { throw .unknown("a stage of a receipt") }
        guard case .verdict(let verdict) = try value(receipt).stage else {
          throw .malformed("receipt without a verdict")
        }
        return .verdict(verdict)
      case nil: throw .unknown("an item of an outbox")
      }
    }
  }

  private static func message(_ sample: Sample, _ runID: RunID?) -> WireSample {
    var message = WireSample()
    switch sample.moment {
    // May be negative: the moment since which the row waits may be moved.
    case .at(let time): message.moment = .ageNs(StoredNumber.clamped((.zero - time).nanoseconds))
    case .runOffset(let offset): message.moment = .runOffsetNs(StoredNumber.clamped(offset.nanoseconds))
    }
    message.value = self.message(sample.value)
    if let runID { message.runID = data(runID) }
    add(sample.unknown, to: &message)
    return message
  }

  private static func value(_ message: WireSample) throws(WireError) -> OutboxItem {
    let moment: SampleMoment
    switch message.moment {
    case .ageNs(let age): moment = .age(try storedSpan(age))
    case .runOffsetNs(let offset): moment = .runOffset(try storedSpan(offset))
    case nil: throw .unknown("a moment of a reading")
    }
    guard let value = message.value.map(self.value) else { throw .unknown("a kind of reading") }
    var sample = Sample(moment: moment, value: value)
    sample.unknown = unknown(in: message, bytesMax: unknownInBatchBytesMax)
    return .sample(sample, runID: message.hasRunID ? try identifier(message.runID, "run id") : nil)
  }

  // MARK: Quarantine

  /// Encodes a message in quarantine. The moment at which it came there is not part of it, because it moves with the clock.
  package static func stored(_ quarantined: QuarantinedMessage) -> [UInt8] {
    var message = WireStoredQuarantine()
    message.message = self.message(quarantined.message)
    message.receiver = data(quarantined.receiver)
    message.reason = fitting(quarantined.reason, bytesMax: messageBytesMax)
    return stored(message)
  }

  /// Reads a message in quarantine.
  package static func quarantined(_ bytes: [UInt8], since: BusTime) throws(StoredError) -> QuarantinedMessage {
    let message: WireStoredQuarantine = try open(bytes)
    return try reading { () throws(WireError) in
      guard message.reason.utf8.count <= messageBytesMax else { throw .malformed("reason is too long") }
      return QuarantinedMessage(
        message: try value(message.message), receiver: try identifier(message.receiver, "store id"),
        reason: message.reason, since: since)
    }
  }

  // MARK: Newest values

  /// Encodes the newest value of a key that was posted here.
  ///
  /// - Parameter old: What was stored of the key before, if anything: unknown fields of the same version stay.
  package static func stored(_ row: LatestRow, replacing old: [UInt8]? = nil) -> [UInt8] {
    var message = WireStoredLatest()
    message.key = row.key
    message.version = row.version
    message.value = self.message(row.message)
    message.deviceID = row.device?.rawValue ?? ""
    message.acknowledged = row.isAcknowledged
    addUnknown(of: old, to: &message)
    return stored(message)
  }

  /// Encodes the newest value of a key that was received.
  ///
  /// - Parameter old: What was stored of the key before, if anything: unknown fields of the same version stay.
  package static func stored(_ row: LatestReceived, replacing old: [UInt8]? = nil) -> [UInt8] {
    var message = WireStoredLatest()
    message.key = row.key
    message.version = row.version
    message.value = self.message(row.message)
    message.deviceID = row.device.rawValue
    message.sender = data(row.store)
    addUnknown(of: old, to: &message)
    return stored(message)
  }

  private static func addUnknown(of old: [UInt8]?, to message: inout WireStoredLatest) {
    guard let old, let before = try? open(old) as WireStoredLatest, before.version == message.version else { return }
    add(unknown(in: before), to: &message)
  }

  /// Reads the newest value of a key that was posted here.
  package static func latestSent(_ bytes: [UInt8]) throws(StoredError) -> LatestRow {
    let message: WireStoredLatest = try open(bytes)
    return try reading { () throws(WireError) in
      LatestRow(
        device: message.deviceID.isEmpty ? nil : try device(message.deviceID), key: try name(message.key, "key"),
        version: try counter(message.version, "version"), message: try value(message.value),
        isAcknowledged: message.acknowledged)
    }
  }

  /// Reads the newest value of a key that was received.
  package static func latestReceived(_ bytes: [UInt8]) throws(StoredError) -> LatestReceived {
    let message: WireStoredLatest = try open(bytes)
    return try reading { () throws(WireError) in
      LatestReceived(
        device: try device(message.deviceID), store: try identifier(message.sender, "store id"),
        key: try name(message.key, "key"), version: try counter(message.version, "version"),
        message: try value(message.value))
    }
  }
}
