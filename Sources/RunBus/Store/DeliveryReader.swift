import Foundation
import GRDB
import RunCore

/// Reads outgoing and incoming streams, newest values, devices and records.
extension HistoryReader {
  mutating func readDelivery() throws -> DeliveryHistory {
    var delivery = DeliveryHistory()
    try readOutbox(into: &delivery)
    try each("watermarks", "SELECT * FROM watermarks") { row in
      guard let sender: StoreID = row.identifier("sender"), let kind = row.text("stream").flatMap(StreamID.Kind.init),
        let sequence = row.integer("sequence"), let id: MessageID? = row.optionalIdentifier("id")
      else { return false }
      delivery.watermarks[StreamID(sender: sender, kind: kind)] =
        StreamMark(sequence: UInt64(bitPattern: sequence), id: id)
      return true
    }
    try each("quarantine", "SELECT * FROM quarantine ORDER BY position") { row in
      guard let message = row.data("message").flatMap(Self.message), let receiver: StoreID = row.identifier("receiver"),
        let reason = row.data("reason"), let since = row.integer("since")
      else { return false }
      delivery.quarantine.append(
        QuarantinedMessage(
          message: message, receiver: receiver, reason: String(decoding: reason, as: UTF8.self),
          since: BusTime(nanoseconds: since)))
      return true
    }
    try each("latest_sent", "SELECT * FROM latest_sent ORDER BY device, key") { row in
      guard let name = row.text("device"), let device: DeviceID? = Self.optionalDevice(name),
        let version = row.integer("version"), let flags = row.integer("flags"),
        let (key, message) = row.data("value").flatMap(LatestCoding.decode)
      else { return false }
      delivery.latestSent.append(
        LatestRow(
          device: device, key: key, version: UInt64(bitPattern: version), message: message,
          isAcknowledged: flags & SQLiteStore.acknowledged != 0))
      return true
    }
    try each("latest_received", "SELECT * FROM latest_received ORDER BY device, key") { row in
      guard let device = row.text("device").flatMap({ DeviceID($0) }), let store: StoreID = row.identifier("store"),
        let version = row.integer("version"), let (key, message) = row.data("value").flatMap(LatestCoding.decode)
      else { return false }
      delivery.latestReceived.append(
        LatestReceived(
          device: device, store: store, key: key, version: UInt64(bitPattern: version), message: message))
      return true
    }
    return delivery
  }

  mutating func readDevices() throws -> [KnownDevice] {
    var devices: [KnownDevice] = []
    try each("devices", "SELECT * FROM devices ORDER BY device") { row in
      guard let deviceID = row.text("device").flatMap({ DeviceID($0) }), let role = row.data("role"),
        let storeID: StoreID = row.identifier("store"), let heardAt = row.integer("heard_at"),
        let identity = row.text("identity").flatMap({ ConnectionIdentity($0) })
      else { return false }
      devices.append(
        KnownDevice(
          deviceID: deviceID, role: NodeRole(rawValue: String(decoding: role, as: UTF8.self)), storeID: storeID,
          heardAt: BusTime(nanoseconds: heardAt), identity: identity))
      return true
    }
    return devices
  }

  mutating func readStoreOwners() throws -> [StoreID: ConnectionIdentity] {
    var owners: [StoreID: ConnectionIdentity] = [:]
    try each("store owners", "SELECT * FROM store_owners") { row in
      guard let store: StoreID = row.identifier("store"),
        let identity = row.text("identity").flatMap({ ConnectionIdentity($0) })
      else { return false }
      owners[store] = identity
      return true
    }
    return owners
  }

