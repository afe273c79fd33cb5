import Foundation
import GRDB
package import RunCore
import SystemC

/// The condition of a device's store. Looking at it changes nothing in it.
package enum StoreHealth: Hashable, Sendable {
  /// The device has no store here.
  case absent
  /// Every page was read and is consistent. The size is that of the file and its logs; of a hub's store the count is that
  /// of the paired devices whose keys are valid.
  case healthy(bytes: Int, pairedDevices: Int)
  /// A process has it open.
  case held(String)
  /// No node can use it as it is; the reason in one line, with what to do.
  case unusable(String)

  /// Looks at the store in a directory, and asks it what a node asks that opens it.
  ///
  /// - Parameter role: The role of the node that is started with this device name; `nil` for any.
  package init(of device: DeviceID, in directory: String, for role: StoreRole? = nil) {
    let path = directory + "/" + StoreFile.name
    let isLost = StoreFile.lostFile(directory) != nil
    guard isLost || FileManager.default.fileExists(atPath: path) else {
      self = .absent
      return
    }
    // To open a pipe would wait for its writer.
    guard !FileLock.isObstructed(path) else {
      self = .unusable("\(path) is not a file: move it away")
      return
    }
    do {
      let lock = try StoreFile.lock(directory, device)
      // Held until the store has been read.
      defer { withExtendedLifetime(lock) {} }
      try StoreFile.refuseOtherVersions(directory)
      if let damage = StoreFile.lostFile(directory) {
        self = .unusable(
          "the store in \(directory) is damaged (\(damage.what)): the next start sets it aside and begins anew")
        return
      }
      if let repair = HeaderRepair(of: path) {
        self = .unusable("\(repair.damage(in: directory)): the next start rebuilds it, and nothing is lost")
        return
      }
      try LaterKinds.refuse(in: directory)
      switch try Self.contents(of: path, in: directory) {
      case .damagedMark:
        self = .unusable(
          "the version mark of the store in \(directory) is damaged: the next start rebuilds it, and nothing is lost")
      case .damaged(let fault):
        self = .unusable(
          "the store in \(directory) is damaged (\(fault)): the next start sets it aside and keeps what can be read")
      case .sound(let stored, let pairedDevices):
        if let role, let stored, stored != role { throw stored.refusal(of: role, directory) }
        let files = [path, path + "-wal"] + StoreLog.paths(in: directory)
        self = .healthy(bytes: files.reduce(0) { $0 + Self.bytes(of: $1) }, pairedDevices: pairedDevices)
      }
    } catch let error as RunBusError {
      self = error.code == .storeHeld ? .held(error.message) : .unusable(error.message)
    } catch {
      self = .unusable("the store in \(directory) cannot be read: \(error)")
    }
  }

  private enum Contents {
    case damaged(String)
    case damagedMark
    case sound(StoreRole?, pairedDevices: Int)
  }

  /// Checks all pages, and reads what the health tells.
  private static func contents(of path: String, in directory: String) throws -> Contents {
    do {
      return try StoreFile.look(at: path) { db in
        let check = try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
        guard check == "ok" else {
          return .damaged(check?.split(whereSeparator: \.isNewline).last.map(String.init) ?? "no answer")
        }
        let mark = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        if mark != StoreMark.own.number {
          guard StoreMark.own.isAlmost(mark), try StoreSchema.isMade(db) else {
            return .damaged("its version mark is damaged")
          }
          try LaterKinds.refuse(db, directory)
          return .damagedMark
        }
        do { _ = try LogFindings(db, in: directory) } catch let damage as StoreFile.Damage {
          return .damaged(damage.what)
        }
        let paired = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM paired WHERE revoked = 0")
        return .sound(try StoreRole(storedIn: db), pairedDevices: paired ?? 0)
      }
    } catch let error as DatabaseError {
      let fault = StoreFault(error)
      guard fault.isDamage else { throw RunBusError(.store, "\(path) cannot be read: \(fault.reason)") }
      return .damaged(fault.reason)
    }
  }

  private static func bytes(of path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }
}
