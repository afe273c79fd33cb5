import GRDB

/// A look behind a closed store's back.
enum RawDatabase {
  static func execute(_ sql: String, at path: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: sql)
      _ = try db.checkpoint(.truncate)
    }
    try queue.close()
  }
}
