import Foundation
import RunCore
import SystemC

/// Everything that a bus has on this machine: records, stores, spool, keys and sockets.
///
/// ```swift
/// let remains = BusRemains(of: BusLocation(bus: "default"))
/// print(remains.paths)
/// try remains.erase()
/// ```
package struct BusRemains: Sendable {
  /// The files and directories that exist, keys first.
  package let paths: [String]
  /// Directories with the state of buses of other machines that no keys name, if the keys of this bus cannot be read: one of
  /// them may be its own. They are left alone, because they may as well belong to another bus whose keys are away.
  package let ownerless: [String]
  /// The symbolic links among ``paths`` and below them, and where each of them leads. What is there is left alone:
  /// others may have files there.
  package let links: [(path: String, target: String)]
  private let locations: [BusLocation]

  /// Looks for what a bus has here: one with a name under this name and under the id of the bus that has the name on this
  /// machine.
  package init(of location: BusLocation, environment: [String: String]? = nil) {
    let environment = environment ?? ProcessInfo.processInfo.environment
    let keys = KeyFiles(environment: environment)
    let name = location.keyName
    let keyNames = (try? FileManager.default.contentsOfDirectory(atPath: keys.directory)) ?? []
    var (paired, isUnreadable): (BusLocation?, Bool) = (nil, false)
    if location.name != nil {
      do {
        paired = try BusLocation(pairedBus: name, keys: keys, environment: environment)
      } catch {
        isUnreadable = true
      }
    }
    locations = [location] + [paired].compactMap { $0 }
    ownerless = isUnreadable ? Self.ownerless(beside: location.stateDirectory, keyNames, keys, environment) : []
    // A file that was being written when its process died has a dot before its name.
    let keyPaths = keyNames.filter { file in
      [
        HubKeyring.name(of: name), DeviceKeyring.name(of: name), DeviceKeyring.joiningName(of: name),
        MemberKey.name(of: name),
      ].contains { file == $0 || file.hasPrefix(".\($0).") }
    }.sorted().map { keys.path(of: $0) }
    let places = locations.flatMap { [$0.stateDirectory] + $0.socketDirectories }
    links = places.flatMap(Self.links)
    let isLink = Set(links.map(\.path))
    paths = keyPaths + places.filter { FileManager.default.fileExists(atPath: $0) || isLink.contains($0) }
  }

  /// The symbolic links at a path and below it; none of them is followed.
  private static func links(at path: String) -> [(path: String, target: String)] {
    let files = FileManager.default
    if let target = try? files.destinationOfSymbolicLink(atPath: path) { return [(path, target)] }
    var info = stat()
    guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { return [] }
    let names = (try? files.contentsOfDirectory(atPath: path)) ?? []
    return names.sorted().flatMap { links(at: "\(path)/\($0)") }
  }

  /// The directories with the state of buses of other machines that no readable keys name.
  private static func ownerless(
    beside directory: String, _ keyNames: [String], _ keys: KeyFiles, _ environment: [String: String]
  ) -> [String] {
    let named = keyNames.filter { $0.hasSuffix(".device") }.compactMap { file -> String? in
      guard let name = BusName(String(file.dropLast(".device".count))) else { return nil }
      return (try? BusLocation(pairedBus: name, keys: keys, environment: environment))?.stateDirectory
    }
    let parent = (directory as NSString).deletingLastPathComponent
    let found = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    return found.filter { $0.hasPrefix("_bus-") }.sorted().map { "\(parent)/\($0)" }.filter { !named.contains($0) }
  }

  /// Removes all of it, keys first. No node may run: they are locked out meanwhile. What was removed before an error
  /// stays removed, and another call goes on.
  ///
  /// - Throws: ``RunBusError/Code/busHeld`` or ``RunBusError/Code/storeHeld`` with the holder while a node runs, and then
  ///   nothing was removed; ``RunBusError/Code/store`` when something cannot be removed.
  package func erase() throws(RunBusError) {
    var locks: [HeldStore] = []
    var hubLock: HubLock?
    for location in locations {
      if location.keyring == nil { hubLock = try HubLock.acquire(location, device: "phone") }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: location.stateDirectory)) ?? []
      for device in names.compactMap({ DeviceID($0) }) {
        let directory = location.stateDirectory(for: device)
        // Where no node can take the lock, none runs: a link leads nowhere, or something else has the name of the lock.
        guard FileManager.default.fileExists(atPath: directory), !FileLock.isObstructed(directory + "/lock") else {
          continue
        }
        locks.append(HeldStore(try StoreFile.lock(directory, device)))
      }
    }
    let kept = Set(links.map(\.path))
    for path in paths { try Self.remove(path, keeping: kept) }
    hubLock?.close()
    withExtendedLifetime(locks) {}
    // The lock has made the directory of the sockets if it was not there.
    for directory in locations.flatMap(\.socketDirectories) { try Self.remove(directory, keeping: kept) }
  }

  /// Removes what is at a path but links, and the directories in which they are: a later call finds them again.
  private static func remove(_ path: String, keeping links: Set<String>) throws(RunBusError) {
    guard !links.contains(path) else { return }
    guard links.contains(where: { $0.hasPrefix(path + "/") }) else { return try remove(path) }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      try remove("\(path)/\(name)", keeping: links)
    }
  }

  private static func remove(_ path: String) throws(RunBusError) {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch let error as CocoaError where error.code == .fileNoSuchFile {
      return
    } catch {
      let reason = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error).map { "\($0)" } ?? "\(error)"
      throw RunBusError(.store, "\(path) cannot be removed: \(reason)", cause: error)
    }
    PrivateDirectory.sync((path as NSString).deletingLastPathComponent)
  }
}

/// Holds the lock of a store, so that no node opens the store meanwhile.
private final class HeldStore {
  private let lock: FileLock

  init(_ lock: consuming FileLock) { self.lock = lock }
}
