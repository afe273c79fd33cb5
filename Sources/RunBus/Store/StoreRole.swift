import GRDB

/// Whose history a store holds. The first node that uses a store decides it; the other role is refused from then on.
package enum StoreRole: String, Sendable {
  case hub, peer

  /// The role in the file; `nil` when no node has used the store yet, or when it cannot be read.
  init?(storedIn db: Database) throws {
    let row = try Row.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'role'")
    guard let role = row?.text("value").flatMap(StoreRole.init(rawValue:)) else { return nil }
    self = role
  }

  func write(_ db: Database) throws {
    try db.execute(sql: "INSERT OR REPLACE INTO meta (key, value) VALUES ('role', ?)", arguments: [rawValue])
  }

  /// The error for a node of the other role.
  ///
  /// - Parameter directory: The directory of the store; `nil` for a store in memory.
  func refusal(of other: StoreRole, _ directory: String?) -> RunBusError {
    RunBusError(
      .storeMismatch,
      "the store\(directory.map { " in \($0)" } ?? "") holds the history of a \(self), and this node is a \(other): "
        + "give this node another device name or another directory; nothing was changed")
  }
}