  /// Reads records that are kept, were removed, or must still be made; bodies are not read.
  mutating func readRecords(into history: inout HubHistory) throws {
    try each("records", "SELECT run, version, change, summary FROM records ORDER BY number") { row in
      guard let runID: RunID = row.identifier("run"), let version = row.integer("version"),
        let change = row.integer("change")
      else { return false }
      history.recordChanges[runID] = UInt64(bitPattern: change)
      guard !row.isNull("summary") else {
        history.removedRecords[runID] = UInt64(bitPattern: version)
        return true
      }
      guard let summary = row.data("summary").flatMap({ RecordSummary(encoded: Array($0)) }), summary.runID == runID
      else { return false }
      history.records.append(summary)
      return true
    }
    try each("skipped_changes", "SELECT * FROM skipped_changes") { row in
      guard let after = row.integer("after"), let through = row.integer("through") else { return false }
      history.skippedChanges[UInt64(bitPattern: after)] = UInt64(bitPattern: through)
      return true
    }
    try each("expected_records", "SELECT * FROM expected_records ORDER BY run") { row in
      guard let runID: RunID = row.identifier("run"), let conflicted = row.integer("conflicted") else { return false }
      history.expectedRecords.append(ExpectedRecord(runID: runID, isConflicted: conflicted != 0))
      return true
    }
  }

  /// Reads the rows stream by stream, and returns the streams in their defined order.
  private mutating func readOutbox(into delivery: inout DeliveryHistory) throws {
    var streams: [Int64: OutboundStreamID] = [:]
    try each("streams", "SELECT * FROM streams") { row in
      guard let number = row.integer("number"), let receiver: StoreID = row.identifier("receiver"),
        let kind = row.integer("kind").flatMap(StreamID.Kind.init(code:))
      else { return false }
      let stream = OutboundStreamID(receiver: receiver, kind: kind)
      streams[number] = stream
      if let acknowledged = row.integer("acknowledged") {
        delivery.acknowledged[stream] = UInt64(bitPattern: acknowledged)
      }
      return true
    }
    var rows: [OutboundStreamID: [OutboxRow]] = [:]
    try each("outbox", "SELECT * FROM outbox ORDER BY position") { row in
      guard let position = row.integer("position"), let stream = streams[OutboxKey.number(position)] else {
        return false
      }
      let (outboxRow, isWhole) = Self.outboxRow(row, stream, OutboxKey.sequence(position))
      rows[stream, default: []].append(outboxRow)
      return isWhole
    }
    delivery.rows = rows.sorted { $0.key < $1.key }.flatMap(\.value)
  }

  /// A row that cannot be read becomes a tombstone with one try, because it may have been sent. So its stream has no
  /// gap.
  private static func outboxRow(_ row: Row, _ stream: OutboundStreamID, _ sequence: UInt64) -> (
    OutboxRow, isWhole: Bool
  ) {
    guard let since = row.integer("since"), let flags = row.integer("flags"),
      let tries = row.integer("tries").flatMap({ UInt32(exactly: $0) }), let item = outboxItem(row)
    else {
      return (
        OutboxRow(stream: stream, sequence: sequence, item: nil, since: .zero, isUncertain: true, tries: 1), false
      )
    }
    let outboxRow = OutboxRow(
      stream: stream, sequence: sequence, item: item, since: BusTime(nanoseconds: since),
      isUncertain: flags & SQLiteOutbox.uncertain != 0, tries: tries)
    return (outboxRow, true)
  }

  /// `.some(nil)` for a tombstone, `nil` for a row that cannot be read.
  private static func outboxItem(_ row: Row) -> OutboxItem?? {
    if row.isNull("kind") && row.isNull("item") { return .some(nil) }
    guard let kind = row.integer("kind").flatMap(OutboxKind.init), let payload = row.data("item"),
      let item = OutboxCoding.decode(kind: kind, payload: payload)
    else { return nil }
    return .some(item)
  }

  /// `.some(nil)` for the empty name, which stands for a peer's hub; `nil` for an invalid name.
  private static func optionalDevice(_ name: String) -> DeviceID?? {
    if name.isEmpty { return .some(nil) }
    guard let device = DeviceID(name) else { return nil }
    return .some(device)
  }

  private static func message(_ data: Data) -> AppMessage? {
    var reader = ByteReader(data)
    return reader.message()
  }
}
