import Foundation
import GRDB
import RunCore

/// The list of paired devices as rows. A row that cannot be read is left out, so that its key is not let in.
enum PairedRows {
  static func write(_ operation: StoreOperation, _ db: Database) throws {
    switch operation {
    case .pair(let device):
      try db.run(
        """
        INSERT OR REPLACE INTO paired (key, device, role, sources, paired_at, revoked, former_names, next_key)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          Data(device.key.bytes), device.deviceID.rawValue, Data(device.role.rawValue.utf8),
          Data(device.sources.map(\.rawValue).sorted().joined(separator: "\n").utf8), device.pairedAt,
          device.isRevoked ? 1 : 0, device.formerNames.map(\.rawValue).joined(separator: "\n"),
          device.nextKey.map { Data($0.bytes) },
        ])
    case .unpair(let key): try db.run("DELETE FROM paired WHERE key = ?", [Data(key.bytes)])
    case .setMemberVersion(let version, let heard):
      try db.run(
        "INSERT OR REPLACE INTO paired_version (one, version, heard) VALUES (1, ?, ?)",
        [Int64(bitPattern: version), Int64(bitPattern: heard)])
    default: break
    }
  }
}

extension HistoryReader {
  mutating func readMembers() throws -> MemberHistory {
    var members = MemberHistory()
    try each("paired devices", "SELECT * FROM paired ORDER BY key") { row in
      guard let device = Self.pairedDevice(row) else { return false }
      members.devices.append(device)
      return true
    }
    try each("version of paired devices", "SELECT * FROM paired_version") { row in
      guard let version = row.integer("version"), let heard = row.integer("heard") else { return false }
      (members.version, members.versionHeard) = (UInt64(bitPattern: version), UInt64(bitPattern: heard))
      return true
    }
    return members
  }

  private static func pairedDevice(_ row: Row) -> PairedDevice? {
    guard let key = row.data("key").flatMap({ KeyFingerprint(Array($0)) }),
      let deviceID = row.text("device").flatMap({ DeviceID($0) }), let role = row.data("role"),
      let sources = row.data("sources"), let pairedAt = row.real("paired_at"), let isRevoked = row.integer("revoked"),
      let names = row.text("former_names")
    else { return nil }
    var device = PairedDevice(
      key: key, deviceID: deviceID, role: NodeRole(rawValue: String(decoding: role, as: UTF8.self)),
      sources: Set(lines(String(decoding: sources, as: UTF8.self)).map(ControlSource.init)), pairedAt: pairedAt,
      isRevoked: isRevoked != 0)
    for name in lines(names) {
      guard let name = DeviceID(name) else { return nil }
      device.formerNames.append(name)
    }
    if let next = row.data("next_key") {
      guard let next = KeyFingerprint(Array(next)) else { return nil }
      device.nextKey = next
    }
    return device
  }

  private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
}
