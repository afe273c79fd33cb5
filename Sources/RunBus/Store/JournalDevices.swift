import Foundation
import GRDB
import RunCore
import RunWire

/// The devices of readings, by the numbers that stand for their names in the entries of journals.
///
/// A number is never given to a second device, not even after the table was lost: readings of the first one may have
/// been read back.
enum JournalDevices {
  /// The key in `meta` of the highest number that was given.
  static let lastKey = "last_device"
  /// Numbers begin above this when the table was lost and nothing says how far they went. No hub has met so many devices.
  static let farAbove: Int64 = 1 << 13

  /// The devices by their numbers, and how many rows could not be read.
  static func read(_ db: Database) throws -> (devices: [UInt32: DeviceID], damaged: Int) {
    var (devices, damaged) = ([UInt32: DeviceID](), 0)
    let rows = try Row.fetchCursor(db, sql: "SELECT number, device FROM journal_devices")
    while let row = try rows.next() {
      guard let number = row.integer("number").flatMap({ UInt32(exactly: $0) }),
        StoredNumber.devices.contains(number), let bytes = try? row.sealed("device"),
        let device = try? Codec.deviceName(bytes)
      else {
        damaged += 1
        continue
      }
      devices[number] = device
    }
    return (devices, damaged)
  }

  /// The number of each device; the newest, when a damaged row has led to a second one.
  static func numbers(_ db: Database) throws -> [DeviceID: UInt32] {
    Dictionary(try read(db).devices.map { ($0.value, $0.key) }) { max($0, $1) }
  }

  /// Gives a device the next number.
  static func add(_ device: DeviceID, _ db: StoreWriter) throws -> UInt32 {
    // Numbers out of range were not given. When that of the last device is one, others may have been given.
    let most = Int64(StoredNumber.devices.upperBound)
    let last = try db.first(
      """
      SELECT CASE WHEN TYPEOF(value) = 'integer' AND value BETWEEN 0 AND ? THEN value ELSE ? END FROM meta
      WHERE key = ?
      """, most, farAbove, lastKey
    ) { $0.integer(0) }
    let present = try db.first("SELECT MAX(number) FROM journal_devices WHERE number BETWEEN 0 AND ?", most) {
      $0.integer(0)
    }
    guard let number = UInt32(exactly: max(last ?? 0, present ?? 0) + 1), StoredNumber.devices.contains(number) else {
      throw StoreFault.broken("a journal has as many devices as a store can name")
    }
    try db.run(
      "INSERT INTO journal_devices (number, device) VALUES (?, ?)", Int64(number), Codec.stored(device))
    try db.run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", lastKey, Int64(number))
    return number
  }

  /// Begins above all numbers that entries may have, because the table was not read back whole.
  static func beginAbove(_ db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO meta (key, value) VALUES (?1, ?2)
        ON CONFLICT (key) DO UPDATE SET value = MAX(value, ?2)
        """,
      arguments: [lastKey, farAbove])
  }
}
