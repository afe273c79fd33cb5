import Foundation
import GRDB
package import RunCore
import SystemC

/// The condition of a fleet's log on this machine. Looking at it changes nothing in it.
package enum LogHealth: Hashable, Sendable {
  /// The fleet has no log here.
  case absent
  /// Every page was read and is consistent. The size is that of the file and its write-ahead log; the nickname is the one
  /// that a member has in the fleet, as it was last written there.
  case sound(bytes: Int, rooms: Int, nickname: String?)
  /// No phone can use it as it is; the reason in one line, with what to do.
  case unusable(String)

  /// Looks at the log of a fleet.
  ///
  /// - Parameter member: Whose nickname is looked up.
  package init(of place: LogPlace, member: MemberID?) {
    do throws(SharedLogError) {
      try LogFile.refuseObstacle(place.file)
      guard FileManager.default.fileExists(atPath: place.file) else {
        self = .absent
        return
      }
      // Nobody opens the log meanwhile, so that the files which SQLite makes even to read are nobody else's.
      let turn = try LogTurn(path: place.directory + "/lock")
      guard turn.take(within: .seconds(5)) else { throw .busy }
      defer { turn.giveBack() }
      let made = ["-wal", "-shm"].map { place.file + $0 }.filter { !FileManager.default.fileExists(atPath: $0) }
      defer { for file in made { unlink(file) } }
      self = try LogFile.look(place.file) { db in
        guard try LogFile.lastPosition(db) < LogBounds.positionMax else {
          throw SharedLogError.unavailable(LogFile.positionsUsedUp(place.file))
        }
        let rooms = "SELECT DISTINCT room FROM entry WHERE \(LogRow.condition)"
        return LogHealth.sound(
          bytes: ["", "-wal"].reduce(0) { $0 + Self.bytes(of: place.file + $1) },
          rooms: try Row.fetchAll(db, sql: rooms).count { LogFile.room($0[0]) != nil },
          nickname: try member.flatMap { try Self.nickname(of: $0, db) }
            .flatMap { $0.unicodeScalars.contains(where: \.isControl) ? nil : $0 })
      }
    } catch {
      self = .unusable(error.description)
    }
  }

  /// The name that a member has, as its newest card has it; in lowercase letters when it has shown none with that name.
  private static func nickname(of member: MemberID, _ db: Database) throws -> String? {
    let key = Data(member.bytes)
    guard let name = try String.fetchOne(db, sql: "SELECT nick FROM name WHERE member = ?", arguments: [key]) else {
      return nil
    }
    let bodies = try Data.fetchCursor(
      db, sql: "SELECT body FROM entry WHERE author = ? ORDER BY pos DESC", arguments: [key])
    while let body = try bodies.next() {
      guard let card = EntrySigning.card(in: Array(body)), card.nickname.isWritten(like: name) else { continue }
      return card.nickname.text
    }
    return name
  }

  private static func bytes(of path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }
}

/// Everything that a fleet has on this machine: its log and its live messages. The keys of its runners are those of their
/// buses.
package struct FleetRemains: Sendable {
  /// The directories that exist.
  package let paths: [String]
  private let place: LogPlace

  /// Looks for what a fleet has here.
  package init(of place: LogPlace) {
    self.place = place
    var info = stat()
    paths = [place.directory, place.liveDirectory].filter { lstat($0, &info) == 0 }
  }

  /// Removes all of it.
  ///
  /// - Throws: ``SharedLogError/busy`` while a phone takes part or a command looks, and then nothing was removed;
  ///   ``SharedLogError/unavailable(_:)`` when something cannot be removed.
  package func erase() throws(SharedLogError) {
    var info = stat()
    for path in paths where lstat(path, &info) != 0 || info.st_mode & S_IFMT != S_IFDIR {
      throw .unavailable("\(path) is a link or a file, which is not followed: remove it by hand")
    }
    // Whoever wants to open the log waits for the turn, and finds that its directory is gone.
    var turn: LogTurn?
    if paths.contains(place.directory) {
      let held = try LogTurn(path: place.directory + "/lock")
      guard held.take(within: .seconds(5)) else { throw .busy }
      turn = held
      guard !FileManager.default.fileExists(atPath: place.file) || LogFile.isUnused(place.file) else { throw .busy }
    }
    defer { turn?.giveBack() }
    for path in paths {
      do {
        try FileManager.default.removeItem(atPath: path)
      } catch let error as CocoaError where error.code == .fileNoSuchFile {
        continue
      } catch {
        throw .unavailable("\(path) cannot be removed: \(error.localizedDescription)")
      }
      PrivateDirectory.sync((path as NSString).deletingLastPathComponent)
    }
  }
}
