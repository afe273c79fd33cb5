import Foundation
import GRDB
package import RunCore

/// The condition of a device's store. Looking at it changes nothing in it.
package enum StoreHealth: Hashable, Sendable {
  /// The device has no store here.
  case absent
  /// Every page was read and is consistent. The size is that of the file and its log.
  case healthy(bytes: Int)
  /// A process has it open.
  case held(String)
  /// No node can use it as it is; the reason in one line, with what to do.
  case unusable(String)

  /// Looks at the store in a directory.
  package init(of device: DeviceID, in directory: String) {
    let path = directory + "/" + StoreFile.name
    guard FileManager.default.fileExists(atPath: path) else {
      self = .absent
      return
    }
    do {
      let lock = try StoreFile.lock(directory, device)
      // Held until the store has been read.
      defer { withExtendedLifetime(lock) {} }
      try StoreFile.refuseOtherVersions(directory)
      guard let fault = try Self.fault(in: path) else {
        self = .healthy(bytes: Self.bytes(of: path) + Self.bytes(of: path + "-wal"))
        return
      }
      self = .unusable(
        "the store in \(directory) is damaged (\(fault)): the next start sets it aside and keeps what can be read")
    } catch let error as RunBusError {
      self = error.code == .storeHeld ? .held(error.message) : .unusable(error.message)
    } catch {
      self = .unusable("the store in \(directory) cannot be read: \(error)")
    }
  }

  /// What a check of all pages finds; `nil` for a sound file.
  private static func fault(in path: String) throws -> String? {
    var configuration = Configuration()
    configuration.readonly = true
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      defer { try? queue.close() }
      let check = try queue.read { db in try String.fetchOne(db, sql: "PRAGMA quick_check(1)") }
      return check == "ok" ? nil : check?.split(whereSeparator: \.isNewline).last.map(String.init) ?? "no answer"
    } catch let error as DatabaseError {
      let fault = StoreFault(error)
      guard fault.isDamage else { throw RunBusError(.store, "\(path) cannot be read: \(fault.reason)") }
      return fault.reason
    }
  }

  private static func bytes(of path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }
}
