import Foundation
import GRDB
import RunCore
import RunWire

/// Reads outgoing and incoming streams, newest values, devices and records.
extension HistoryReader {
  mutating func readDelivery() throws -> DeliveryHistory {
    var delivery = DeliveryHistory()
    try readOutbox(into: &delivery)
    try each("watermarks", "SELECT * FROM watermarks") { row in
      guard let sender: StoreID = row.identifier("sender"), let kind = row.text("stream").flatMap(StreamID.Kind.init),
        let sequence = row.counter("sequence"), let id: MessageID? = row.optionalIdentifier("id")
      else { return false }
      delivery.watermarks[StreamID(sender: sender, kind: kind)] =
        StreamMark(sequence: sequence, id: id)
      return true
    }
    try each("quarantine", "SELECT * FROM quarantine ORDER BY position") { row in
      guard let since = row.moment("since"), row.counter("position", in: StoredNumber.own) != nil else { return false }
      let quarantined = try Codec.quarantined(try row.sealed("message"), since: since)
      guard row.identifier("id") == quarantined.message.id else { return false }
      delivery.quarantine.append(quarantined)
      return true
    }
    try each("latest_sent", "SELECT * FROM latest_sent ORDER BY device, key") { row in
      let value = try Codec.latestSent(try row.sealed("value"))
      guard row.text("device") == value.device?.rawValue ?? "", row.data("key") == ValueKey.identity(value.key) else {
        return false
      }
      delivery.latestSent.append(value)
      return true
    }
    try each("latest_received", "SELECT * FROM latest_received ORDER BY device, key") { row in
      let value = try Codec.latestReceived(try row.sealed("value"))
      guard row.text("device") == value.device.rawValue, row.data("key") == ValueKey.identity(value.key) else {
        return false
      }
      delivery.latestReceived.append(value)
      return true
    }
    return delivery
  }

  mutating func readDevices() throws -> [KnownDevice] {
    var devices: [KnownDevice] = []
    try each("devices", "SELECT * FROM devices ORDER BY device") { row in
      guard let deviceID = row.text("device").flatMap({ DeviceID($0) }), let role = row.data("role"),
        let storeID: StoreID = row.identifier("store"), let heardAt = row.moment("heard_at"),
        let identity = row.text("identity").flatMap({ ConnectionIdentity($0) })
      else { return false }
      devices.append(
        KnownDevice(
          deviceID: deviceID, role: NodeRole(rawValue: String(decoding: role, as: UTF8.self)), storeID: storeID,
          heardAt: heardAt, identity: identity))
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
      guard let runID: RunID = row.identifier("run"), let version = row.counter("version", in: StoredNumber.own),
        let change = row.counter("change", in: StoredNumber.own)
      else { return false }
      history.recordChanges[runID] = change
      guard !row.isNull("summary") else {
        history.removedRecords[runID] = version
        return true
      }
      guard let summary = row.data("summary").flatMap({ RecordSummary(encoded: Array($0)) }), summary.runID == runID,
        summary.version == version
      else { return false }
      history.records.append(summary)
      return true
    }
    try each("skipped_changes", "SELECT * FROM skipped_changes") { row in
      guard let after = row.counter("after", in: StoredNumber.own),
        let through = row.counter("through", in: StoredNumber.own)
      else { return false }
      history.skippedChanges[after] = through
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
      // Without a mark that can be one the stream stands, and the receiver says how far it is.
      guard !row.isNull("acknowledged") else { return true }
      guard let acknowledged = row.counter("acknowledged", in: OutboxKey.places) else { return false }
      delivery.acknowledged[stream] = acknowledged
      return true
    }
    var rows: [OutboundStreamID: [OutboxRow]] = [:]
    try each("outbox", "SELECT * FROM outbox ORDER BY position") { row in
      guard let position = row.integer("position"), let stream = streams[OutboxKey.number(position)],
        OutboxKey.isPlace(OutboxKey.sequence(position))
      else { return false }
      // A row that cannot be read becomes a tombstone with one try, because it may have been sent. So its stream has no
      // gap.
      var outboxRow = OutboxRow(
        stream: stream, sequence: OutboxKey.sequence(position), item: nil, since: .zero, isUncertain: true, tries: 1)
      defer { rows[stream, default: []].append(outboxRow) }
      return try Self.fill(&outboxRow, from: row)
    }
    delivery.rows = rows.sorted { $0.key < $1.key }.flatMap(\.value)
  }

  /// Takes what a row holds. A row without an item is a tombstone.
  private static func fill(_ outboxRow: inout OutboxRow, from row: Row) throws(StoredError) -> Bool {
    guard let since = row.moment("since"), let flags = row.integer("flags"),
      let tries = row.integer("tries").flatMap({ UInt32(exactly: $0) })
    else { return false }
    outboxRow.item = row.isNull("item") ? nil : try Codec.item(try row.sealed("item"))
    outboxRow.since = since
    outboxRow.isUncertain = flags & SQLiteOutbox.uncertain != 0
    outboxRow.tries = tries
    return true
  }
}

/// The key of a newest value in its row. Spellings that Swift treats as equal share a row; the value has the key's own
/// spelling.
enum ValueKey {
  static func identity(_ key: String) -> Data { Data(key.precomposedStringWithCanonicalMapping.utf8) }
}
