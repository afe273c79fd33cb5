import Foundation
public import RunCore
import Synchronization

/// What makes a hub the only one of its bus: a lock in the bus's runtime directory. It is taken before anything is
/// bound (libzmq lets a second bind steal a socket's path) and let go after everything is closed.
public final class HubLock: Sendable {
  private let lock: Mutex<FileLock?>
  private let socketFiles: [String]
  private let identity: FileIdentity?

  /// Who holds a bus, as far as it is known.
  public struct Holder: Hashable, Sendable, CustomStringConvertible {
    /// The process; `nil` in the moment in which it has the lock and has not yet said who it is.
    public let processID: Int32?
    /// The hub's device.
    public let device: DeviceID?

    /// `process 123 (phone)`.
    public var description: String { FileLock.Holder(processID: processID, name: device?.rawValue).description }
  }

  /// Takes a bus for a hub and removes what a dead hub left in its place. The runtime directory is made if need be.
  ///
  /// A location whose port the system chooses needs no lock, and this one says nothing; take another for
  /// `BusLocation(address:)` of the bound endpoint, so that ``holder(of:)`` finds the hub.
  /// Throws ``RunBusError/Code/busHeld`` naming the holder, ``RunBusError/Code/transport`` otherwise.
  public static func acquire(_ location: BusLocation, device: DeviceID) throws(RunBusError) -> HubLock {
    guard let path = location.lockFile else { return HubLock(nil, nil, []) }
    try location.prepareRuntimeDirectory()
    let lock: FileLock
    do {
      lock = try FileLock(path: path, name: device.rawValue)
    } catch {
      switch error {
      case .held(let holder):
        throw RunBusError(
          .busHeld,
          "bus \(location.displayName) is held by \(holder.description): stop that hub or choose another bus")
      case .obstructed: throw RunBusError(.transport, obstruction(path))
      case .system(let code):
        throw RunBusError(.transport, "\(path) cannot be locked: \(PrivateDirectory.reason(code))")
      }
    }
    try removeSockets(location.socketFiles)
    let identity = lock.identity
    return HubLock(lock, identity, location.socketFiles)
  }

  /// What keeps every hub from a bus, and every other node from finding one there: a sentence, or `nil` when nothing does.
  public static func obstacle(at location: BusLocation) -> String? {
    guard let path = location.lockFile, FileLock.isObstructed(path) else { return nil }
    return obstruction(path)
  }

  private static func obstruction(_ path: String) -> String { "\(path) is not a file: move it away" }

  /// The lock's file is at its path; otherwise another hub can take the bus.
  var isInPlace: Bool { identity?.isInPlace ?? true }
  /// Where the lock's file should be; empty without one.
  var path: String { identity?.path ?? "" }

  /// Who holds a bus now; `nil` when nobody does. Asks the kernel, not a file, and never disturbs a hub.
  public static func holder(of location: BusLocation) -> Holder? {
    guard let path = location.lockFile, location.hasSafeRuntimeDirectory(), let holder = FileLock.holder(path: path)
    else { return nil }
    return Holder(processID: holder.processID, device: holder.name.flatMap { DeviceID($0) })
  }

  /// Lets the bus go; idempotent. Close the sockets first.
  public func close() {
    lock.withLock { lock in
      guard lock != nil else { return }
      // What cannot be removed is removed by the next hub. Without its file in place the sockets may be another hub's.
      if isInPlace { try? Self.removeSockets(socketFiles) }
      lock = nil
    }
  }

  private init(_ lock: consuming FileLock?, _ identity: FileIdentity?, _ socketFiles: [String]) {
    self.lock = Mutex(lock)
    self.identity = identity
    self.socketFiles = socketFiles
  }

  deinit { close() }

  /// Only called while the lock is held.
  private static func removeSockets(_ paths: [String]) throws(RunBusError) {
    for path in paths {
      var info = stat()
      guard lstat(path, &info) == 0 else { continue }
      guard info.st_mode & S_IFMT == S_IFSOCK else {
        throw RunBusError(.transport, "\(path) is not a socket: move it away")
      }
      guard unlink(path) == 0 || errno == ENOENT else {
        throw RunBusError(.transport, "\(path) cannot be removed: \(PrivateDirectory.reason(errno))")
      }
    }
  }
}
