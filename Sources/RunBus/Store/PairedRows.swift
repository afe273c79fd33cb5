import Foundation
import GRDB
import RunCore
import RunWire

/// The list of paired devices as rows. A row that cannot be read is left out, so that its key is not let in.
enum PairedRows {
  static func write(_ operation: StoreOperation, _ db: StoreWriter) throws {
    switch operation {
    case .pair(let device):
      let old = try db.first("SELECT device FROM paired WHERE key = ?", device.key.bytes) { $0.bytes(0) }
      try db.run(
        "INSERT OR REPLACE INTO paired (key, revoked, device) VALUES (?, ?, ?)", device.key.bytes,
        device.isRevoked ? 1 : 0, Codec.stored(device, replacing: old))
    case .unpair(let key): try db.run("DELETE FROM paired WHERE key = ?", key.bytes)
    case .setMemberVersion(let version, let heard):
      try db.run(
        "INSERT OR REPLACE INTO paired_version (one, version, heard) VALUES (1, ?, ?)",
        Int64(bitPattern: version), Int64(bitPattern: heard))
    default: break
    }
  }
}

extension HistoryReader {
  mutating func readMembers() throws -> MemberHistory {
    var members = MemberHistory()
    try each("paired devices", "SELECT * FROM paired ORDER BY key") { row in
      let device = try Codec.pairedDevice(try row.sealed("device"))
      guard row.data("key") == Data(device.key.bytes), row.integer("revoked") == (device.isRevoked ? 1 : 0) else {
        return false
      }
      members.devices.append(device)
      return true
    }
    try each("version of paired devices", "SELECT * FROM paired_version") { row in
      guard let version = row.counter("version"), let heard = row.counter("heard") else { return false }
      (members.version, members.versionHeard) = (version, heard)
      return true
    }
    return members
  }
}
