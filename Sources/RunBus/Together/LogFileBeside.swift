import Foundation
import GRDB
import RunCore

// Adverts and names in a log's file.
extension LogFile {
  /// What makes a row of the table an advert that may be one of now.
  private static let advertCondition = """
    typeof(author) = 'blob' AND length(author) = \(MemberID.byteCount)
    AND typeof(time) = 'integer' AND time BETWEEN ?1 AND ?2
    AND typeof(body) = 'blob' AND length(body) <= \(LogBounds.bytes)
    """

  /// Between which times an advert was announced that is one of now.
  private static func span(at now: LogTime) -> [Int64] {
    [(now - LogBounds.advertAge).nanoseconds, (now + LogStamps.aheadMax).nanoseconds]
  }

  /// Deletes adverts that are too old, and what is none.
  static func forgetAdverts(_ db: Database, at now: LogTime) throws {
    try db.execute(
      sql: "DELETE FROM advert WHERE NOT (\(advertCondition))", arguments: StatementArguments(span(at: now)))
  }

  /// Replaces a member's advert of a class; `nil` takes it away. The caller has the turn to write.
  func announce(_ advert: [UInt8]?, _ name: String, _ author: MemberID) throws(SharedLogError) {
    try write { db in
      let member = Data(author.bytes)
      let now = try self.now(db)
      try Self.forgetAdverts(db, at: now)
      try db.execute(sql: "DELETE FROM advert WHERE author = ? AND class = ?", arguments: [member, name])
      guard let advert else { return }
      if try Self.adverts(db, of: member) >= capacity.advertsOfAuthor {
        try forgetForeign(db, author)
        guard try Self.adverts(db, of: member) < capacity.advertsOfAuthor else {
          throw SharedLogError.full(.adverts)
        }
      }
      try db.execute(
        sql: "INSERT INTO advert (author, class, time, body) VALUES (?, ?, ?, ?)",
        arguments: [member, name, now.nanoseconds, Data(advert)])
    }
  }

  private static func adverts(_ db: Database, of member: Data) throws -> Int {
    try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM advert WHERE author = ?", arguments: [member]) ?? 0
  }

  /// Deletes what others have put among a member's adverts: it takes room from them.
  private func forgetForeign(_ db: Database, _ author: MemberID) throws {
    let member = Data(author.bytes)
    let rows = try Row.fetchCursor(
      db, sql: "SELECT class, body FROM advert WHERE author = ? LIMIT ?",
      arguments: [member, 4 * capacity.advertsOfAuthor])
    var foreign: [DatabaseValue] = []
    while let row = try rows.next() {
      let (name, body) = (String.fromDatabaseValue(row[0]), Data.fromDatabaseValue(row[1]))
      if let name, let body, EntrySigning.isAdvert([UInt8](body), listedAs: name, author: author) { continue }
      foreign.append(row[0])
    }
    for name in foreign {
      try db.execute(sql: "DELETE FROM advert WHERE author = ? AND class = ?", arguments: [member, name])
    }
  }

  /// The adverts of some classes, the oldest first; of too many in a class the newest.
  func adverts(_ classes: [String]) throws(SharedLogError) -> [LogAdvert] {
    try read { db in
      let span = Self.span(at: try self.now(db))
      var adverts: [(name: String, advert: LogAdvert)] = []
      for name in Set(classes) {
        let rows = try Row.fetchAll(
          db,
          sql: """
            SELECT author, time, body FROM advert WHERE class = ?3 AND \(Self.advertCondition)
            ORDER BY time DESC LIMIT \(LogBounds.advertsRead)
            """, arguments: StatementArguments(span) + [name])
        for row in rows {
          guard let author = Data.fromDatabaseValue(row[0]).flatMap({ MemberID($0) }),
            let time = Int64.fromDatabaseValue(row[1]), let body = Data.fromDatabaseValue(row[2])
          else { continue }
          adverts.append(
            (name, LogAdvert(author: author, time: LogTime(nanoseconds: time), body: [UInt8](body))))
        }
      }
      return adverts.sorted { left, right in
        (left.advert.time, left.advert.author, left.name) < (right.advert.time, right.advert.author, right.name)
      }.map(\.advert)
    }
  }

  /// Takes a nickname for a member, and says whether the member has it now. What has no member's key has no owner.
  func claim(_ nickname: Nickname, for member: MemberID) throws(SharedLogError) -> Bool {
    try write { db in
      let (key, member) = (nickname.logKey, Data(member.bytes))
      let owner = try Data.fetchOne(
        db,
        sql: """
          SELECT member FROM name
          WHERE nick = ? AND typeof(member) = 'blob' AND length(member) = \(MemberID.byteCount)
          """, arguments: [key])
      if let owner { return owner == member }
      try db.execute(sql: "INSERT OR REPLACE INTO name (nick, member) VALUES (?, ?)", arguments: [key, member])
      return true
    }
  }
}

extension Nickname {
  /// The same for all ways to write a name: letters of either case, and however they are encoded.
  var logKey: String { text.uppercased().lowercased().precomposedStringWithCanonicalMapping }
}
